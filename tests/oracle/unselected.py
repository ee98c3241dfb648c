#!/usr/bin/env python3
"""Lists the kernel files that a job's globs leave out, in local copies of its repositories.

usage: unselected.py MIRRORS JOB.yaml [--list] [OWNER/NAME...]
       unselected.py --self-test

MIRRORS holds bare repositories as OWNER+NAME/repo. A kernel file is one whose text has a marker of a kernel language,
by words and regular expressions alone: kernelmill's own reader is not asked. Prints for every source how many files its
globs select, how many of these have kernels, how many kernel files an `exclude` names, and how many no glob names; with
--list also their paths. Exits 1 if a kernel file is neither selected nor excluded, if a selected one has a language
that the source's `languages` lack, or if a glob matches no file: a job must name what it leaves out."""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

import yaml

MAX_BYTES = 4 << 20
SHOWN = 20
DEFAULT_INCLUDE = ["**/*.{py,ipynb}"]
DEFAULT_LANGUAGES = ["triton", "gluon", "pallas", "cuda"]
PYTHON = {"py", "ipynb", "pyi", "jinja"}
C_LIKE = {"cu", "cuh", "hip", "metal", "h", "hh", "hpp", "hxx", "inl", "inc", "cc", "cpp", "cxx", "c"}

CUDA_WORDS = (b"__global__", b"__device__")
METAL = re.compile(rb"^[ \t]*(?:kernel[ \t]+void\b|\[\[\s*kernel\b)", re.M)
# A Python file is of a language if it has one of these words and a kernel's form.
PYTHON_MARKERS = {
    "triton": ([b"triton"], rb"@(?:\w+\.)*(?:triton_)?jit\b|\btriton\.jit\s*\("),
    "gluon": ([b"gluon"], rb"@gluon\.(?:\w+\.)?jit|@gluon\.constexpr_function"),
    "pallas": ([b"pallas"], rb"\bpallas_call\s*\(|\bplgpu\.kernel\s*\(|\bpl\.kernel\s*\(|\bcore_map\s*\(|\bemit_pipeline"),
    "cuda": (CUDA_WORDS, rb"__(?:global|device)__\s"),
    "cuda_lang": ([b"cuda.lang"], rb"@(?:cl|cuda\.lang)\.(?:kernel|function)\b"),
    "cupy": ([b"cupyx"], rb"@(?:\w+\.)*rawkernel\b"),
    "cute": ([b"cutlass"], rb"@(?:cute|cutlass\.cute)\.(?:kernel|jit)\b"),
    "tilelang": ([b"tilelang"], rb"@tilelang\.(?:lazy_)?jit|@\w+\.(?:prim_func|macro)\b"),
    "cutile": ([b"cuda.tile"], rb"@(?:ct|cuda\.tile)\.(?:kernel|function)\b"),
    "helion": ([b"helion"], rb"@helion\.(?:\w+\.)*(?:(?:aot_)?kernel|jit)\b"),
    "flydsl": ([b"flydsl"], rb"@flyc\.(?:kernel|jit)\b|@flydsl\."),
    "nki": ([b"nki"], rb"@(?:\w+\.)*(?:nki\.\w*jit|nki_jit|nki\.baremetal|nki\.benchmark|nki\.trace)\b"),
    "numba": ([b"numba"], rb"\bcuda\.jit\b"),
    "warp": ([b"warp"], rb"@(?:wp|warp)\.(?:kernel|func|func_\w+|struct)\b"),
    "taichi": ([b"taichi"], rb"@(?:ti|taichi)\.(?:kernel|func|pyfunc|real_func)\b"),
    "tvm": ([b"tvm.script", b"tvm import script"], rb"@\w+\.(?:prim_func|macro)\b"),
}
PYTHON_MARKERS = {language: (words, re.compile(form)) for language, (words, form) in PYTHON_MARKERS.items()}


def extension_of(path):
    return path.rsplit(".", 1)[-1].lower()


