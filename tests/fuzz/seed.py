#!/usr/bin/env python3
"""Writes the first inputs of a fuzzer: the repository's test data, as that fuzzer reads files.

usage: seed.py TARGET FOLDER
"""
import hashlib
import json
import pathlib
import sys

DATA = pathlib.Path(__file__).parents[1] / "data"
# As NameOf in extract_fuzz.cc.
KINDS = {".py": b"\x00", ".cu": b"\x01", ".cuh": b"\x01", ".jinja": b"\x02"}
INDUCTOR = b"\x03"
JSON, JSONL = b"\x04", b"\x05"
NOTEBOOK, MARKDOWN, RST, HTML = b"\x06", b"\x07", b"\x08", b"\x09"


def data_files(*ends):
    return [path for path in sorted(DATA.rglob("*")) if path.is_file() and path.suffix in ends]


def extract_seeds():
    for path in data_files(*KINDS):
        yield (INDUCTOR if path.name == "output_code.py" else KINDS[path.suffix]) + path.read_bytes()
    yield from json_seeds()
    yield from document_seeds()


def json_seeds():
    """Small files of the test data as strings, alone, in a chat and a line each."""
    texts = [path.read_text() for path in data_files(*KINDS) if path.stat().st_size < 8192]
    for text in texts:
        yield JSON + json.dumps([{"file": "é\U0001f600", "code": text}, 1.5, None]).encode()
        chat = f"Here's the kernel:\n\n```python\n{text}\n```\nand:\n~~~\n{text}"
        yield JSON + json.dumps({"messages": [{"content": chat}]}, ensure_ascii=False).encode()
    yield JSONL + "\n".join(json.dumps({"code": text}) for text in texts[:8]).encode()


def document_seeds():
    """Small files of the test data in each kind of document: two cells, a fence in a quote, a directive, a <pre>."""
    for path in data_files(".py", ".cu"):
        text = path.read_text()
        if len(text) > 8192:
            continue
        language = "cuda" if path.suffix == ".cu" else "python"
        magic = ["%%cu\n"] if language == "cuda" else ["!ls\n"]
        lines = text.splitlines(keepends=True)
        cells = [{"cell_type": "markdown", "source": f"# T\n\nP.\n```{language}\n{text}```\n"},
                 {"cell_type": "code", "outputs": [{"data": {"image/png": "AAAA"}}], "source": magic + lines},
                 {"cell_type": "code", "source": f"s = r\'\'\'\n{text}\'\'\'\n" if language == "cuda" else text}]
        yield NOTEBOOK + json.dumps({"cells": cells, "nbformat": 4}).encode()
        quoted = "".join(f"> {line}" for line in lines)
        yield MARKDOWN + f"# T\n\nP.\n\n```{language}\n{text}```\n\n> ~~~{{.{language}}}\n{quoted}> ~~~\n".encode()
        indented = "".join(f"   {line}" for line in lines)
        yield RST + f"T\n=\n\nP.\n\n.. code-block:: {language}\n   :linenos:\n\n{indented}\nSo::\n\n{indented}".encode()
        escaped = text.replace("&", "&amp;").replace("<", "&lt;")
        yield HTML + f"<h1>T</h1><p>P.\n<pre class=language-{language}>{escaped}</pre>".encode()


def cuda_seeds():
    return (path.read_bytes() for path in data_files(".cu", ".cuh"))


def python_seeds():
    return (path.read_bytes() for path in data_files(".py"))


# As PathOf in link_fuzz.cc: a.py imports from b.py and from a package of two files.
LINKED = (b"\x00import triton\nfrom b import f, N\nfrom p import g as h\nimport p.q.b\n"
          b"@triton.jit\ndef k(x):\n    return f(x) + h(x) + N\n",
          b"\x01import triton\nN = 4\n@triton.jit\ndef f(x):\n    return x * N\n",
          b"\x02from .a import *\nfrom .q.b import jit\n",
          b"\x03from triton import jit as _jit\n__all__ = ['g']\n@_jit\ndef g(x): return x\n",
          b"\x04import triton\ndef jit(f):\n    return triton.jit(f)\n",
          b"\x05__global__ void k(int* x) { *x = 1; }\n")


def link_seeds():
    """Made files, and the test data in groups of three neighbours."""
    yield b"\xff".join(LINKED)
    texts = [path.read_bytes() for path in data_files(".py") if path.stat().st_size < 16384]
    for first in range(0, len(texts), 3):
        yield b"\xff".join(bytes([name]) + text for name, text in zip((0, 1, 3), texts[first:first + 3]))


SEEDS = {"extract_fuzz": extract_seeds, "cuda_fuzz": cuda_seeds, "link_fuzz": link_seeds,
         "plain_parser_fuzz": python_seeds}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SEEDS:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[2])
    for content in SEEDS[sys.argv[1]]():
        (folder / hashlib.sha1(content).hexdigest()).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
