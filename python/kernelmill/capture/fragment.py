"""The operators that a Triton kernel computes, by the comment that TorchInductor writes above it.

The comment has a fragment of the graph: what the kernel reads (PlaceHolder), all nodes that its code comes from, and what it writes (return).
The nodes are more than the kernel computes. One that copies a convolution's weight into another layout comes from the convolution; one
that adds a bias to a convolution's result comes from all that was computed before it.

The basic idea: begin at what the kernel writes and go back through the arguments. Stop at what the kernel reads, and at an operator that the
wrapper calls a library for. A template of a matrix product computes that operator itself."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

TITLE = "# Graph fragment:"
READ = re.compile(r"^#   %([\w.]+) : .*= PlaceHolder\[target=")
NODE = re.compile(r"^#   %([\w.]+) : (Tensor)?.*?\[num_users=\d+\] = call_function\[target=([\w.]+)\]\((.*)\)$")
WRITTEN = re.compile(r"^#   return (.*)$")
MAPPED = re.compile(r"^#   (\S+) => (.*)$")
NAME = re.compile(r"%([\w.]+)")
# A list in the arguments has sizes, which may have names, except for these operators.
LIST = re.compile(r"\[[^\[\]]*\]")
TAKE_LISTS = ("aten.cat", "aten.stack", "aten.index", "aten.index_put", "aten._unsafe_index", "aten._unsafe_index_put")
TEMPLATE, POINTWISE = "triton_tem_", "triton_poi_"
BUFFER = re.compile(r"buf\d+$")
# Inductor divides a large one in steps: the kernel of the second reads what the first left, which has no node.
REDUCTIONS = {f"aten.{name}" for name in ("sum", "mean", "var_mean", "var", "amax", "amin", "max", "min", "prod", "any", "argmax", "argmin", "cumsum")} | {
    "prims.prepare_softmax_online"}
# The places of arguments that a kernel adds to the result of a library: Inductor calls convolution without the bias.
BIASES = {"aten.convolution": 2}


@dataclass
class Node:
    """A node of a fragment. One that is no tensor has several results, which other nodes name getitem."""

    name: str
    operator: str
    arguments: list[str]
    tensor: bool = True


@dataclass
class Fragment:
    """The part of a graph that a kernel's code comes from, and the names in the model's code by those of nodes."""

    nodes: dict[str, Node] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    writes: list[str] = field(default_factory=list)
    sources: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """The operators that a kernel computes and their nodes in the model's code, each once, in the order of the graph."""

    nodes: list[str]
    operators: list[str]


def read_fragment(comment: Sequence[str]) -> Fragment | None:
    """Reads the comment above a kernel; None if it has no fragment, as those of old versions."""
    fragment = Fragment()
    found = False
    for line in comment:
        found = found or line.startswith(TITLE)
        if not found and (mapped := MAPPED.match(line)):
            for name in mapped[2].split(","):
                fragment.sources.setdefault(name.strip(), []).append(mapped[1])
        elif read := READ.match(line):
            fragment.reads.add(read[1])
        elif node := NODE.match(line):
            operator = shorten(node[3])
            arguments = node[4] if operator in TAKE_LISTS else LIST.sub("", node[4])
            fragment.nodes[node[1]] = Node(node[1], operator, NAME.findall(arguments), bool(node[2]))
        elif written := WRITTEN.match(line):
            fragment.writes = NAME.findall(written[1])
    return fragment if found and fragment.writes else None


def shorten(target: str) -> str:
    """Returns the name of an operator without its overload: aten.add for torch.ops.aten.add.Tensor."""
    return ".".join(target.removeprefix("torch.ops.").split(".")[:2])


def find_part(fragment: Fragment, kernel: str, called: Container[str], sizes: Iterable[str] = ()) -> Part:
    """Returns what a kernel computes. `called` are the operators that the wrapper calls libraries for, `sizes` the inputs that are sizes of
    dynamic shapes."""
    own = _Walk(fragment, kernel, called, sizes).run()
    names = [name for name in fragment.nodes if name in own]
    sources = (source for name in names for source in fragment.sources.get(name, ()))
    return Part(list(dict.fromkeys(sources)), list(dict.fromkeys(own[name] for name in names)))