def languages_of(path, text):
    """Returns the languages whose markers a file has."""
    if extension_of(path) in PYTHON:
        return {language for language, (words, form) in PYTHON_MARKERS.items()
                if any(word in text for word in words) and form.search(text)}
    if any(word in text for word in CUDA_WORDS):
        return {"cuda"}
    return {"metal"} if extension_of(path) in {"metal", "h", "hpp"} and METAL.search(text) else set()


def git(repository, *argv, **kwargs):
    command = ["git", "-c", "safe.directory=*", "--git-dir", str(repository), *argv]
    return subprocess.run(command, capture_output=True, check=True, **kwargs).stdout


def tree_of(repository):
    """{path: blob} of the files at HEAD; {path: ""} of those that the copy lacks or that are too large to be code."""
    tree = {}
    for line in git(repository, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "surrogateescape").split("\0"):
        if line:
            facts, path = line.split("\t", 1)
            mode, kind, blob, size = facts.split()
            if kind == "blob" and mode != "120000":
                tree[path] = blob if size.isdigit() and int(size) <= MAX_BYTES else ""
    return tree


def blobs_of(repository, wanted):
    """(path, text) of {path: blob}. A copy may lack blobs."""
    answer = git(repository, "cat-file", "--batch", input="".join(f"{blob}\n" for blob in wanted.values()).encode())
    at = 0
    for path in wanted:
        end = answer.index(b"\n", at)
        head = answer[at:end].split()
        at = end + 1
        if len(head) == 3:
            yield path, answer[at:at + int(head[2])]
            at += int(head[2]) + 1


def kernel_files(repository, tree):
    """{path: languages} of the files that have a marker."""
    paths = [path for path, blob in tree.items() if blob and extension_of(path) in PYTHON | C_LIKE]
    found = {}
    for first in range(0, len(paths), 2000):    # bounds the memory
        for path, text in blobs_of(repository, {p: tree[p] for p in paths[first:first + 2000]}):
            if languages := languages_of(path, text):
                found[path] = languages
    return found


def expand_braces(glob):
    """The globs without braces that a glob stands for."""
    depth, members = 0, []
    for at, char in enumerate(glob):
        if char == "{":
            depth += 1
            if depth == 1:
                opened = start = at
        elif depth == 1 and char in ",}":
            members.append(glob[start + 1:at])
            start = at
        if char == "}":
            depth -= 1
            if not depth:
                return [g for member in members for g in expand_braces(glob[:opened] + member + glob[at + 1:])]
    return [glob]


def component(text):
    """A glob's part between two slashes, as a regular expression."""
    pieces = {"*": "[^/]*", "?": "[^/]"}
    return "".join(pieces.get(piece) or (piece.replace("[!", "[^") if len(piece) > 1 else re.escape(piece))
                   for piece in re.findall(r"\[!?\]?[^\]]*\]|.", text))


def compile_glob(glob):
    """A glob as kernelmill reads it: * and ? within a folder, ** as a whole component for any folders."""
    def pattern(text):
        *folders, last = text.split("/")
        made = "".join("(?:[^/]+/)*" if folder == "**" else component(folder) + "/" for folder in folders)
        return made + (".*" if last == "**" else component(last))

    return re.compile("|".join(f"(?:{pattern(plain)})" for plain in expand_braces(glob)))


def name_of(source):
    return source["git"].removesuffix(".git").split("/", 3)[3]


def mirror_of(mirrors, name):
    """The bare repository of the local copy, or None."""
    folder = mirrors / name.replace("/", "+", 1) / "repo"
    return next((bare for bare in (folder / ".git", folder) if (bare / "objects").is_dir()), None)


