#!/usr/bin/env python3
"""Every Triton and Gluon jit function below a folder, by CPython's own parser: ground truth for tests.

usage: jit_functions.py FOLDER > truth.json
A function counts if a decorator of it, bare or called, resolves through the file's absolute imports to
Triton's or Gluon's jit. Spans are whole lines, decorators included. Independent of kernelmill's extractor
on purpose: it shares no code and no parser with it.
"""

import ast
import collections
import hashlib
import json
import pathlib
import sys

JIT = {"triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit", "triton.runtime.jit.JITFunction",
       "triton.experimental.gluon.jit", "triton.experimental.gluon._runtime.jit"}


def aliases(tree):
    """{local name: dotted origin}; of several bindings the one met last, breadth first, holds."""
    names, queue = {}, collections.deque([tree])
    while queue:
        node = queue.popleft()
        queue.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            for item in node.names:
                top = item.name.split(".")[0]
                names[item.asname or top] = item.name if item.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for item in node.names:
                names[item.asname or item.name] = f"{node.module}.{item.name}"
    return names


def origin(node, names):
    """The dotted name that a decorator stands for, or None."""
    if isinstance(node, ast.Call):
        node = node.func
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def jit_functions(data):
    tree = ast.parse(data)
    names = aliases(tree)
    lines = data.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found = [d for d in (origin(d, names) for d in node.decorator_list) if d in JIT]
            if found:
                first = min([node.lineno] + [d.lineno for d in node.decorator_list])
                span = b"".join(lines[first - 1:node.end_lineno])
                yield {"name": node.name, "first_line": first, "last_line": node.end_lineno,
                       "gluon": any("gluon" in d for d in found), "sha256": hashlib.sha256(span).hexdigest()}


def main():
    root = pathlib.Path(sys.argv[1])
    truth = {"functions": [], "unparsed": []}
    for path in sorted(p for p in root.rglob("*.py") if p.is_file() and not p.is_symlink()):
        data = path.read_bytes()
        if b"triton" not in data and b"gluon" not in data:
            continue
        name = path.relative_to(root).as_posix()
        try:
            truth["functions"] += [{"path": name, **f} for f in jit_functions(data)]
        except (SyntaxError, ValueError) as error:
            truth["unparsed"].append([name, str(error)])
    json.dump(truth, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