class _Walk:
    """Goes back from what a kernel writes. `own` has the operator of each node that it computes."""

    def __init__(self, fragment: Fragment, kernel: str, called: Container[str], sizes: Iterable[str]):
        self.nodes = fragment.nodes
        self.fragment = fragment
        self.template = kernel.startswith(TEMPLATE)
        self.reduces = not kernel.startswith((TEMPLATE, POINTWISE))
        self.called = called
        self.given = (fragment.reads - set(fragment.writes)).union(sizes)
        self.owners = dict(self._find_owners())
        self.users: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for name in node.arguments:
                self.users.setdefault(self._owner(name), []).append(node.name)
        # A buffer without a node is what a library or an earlier step of a sum left.
        self.partial = any(name not in self.nodes and BUFFER.match(name) for name in self.given)
        self.there: dict[str, bool] = {}
        self.dependent: set[str] = set()
        for name, node in self.nodes.items():  # in the order of the graph: arguments come first
            self.there[name] = self._is_there(node)
            if self._depends(node):
                self.dependent.add(name)
        self.own: dict[str, str] = {}

    def run(self) -> dict[str, str]:
        named = [self._owner(name) for name in self.fragment.writes if self._owner(name) in self.nodes]
        self._go_back(named)
        # A buffer without a node is a copy or a part of a sum. If the kernel reads it too, it is a step in between.
        if any(self._owner(name) not in self.nodes and name not in self.fragment.reads for name in self.fragment.writes):
            self._go_back(self._list_last(set(self.own) - set(named)))
        return self.own

    def _go_back(self, waiting: list[str]) -> None:
        done = set()
        while waiting:
            name = waiting.pop()
            if name not in done and name in self.nodes:
                done.add(name)
                arguments = [self._owner(each) for each in self._take(self.nodes[name]) if each not in self.given]
                waiting += [each for each in arguments if self.there.get(each)]
                # The fragment leaves out some views: behind one are the nodes that nothing else in it uses.
                if any(each not in self.nodes for each in arguments):
                    waiting += [each for each in self._list_computed() if each not in self.users and each not in self.fragment.writes]

    def _owner(self, name: str) -> str:
        return self.owners.get(name, name)

    def _is_there(self, node: Node) -> bool:
        """Says whether the kernel has a node's value: it reads or writes it, or computes it of what it reads."""
        if node.name in self.given or node.name in self.fragment.writes:
            return True
        if node.operator in self.called and not self.template:
            return self.partial and node.name in self.users
        has_arguments = all(name in self.given or self.there.get(self._owner(name), False) for name in node.arguments)
        return has_arguments or (self.partial and node.operator in REDUCTIONS)

    def _take(self, node: Node) -> list[str]:
        """Takes a node for the kernel's own if it is. Returns the arguments that come from the kernel then."""
        if node.operator not in self.called:
            self.own[node.name] = node.operator
            return node.arguments
        if self.template:  # one operator of a library is the template's; those before it are not
            self.template = False
            self.own[node.name] = node.operator
            return node.arguments
        bias = BIASES.get(node.operator)
        if bias is not None and node.arguments[bias : bias + 1] and node.arguments[bias] in self.given:
            self.own[node.name] = "aten.add"
        return []

    def _list_computed(self) -> list[str]:
        """Returns the nodes whose values the kernel computes of what it reads; of constants if it reads nothing."""
        return [name for name in self.nodes if self.there[name] and name not in self.given and (not self.given or name in self.dependent)]

    def _list_last(self, used: Container[str]) -> list[str]:
        """Returns the nodes that the kernel computes of what it reads, and no other of these uses; of a sum that it has not `used` by then
        the sum alone."""
        computed = self._list_computed()
        sums = [name for name in computed if self.reduces and self.nodes[name].operator in REDUCTIONS]
        if sums and sums[0] not in used:
            return sums[:1]
        every = set(computed)
        return [name for name in computed if every.isdisjoint(self.users.get(name, ()))]

    def _depends(self, node: Node) -> bool:
        """Says whether a node is computed of something that the kernel reads, and not of constants alone."""
        if node.name in self.given or (self.partial and node.operator in REDUCTIONS):
            return True
        return any(name in self.given or self._owner(name) in self.dependent for name in node.arguments)

    def _find_owners(self) -> Iterator[tuple[str, str]]:
        """Yields names of single results with the node that has them: the last one with several before the first use."""
        several = ""
        known = set(self.nodes)
        for node in self.nodes.values():
            for name in node.arguments:
                if several and name.startswith("getitem") and name not in known:
                    known.add(name)
                    yield name, several
            if not node.tensor:
                several = node.name
        for name in self.fragment.writes:
            if several and name.startswith("getitem") and name not in known:
                yield name, several