class Selection:
    """How a source's globs divide its kernel files."""

    def __init__(self, source, repository):
        include = {glob: compile_glob(glob) for glob in source.get("include", DEFAULT_INCLUDE)}
        exclude = {glob: compile_glob(glob) for glob in source.get("exclude", [])}
        tree = tree_of(repository)
        self.idle = [glob for glob, form in {**include, **exclude}.items() if not any(map(form.fullmatch, tree))]
        self.languages = kernel_files(repository, tree)
        included = {path for path in tree if any(form.fullmatch(path) for form in include.values())}
        excluded = {path for path in tree if any(form.fullmatch(path) for form in exclude.values())}
        wanted = set(source.get("languages", DEFAULT_LANGUAGES))
        self.files = len(included - excluded)
        self.selected = [path for path in self.languages if path in included - excluded]
        self.excluded = [path for path in self.languages if path in excluded]
        self.unnamed = [path for path in self.languages if path not in included | excluded]
        self.unread = [path for path in self.selected if self.languages[path] - wanted]

    def by_language(self):
        return collections.Counter(language for path in self.selected for language in self.languages[path])


def describe(counter):
    return " ".join(f"{language}:{count}" for language, count in sorted(counter.items())) or "none"


def print_selection(name, found, with_paths):
    print(f"{name}: {found.files} files, {len(found.selected)} with kernels ({describe(found.by_language())}); "
          f"excluded {len(found.excluded)}, unnamed {len(found.unnamed)}, unread {len(found.unread)}")
    for what in ("excluded", "unnamed", "unread") if with_paths else ("unnamed", "unread"):
        for path in getattr(found, what)[:None if with_paths else SHOWN]:
            print(f"  {what} {path} ({' '.join(sorted(found.languages[path]))})")
    for glob in found.idle:
        print(f"  matches nothing: {glob}")
    sys.stdout.flush()


SELF_TEST_GLOBS = [
    ("**/*.py", ["a.py", "a/b/c.py"], ["a.pyi", "py"]),
    ("a/*.{cu,cuh}", ["a/b.cu", "a/b.cuh"], ["a/b/c.cu", "a/b.c", "a/.."]),
    ("{,x/}tests/**", ["tests/a", "x/tests/a/b"], ["y/tests/a", "tests"]),
    ("{a,b{c,d}}/?.h", ["a/x.h", "bd/x.h"], ["b/x.h", "a/xy.h", "a//.h"]),
    ("t/[!k]*/**", ["t/a/b"], ["t/k/b", "t/a"]),
]
SELF_TEST_FILES = [
    ("a.py", b"import triton\n@triton.jit\ndef f(): pass", {"triton"}),
    ("a.py", b"# triton would do this\nimport jax\n@jax.vmap\ndef f(): pass", set()),
    ("a.py", b"from numba import cuda\n@cuda.jit\ndef f(): pass", {"numba"}),
    ("a.ipynb", b'"import tilelang\\n", "@tilelang.jit\\n"', {"tilelang"}),
    ("a.py", b"S = '''__global__ void f() {}'''", {"cuda"}),
    ("a.h", b"__device__ int f();", {"cuda"}),
    ("a.cc", b"int main() {}", set()),
    ("a.metal", b"[[kernel]] void f(device int* x) {}", {"metal"}),
    ("a.h", b"// kernel void said();\nkernel void f(device int* x) {}", {"metal"}),
]


def self_test():
    wrong = [f"{glob} and {path}" for glob, yes, no in SELF_TEST_GLOBS for path in yes + no
             if bool(compile_glob(glob).fullmatch(path)) != (path in yes)]
    wrong += [f"{path}: {text!r}" for path, text, right in SELF_TEST_FILES if languages_of(path, text) != right]
    print("\n".join(wrong), file=sys.stderr)
    return bool(wrong)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("mirrors", type=pathlib.Path)
    parser.add_argument("job", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    failed, absent, totals = False, [], collections.Counter()
    for source in yaml.safe_load(asked.job.read_text(encoding="utf-8"))["sources"]:
        name = name_of(source)
        if asked.names and name not in asked.names:
            continue
        repository = mirror_of(asked.mirrors, name)
        if not repository:
            absent.append(name)
            continue
        found = Selection(source, repository)
        print_selection(name, found, asked.list)
        totals += found.by_language()
        failed |= bool(found.unnamed or found.unread or found.idle)
    print(f"selected: {describe(totals)}\nno local copy: {' '.join(absent) or 'none'}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
