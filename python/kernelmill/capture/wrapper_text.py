"""The facts in the code that TorchInductor wrote: its kernels, the operators that each fuses, its other calls."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kernelmill.capture import fragment

NODES = re.compile(r"^# (?:Topologically Sorted |Unsorted )?Source Nodes: \[(.*?)\], Original ATen: \[(.*?)\]")
CALL = re.compile(r"\b((?:extern_kernels|aten|torch\.ops)\.[A-Za-z_][\w.]*)\(")
LAUNCH = re.compile(r"^\s*(\w+)\.run\(")
STRIDES = re.compile(r"^\s+assert_size_stride\((\w+), \(.*?\), (\([\d, ]*\))\)$", re.MULTILINE)
SIZE = re.compile(r"^\s+[su]\d+ = (\w+)$", re.MULTILINE)
REUSED = re.compile(r"; del (\w+)  # reuse$", re.MULTILINE)
LIBRARY_ALIASES = re.compile(r"^\w+ = torch\.ops\.\w+$", re.MULTILINE)
NUMBER_AT_END = re.compile(r"_\d+$")
CACHED = re.compile(r"^(\s*# kernel path: ).*/(\w+/\w+\.py)$", re.MULTILINE)


@dataclass
class Kernel:
    """A Triton kernel in a wrapper: `text` is the module that the wrapper compiles. `nodes` and `operators` are those of its fragment; without
    one, as in old versions, all that TorchInductor names at the kernel and at its launches."""

    name: str
    text: str
    nodes: list[str] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    launches: int = 0
    fragment: fragment.Fragment | None = None

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def normal(self) -> str:
        """The hash of the text without what differs between two captures of the same kernel: its number and its hints of hashes."""
        stem = NUMBER_AT_END.sub("", self.name)
        text = self.text.replace(self.name, stem)
        text = re.sub(r"'backend_hash': '[0-9A-F]*'", "'backend_hash': ''", text)
        return hashlib.sha256(text.encode()).hexdigest()

    def add_origin(self, comment: re.Match[str]) -> None:
        """Adds the nodes and operators of a comment that NODES matches, each once."""
        self.nodes = list(dict.fromkeys([*self.nodes, *_names(comment[1])]))
        self.operators = list(dict.fromkeys([*self.operators, *_names(comment[2])]))

    @property
    def row(self) -> dict[str, Any]:
        return {"name": self.name, "sha256": self.sha256, "nodes": self.nodes, "operators": self.operators, "launches": self.launches}


@dataclass
class Wrapper:
    """The kernels of a wrapper in its order, and its calls of other libraries by name."""

    kernels: list[Kernel]
    calls: Counter[str]


def read_wrapper(code: str) -> Wrapper:
    """Reads a wrapper. SyntaxError: it is no Python."""
    tree = ast.parse(code)
    lines = code.splitlines()
    kernels = [kernel for statement in tree.body if (kernel := _read_kernel(statement, lines)) is not None]
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    for kernel in kernels:
        text = text.replace(kernel.text, "")
    text = LIBRARY_ALIASES.sub("", text)
    _add_launches(lines, {kernel.name: kernel for kernel in kernels})
    calls = Counter(CALL.findall(text))
    called = {fragment.shorten(name.replace("extern_kernels.", "aten.")) for name in calls}
    sizes = SIZE.findall(text)
    for kernel in kernels:
        if kernel.fragment is not None:
            part = fragment.find_part(kernel.fragment, kernel.name, called, sizes)
            kernel.nodes, kernel.operators = part.nodes, part.operators
    return Wrapper(kernels, calls)


def shorten_paths(code: str) -> str:
    """Leaves of the path of each kernel in Inductor's cache what its text gives: the cache's folder is this capture's."""
    return CACHED.sub(r"\1\2", code)


def read_strides(code: str) -> dict[str, tuple[int, ...]]:
    """Returns the strides that a wrapper asserts of its inputs, by name; no dynamic ones."""
    return {match[1]: ast.literal_eval(match[2]) for match in STRIDES.finditer(code)}


def list_reused(code: str) -> set[str]:
    """Returns the names whose memory a wrapper takes for other values: also inputs that are saved for a backward graph alone."""
    return set(REUSED.findall(code))


def _add_launches(lines: list[str], kernels: dict[str, Kernel]) -> None:
    """Counts launches, and adds the nodes and operators that the comment above each names: a kernel may serve several layers."""
    comment = None
    for line in lines:
        if line.lstrip().startswith("#"):
            if line[:1].isspace():  # those at the margin are of definitions
                comment = NODES.match(line.lstrip()) or comment
            continue
        launched = LAUNCH.match(line)
        kernel = kernels.get(launched[1]) if launched else None
        if kernel is not None:
            kernel.launches += 1
            if comment is not None:
                kernel.add_origin(comment)
        if launched or CALL.search(line):
            comment = None


def _read_kernel(statement: ast.stmt, lines: list[str]) -> Kernel | None:
    """Returns the kernel of `name = async_compile.triton('name', '''...''')`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call) or len(statement.value.args) < 2:
        return None
    call, target = statement.value, statement.targets[0]
    if ast.unparse(call.func) != "async_compile.triton" or not isinstance(target, ast.Name):
        return None
    text = call.args[1]
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return None
    kernel = Kernel(target.id, text.value)
    end = statement.lineno - 1
    begin = end
    while begin > 0 and (lines[begin - 1].startswith("#") or not lines[begin - 1].strip()):
        begin -= 1
    kernel.fragment = fragment.read_fragment(lines[begin:end])
    for line in lines[begin:end]:
        if match := NODES.match(line):
            kernel.add_origin(match)
    return kernel


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
