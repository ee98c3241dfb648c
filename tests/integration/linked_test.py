"""A whole job over a repository whose kernels need files that hold none: they are fetched, linked and counted."""

import json
import pathlib
import tempfile
import unittest

import harness

FILES = {
    "LICENSE": "",  # filled in below, from tests/data
    "pyproject.toml": '[project]\nname = "ops"\ndependencies = [\n  "torch",\n  "triton>=3.0.0",\n]\n',
    "ops/__init__.py": "from .launch import *\n",
    "ops/kernels.py": "import triton\nimport triton.language as tl\n\nfrom .config import BLOCK\nfrom ops.shapes import "
                      "round_up\n\n\n@triton.jit\ndef copy_kernel(x, y, n, SIZE: tl.constexpr = round_up(BLOCK)):\n"
                      "    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)\n"
                      "    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)\n",
    "ops/config.py": "from .limits import *\n\nBLOCK = LARGEST // 2\n",
    "ops/limits.py": "__all__ = ['LARGEST']\nLARGEST = 2048\n_hidden = 1\n",
    "ops/shapes.py": "def round_up(n):\n    return 1 << (n - 1).bit_length()\n",
    "ops/launch.py": "import triton\nfrom .kernels import copy_kernel\n\n\ndef copy(x, y):\n"
                     "    copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel())\n    return y\n",
    "ops/unrelated.py": "import os\n\nfrom . import config\n",
    "setup_docs.py": "print('no kernels')\n",
}


class Linked(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        harness.write_files(cls.folder / "repo", FILES)
        license_text = next(harness.DEMO_SOURCES.rglob("LICENSE")).read_text()
        (cls.folder / "repo/LICENSE").write_text(license_text)
        harness.make_repository(cls.folder / "repo", cls.folder / "repo.git")
        with harness.git_server(cls.folder) as git:
            job = cls.folder / "job.yaml"
            job.write_text(f"name: linked\nsources:\n  - git: {git.url}/repo.git\n    name: ops\n")
            harness.crawl(job, cls.folder / "out", cls.folder / "data")
        with open(cls.folder / "out/kernels.jsonl", encoding="utf-8") as lines:
            cls.kernel, = [json.loads(line) for line in lines]
        cls.report = json.loads((cls.folder / "out/report.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_the_module_has_what_stands_in_files_without_kernels(self):
        self.assertTrue(self.kernel["self_contained"], self.kernel["module"])
        self.assertEqual([piece["path"] for piece in self.kernel["pieces"]],
                         ["ops/kernels.py"] * 2 + ["ops/limits.py", "ops/config.py", "ops/shapes.py", "ops/kernels.py"])
        names = {}
        lines = [line for line in self.kernel["module"].splitlines() if not line.startswith(("import", "from"))]
        exec("\n".join(lines[:lines.index("@triton.jit")]), names)  # pylint: disable=exec-used  # our own text
        self.assertEqual(names["round_up"](names["BLOCK"]), 1024)

    def test_every_file_is_accounted_for(self):
        files = self.report["files"]
        self.assertEqual(files["seen"], 8)
        self.assertEqual(files["extracted"], 5)
        self.assertEqual(files["support"], 3)  # config, limits, shapes
        self.assertEqual(files["skipped_by_reason"], {"no_kernel_marker": 3})
        self.assertEqual(files["seen"], files["extracted"] + files["skipped"] + files["failed"])
        self.assertEqual(self.report["kernels"]["found"], 1)

    def test_the_launcher_stands_in_another_file(self):
        launcher = self.kernel["launcher"]
        self.assertEqual((launcher["path"], launcher["qualname"], launcher["count"]), ("ops/launch.py", "copy", 1))
        self.assertEqual(launcher["text"], "".join(FILES["ops/launch.py"].splitlines(keepends=True)[4:]))

    def test_the_version_of_triton_is_the_repositorys_word(self):
        self.assertEqual(self.kernel["requires_triton"], ">=3.0.0")
        self.assertEqual(self.kernel["requires_triton_path"], "pyproject.toml")


if __name__ == "__main__":
    unittest.main()
