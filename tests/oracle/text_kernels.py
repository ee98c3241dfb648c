#!/usr/bin/env python3
"""Counts the kernels that lie in notebooks and documents, by CPython's own json, ast and html: ground truth for tests.

usage: text_kernels.py MIRRORS [LEDGER.jsonl...] [--missing]
       text_kernels.py --self-test
MIRRORS holds a bare repository OWNER+NAME/repo each. Prints how many kernels there are, by language and by container, and how many
of them the ledgers list, by repository, path and language; with --missing also the files where they lack some. Device functions of
CUDA do not count.

Triton and Gluon: functions with a decorator that imports resolve to jit, in all Python blocks of the document before and with
theirs. Pallas: functions that a pallas_call is given, by name or by functools.partial. CUDA: names after __global__ that open a body.
Shares no code with kernelmill's extractor, on purpose: a fence is found by a regular expression, a cell by json.
"""
import ast
import collections
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import warnings

import jit_functions

CONTAINERS = {".ipynb": "notebook", ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".qmd": "quarto", ".rmd": "quarto",
              ".rst": "rst", ".html": "html", ".htm": "html"}
FENCE = re.compile(r"^([ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?[ \t]*)(`{3,}|~{3,})([^\n`]*)\n(.*?)^[ \t>]*\2[`~]*[ \t]*$", re.M | re.S)
BLOCK = re.compile(r"^([ \t]*)\.\. (?:code-block|code|sourcecode|highlight)::[ \t]*(\w+)?[^\n]*\n((?:[ \t]*\n|\1[ \t]+[^\n]*\n?)*)", re.M)
GLOBAL = re.compile(r"__global__\b[^;{}=]*?\b(\w+)\s*\([^;{}]*\)[^;{}()]*\{", re.S)
CUDA_MAGIC = re.compile(r"%%(?:cu|cuda|cuda_run|nvcc|cudac?\+*|writefile[^\n]*\.(?:cu|cuh|h|hpp|cpp|cc|hip))\b")
PYTHON_MAGIC = re.compile(r"%%(?:time|timeit|capture|prun|writefile[^\n]*\.py|python3?|px|file[^\n]*\.py)\b")
PYTHON_WORDS = {"python", "py", "python3", "ipython", "ipython3", "triton", "pycon", "{python}", "{code-cell}"}
CUDA_WORDS = {"cuda", "cu", "cuh", "hip", "c++", "cpp", "cc", "c", "{cuda}"}


def dedent(text):
    lines = text.split("\n")
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    width = min(widths, default=0)
    return "\n".join(line[width:] for line in lines)


def undoctest(text):
    if not re.search(r"^[ \t]*>>> ", text, re.M):
        return text
    return "\n".join(line.lstrip()[4:] for line in text.split("\n") if line.lstrip().startswith((">>>", "...")))


def bare(cell):
    """A cell's text without IPython's own lines."""
    return "\n".join("pass" if re.match(r"\s*(?:[%!?]|\w[\w.]*\?+\s*$)", line) and not line.startswith(("    ", "\t")) else
                     re.sub(r"^(\s+)[%!].*", r"\1pass", line) for line in cell.split("\n"))


def language_of(word, text):
    word = word.strip().lower()
    first = re.split(r"[\s,:]", word.lstrip("{").rstrip("}").lstrip("."), maxsplit=1)[0].rstrip("}")
    if first in PYTHON_WORDS or word.startswith("{code-cell}"):
        return "python"
    if first in CUDA_WORDS:
        return "cuda"
    if word:
        return None
    return "cuda" if "__global__" in text else "python"


def fences(text):
    for found in FENCE.finditer(text):
        quote = found[1].replace(" ", "").replace("\t", "")
        inside = found[4]
        if ">" in quote:
            inside = re.sub(r"^[ \t]*>[ ]?", "", inside, flags=re.M)
        language = language_of(found[3], inside)
        if language:
            yield language, undoctest(dedent(inside))


def directives(text):
    for found in BLOCK.finditer(text):
        inside = re.sub(r"\A(?:[ \t]*:[\w-]+:[^\n]*\n)+", "", found[3])
        language = language_of(found[2] or "", inside)
        if language:
            yield language, undoctest(dedent(inside))
    for found in re.finditer(r"(?:^|\n)[^\n.][^\n]*::[ \t]*\n((?:[ \t]*\n|[ \t]+[^\n]*\n?)+)", text):
        inside = dedent(found[1])
        yield language_of("", inside), undoctest(inside)


