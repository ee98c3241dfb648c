"""Runs a whole job over CUDA files and compares its kernels with those of a second reading, which blanks comments,
strings and preprocessor lines, then reads from each qualifier on to the first `{` or `;` outside parentheses."""

import hashlib
import json
import pathlib
import re
import shutil
import tempfile
import textwrap
import unittest

import harness

DATA = harness.ROOT / "tests/data/cuda"
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)

SCALE_HEADER = """\
#pragma once
#define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)
namespace lib {
struct Params { float* x; int n; };
__device__ float scaled(const Params& p, int i) { return p.x[i] * 2.f; }
__global__ void scale_rows(Params p);
}
"""
SCALE = """\
#include <torch/extension.h>
#include "lib/scale.h"
namespace lib {
constexpr int kUnused = 1;
__global__ void scale_rows(Params p) {
  int i = threadIdx.x;
  if (i < p.n) p.x[i] = scaled(p, i);
}
}
"""


def end_of(text, at, ends):
    """Returns the offset of the first of `ends`, from `at` on, that is outside every bracket opened from `at` on."""
    depth = 0
    while depth > 0 or text[at] not in ends:
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
    return at


def truth_of(path):
    """{(first line, last line)} of the functions that are __global__ or __device__."""
    text = NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), path.read_text())
    found = set()
    for qualifier in re.finditer(r"\b__(global|device)__\b", text):
        body = end_of(text, qualifier.end(), "{;=")
        if ":" in text[qualifier.end():body]:  # a constructor's initializers: the last brace is the body
            while text[end_of(text, body + 1, "}") + 1:].lstrip()[0] == "{":
                body = text.index("{", end_of(text, body + 1, "}"))
        if text[body] != "{":
            continue
        begin = max(text.rfind(c, 0, qualifier.start()) for c in ";{}") + 1
        begin += len(text[begin:]) - len(text[begin:].lstrip())
        found.add(tuple(text.count("\n", 0, at) + 1 for at in (begin, end_of(text, body + 1, "}"))))
    return found


class Cuda(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        shutil.copytree(DATA, cls.folder / "repo")
        (cls.folder / "repo/ops.py").write_text(
            "import triton\n\n\n@triton.jit\ndef k(x):\n    return x\n\n\nCUDA = '__global__ void text() {}'\n")
        (cls.folder / "repo/csrc/scale.cu").write_text(SCALE)
        (cls.folder / "repo/include/lib").mkdir(parents=True)
        (cls.folder / "repo/include/lib/scale.h").write_text(SCALE_HEADER)
        (cls.folder / "repo/csrc/host.cu").write_text('#include "lib/scale.h"\nvoid host() { LAUNCH(scale_rows, 3); }\n')
        cls.out = cls.crawl("cuda", 'include: ["**/*.py", "**/*.{cu,cuh}"]')
        with open(cls.out / "kernels.jsonl", encoding="utf-8") as lines:
            cls.kernels = [json.loads(line) for line in lines]

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def crawl(cls, name, include):
        job = cls.folder / f"{name}.yaml"
        job.write_text(textwrap.dedent(f"""\
            name: {name}
            sources:
              - path: {cls.folder}/repo
                name: ops
                {include}
            """))
        harness.crawl(job, cls.folder / name, cls.folder / f"{name}-data")
        return cls.folder / name

    def cuda(self, name):
        return next(k for k in self.kernels if k["name"] == name)

    def test_finds_what_a_second_reading_finds(self):
        for path in ("csrc/softmax.cu", "csrc/reduce.cuh"):
            rows = [r for r in harness.ledger(self.out) if r["path"] == path]
            self.assertEqual({(r["first_line"], r["last_line"]) for r in rows}, truth_of(DATA / path))
            self.assertEqual({r["dsl"] for r in rows}, {"cuda"})

    def test_a_kernels_source_is_its_span(self):
        for kernel in (k for k in self.kernels if k["dsl"] == "cuda"):
            lines = (self.folder / "repo" / kernel["path"]).read_bytes().splitlines(keepends=True)
            span = b"".join(lines[kernel["first_line"] - 1:kernel["last_line"]])
            self.assertEqual(kernel["source"].encode(), span)
            self.assertEqual(kernel["sha256"], hashlib.sha256(span).hexdigest())
            self.assertIn(kernel["source"].strip(), kernel["module"])

    def test_a_kernel_has_its_template_bounds_and_launcher(self):
        kernel = self.cuda("softmax_rows")
        self.assertEqual((kernel["qualname"], kernel["role"]), ("ops::softmax_rows", "kernel"))
        self.assertEqual(kernel["tags"], ["softmax"])
        cuda = kernel["cuda"]
        self.assertEqual((cuda["template_parameters"], cuda["launch_bounds"]), (["typename T, int kBlock"], "kBlock, 2"))
        launch, = cuda["launches"]
        self.assertEqual(launch["host_function"], "ops::softmax")
        lines = (DATA / "csrc/softmax.cu").read_text().splitlines()
        self.assertIn(lines[launch["first_line"] - 1].strip(), launch["text"])
        self.assertEqual(lines[launch["host_last_line"] - 1], "}")
        self.assertEqual(self.cuda("warp_reduce")["role"], "device")
        launcher = kernel["launcher"]
        self.assertEqual((launcher["qualname"], launcher["first_line"], launcher["last_line"]),
                         ("ops::softmax", launch["host_first_line"], launch["host_last_line"]))
        self.assertEqual(launcher["text"].splitlines(),
                         lines[launcher["first_line"] - 1:launcher["last_line"]])

    def test_a_module_takes_what_a_header_that_no_glob_names_has(self):
        kernel = self.cuda("scale_rows")
        self.assertEqual(kernel["module"], textwrap.dedent("""\
            namespace lib {
            struct Params { float* x; int n; };

            __device__ float scaled(const Params& p, int i) { return p.x[i] * 2.f; }

            __global__ void scale_rows(Params p) {
              int i = threadIdx.x;
              if (i < p.n) p.x[i] = scaled(p, i);
            }

            }  // namespace lib
            """))
        self.assertTrue(kernel["self_contained"])
        self.assertEqual([(p["path"], p["first_line"], p["last_line"], p["kind"]) for p in kernel["pieces"]],
                         [("include/lib/scale.h", 4, 4, "class"), ("include/lib/scale.h", 5, 5, "function"),
                          ("csrc/scale.cu", 5, 8, "function")])
        self.assertEqual([r["path"] for r in harness.ledger(self.out) if r["path"].endswith(".h")], [])
        self.assertEqual((kernel["launcher"]["path"], kernel["launcher"]["qualname"]), ("csrc/host.cu", "host"))
        parameter, = kernel["parameters"]
        self.assertEqual((parameter["name"], parameter["annotation"], parameter["role"]), ("p", "Params", "other"))

    def test_a_licence_in_a_comment_is_read(self):
        self.assertEqual(self.cuda("warp_reduce")["license"]["expression"], "BSD-3-Clause")
        self.assertEqual(self.cuda("softmax_rows")["license"]["expression"], "MIT")

    def test_python_files_are_read_as_python(self):
        rows = [r for r in harness.ledger(self.out) if r["path"] == "ops.py"]
        self.assertEqual([(r["dsl"], r["first_line"]) for r in rows], [("triton", 4)])
        self.assertFalse([k for k in self.kernels if k["dsl"] == "triton" and k["cuda"] is not None])

    def test_a_job_that_does_not_ask_for_cuda_gets_none(self):
        self.assertEqual({r["dsl"] for r in harness.ledger(self.crawl("plain", "tier: 1"))}, {"triton"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