class Pre(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.depth, self.text, self.words, self.around, self.blocks = 0, "", "", [], []

    def handle_starttag(self, tag, attributes):
        words = dict(attributes).get("class") or ""
        if tag == "pre":
            self.depth += 1
            self.text, self.words = "", " ".join([*self.around[-2:], words])
        elif self.depth:
            self.words += " " + words
        elif tag == "div":
            self.around.append(words)

    def handle_endtag(self, tag):
        if tag == "pre" and self.depth:
            self.depth -= 1
            self.blocks.append((self.words, self.text))
        elif tag == "div" and self.around:
            self.around.pop()

    def handle_data(self, data):
        if self.depth:
            self.text += data


def pages(text):
    reader = Pre()
    reader.feed(text)
    for words, inside in reader.blocks:
        named = re.search(r"(?:language|lang|highlight-source|highlight)-([\w+]+)", words)
        language = language_of(named[1] if named and named[1] != "default" else "", inside)
        if language:
            yield language, undoctest(inside)


def cells(text):
    book = json.loads(text)
    found = book.get("cells")
    if found is None:
        found = [cell for sheet in book.get("worksheets", []) for cell in sheet.get("cells", [])]
    for cell in found:
        source = cell.get("source", cell.get("input", ""))
        source = source if isinstance(source, str) else "".join(source)
        if cell.get("cell_type") == "markdown":
            yield from fences(source)
        elif cell.get("cell_type") == "code":
            magic = source.lstrip()
            if CUDA_MAGIC.match(magic):
                yield "cuda", magic.split("\n", 1)[-1]
            elif not magic.startswith("%%"):
                yield "python", bare(source)
            elif PYTHON_MAGIC.match(magic):
                yield "python", bare(magic.split("\n", 1)[-1])


READERS = {"notebook": cells, "markdown": fences, "quarto": fences, "rst": directives, "html": pages}


def parse(text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def pallas_names(tree):
    names = collections.Counter(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    partials = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            if ast.unparse(node.value.func).endswith("partial") and node.value.args and isinstance(node.value.args[0], ast.Name):
                partials[node.targets[0].id] = node.value.args[0].id
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("pallas_call", "emit_pipeline") and node.args:
            given = node.args[0]
            if isinstance(given, ast.Call) and ast.unparse(given.func).endswith("partial") and given.args:
                given = given.args[0]
            if isinstance(given, ast.Name):
                used.add(partials.get(given.id, given.id))
    return [name for name in used for _ in range(names[name])]


def kernels(text, reader):
    """Yields (language, name) of every kernel."""
    program, cuda = [], []
    for language, block in reader(text):
        if language == "cuda":
            cuda.append(block)
        elif parse(block) is not None:
            program.append(block)
    for block in cuda:
        yield from (("cuda", name) for name in GLOBAL.findall(re.sub(r"//[^\n]*|/\*.*?\*/", "", block, flags=re.S)))
    joined = "\n".join(program)
    tree = parse(joined)
    if tree is None:
        return
    for function in jit_functions.jit_functions(joined.encode("utf-8", "surrogateescape")):
        yield "gluon" if function["gluon"] else "triton", function["name"]
    yield from (("pallas", name) for name in pallas_names(tree))


def files_of(repository):
    listing = subprocess.run(["git", "-C", repository, "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout
    for entry in listing.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        about, path = entry.split("\t", 1)
        mode, kind, digest = about.split()
        if kind == "blob" and mode != "120000" and pathlib.PurePosixPath(path).suffix.lower() in CONTAINERS:
            yield path, digest


def blobs(repository, wanted):
    """Yields each blob's bytes, in order."""
    with subprocess.Popen(["git", "-C", repository, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        for digest in wanted:
            git.stdin.write(f"{digest}\n".encode())
            git.stdin.flush()
            header = git.stdout.readline().split()
            yield b"" if header[-1] == b"missing" else git.stdout.read(int(header[2]) + 1)[:-1]
        git.stdin.close()


def truth(mirrors):
    """Counter of (repository, path, container, language, name)."""
    found, unread = collections.Counter(), 0
    for repository in sorted(pathlib.Path(mirrors).glob("*/repo")):
        owner = repository.parent.name.replace("+", "/", 1)
        files = list(files_of(repository))
        for (path, _), data in zip(files, blobs(repository, [digest for _, digest in files])):
            if not re.search(rb"jit|pallas_call|emit_pipeline|__global__", data):
                continue
            container = CONTAINERS[pathlib.PurePosixPath(path).suffix.lower()]
            try:
                here = list(kernels(data.decode("utf-8", "surrogateescape").replace("\r\n", "\n"), READERS[container]))
            except (ValueError, RecursionError, AttributeError):
                unread += 1
                continue
            found.update((owner, path, container, language, name) for language, name in here)
    return found, unread


def owner_of(repository):
    """owner/name of a source's name, whether it is a URL or the path of a mirror."""
    mirror = re.search(r"([^/]+)\+([^/]+)/repo/?$", repository)
    return f"{mirror[1]}/{mirror[2]}" if mirror else "/".join(repository.removesuffix(".git").split("/")[-2:])


def listed(ledgers):
    """Counter of (repository, path, language) of the kernels that ledgers list, without CUDA's device functions."""
    rows = collections.Counter()
    for ledger in ledgers:
        with open(ledger, encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["form"] not in ("file", "template") and (row["dsl"] != "cuda" or row["role"] == "kernel"):
                    rows[owner_of(row["repository"]), row["path"], row["dsl"]] += 1
    return rows


PYTHON = "import triton\n@triton.jit\ndef k(x):\n    pass\n"
CUDA = "__global__ void g(int* x) { *x = 1; }  // __global__ void no() {\n"
SELF_TEST = (
    (fences, f"1. x\n   ```python\n{PYTHON}   ```\n> ~~~cuda\n> {CUDA}> ~~~\n```sh\n{CUDA}```\n", {("triton", "k"): 1, ("cuda", "g"): 1}),
    (fences, "```{python}\nfrom triton import jit\n```\n```py\n>>> @jit\n... def k(): pass\n```\n", {("triton", "k"): 1}),
    (fences, "```python\ndef f(x): pass\npl.pallas_call(partial(f, 1))\n```\n", {("pallas", "f"): 1}),
    (directives, ".. code-block:: cuda\n   :linenos:\n\n   " + CUDA + "\nSo::\n\n   " + CUDA, {("cuda", "g"): 2}),
    (pages, f"<div class=highlight-cuda><div><pre>{CUDA.replace('*', '&#42;')}</pre></div></div>", {("cuda", "g"): 1}),
    (cells, json.dumps({"cells": [{"cell_type": "code", "source": "%%cu\n" + CUDA}, {"cell_type": "code", "source": ["!ls\n", PYTHON]},
                                  {"cell_type": "code", "source": "it's broken("}, {"cell_type": "raw", "source": PYTHON}]}),
     {("cuda", "g"): 1, ("triton", "k"): 1}),
)


def self_test():
    for reader, text, right in SELF_TEST:
        read = collections.Counter(kernels(text, reader))
        if read != right:
            print(f"{reader.__name__}: {dict(read)}, must be {right}: {text!r}", file=sys.stderr)
            return 1
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    warnings.simplefilter("ignore")
    arguments = [argument for argument in sys.argv[1:] if argument != "--missing"]
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    found, unread = truth(arguments[0])
    rows = listed(arguments[1:])
    names = collections.defaultdict(list)
    for (owner, path, container, language, name), count in sorted(found.items()):
        names[owner, path, container, language] += [name] * count
    totals, hits, missing = collections.Counter(), collections.Counter(), []
    for (owner, path, container, language), here in names.items():
        hit = min(len(here), rows[owner, path, language])
        totals[container, language] += len(here)
        hits[container, language] += hit
        if hit < len(here):
            missing.append(f"{owner} {path} {language} {hit}/{len(here)}: {' '.join(here)}")
    for kind in sorted(totals):
        print(f"{kind[0]:9} {kind[1]:7} {hits[kind]:5} found of {totals[kind]:5}")
    print(f"{unread} files that cannot be read")
    if "--missing" in sys.argv:
        print("\n".join(missing))
    return 0


if __name__ == "__main__":
    sys.exit(main())
