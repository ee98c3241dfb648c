"""The functions of a C++ text that have one of some qualifiers and a body, by two readers that share nothing.

The first is a scanner: tokens, then what opens a body behind the qualifier. The second is tree-sitter's grammar. A function
counts if both end it at the same brace; else it is not decided. Neither expands macros.
"""
import bisect
import dataclasses
import re

import tree_sitter
import tree_sitter_cpp
import tree_sitter_cuda

TOKEN = re.compile(
    r'(?P<skip>\s+|//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\/]|\\\n|\\.|/(?!\*)|/\*.*?\*/)*)'
    r'|(?P<text>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r'|(?P<word>[A-Za-z_$]\w*)|(?P<number>\.?\d(?:[\w.]|[eEpP][+-]|\'(?=\w))*)|(?P<sign>.)', re.S | re.M)
NOT_NAMES = {"__launch_bounds__", "__attribute__", "__declspec", "alignas", "decltype", "noexcept", "requires", "__align__", "__cluster_dims__",
             "__block_size__", "__maxnreg__", "if", "for", "while", "switch", "return", "sizeof", "asm"}
BEFORE_KERNEL = {";", "{", "}", ">", "]", "[", "static", "inline"}
PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass
class Function:
    """A function of a text; `start` and `end` are offsets of bytes, `end` behind the brace."""
    name: str
    start: int
    end: int
    decided: bool


class Scan:
    """The tokens of a text and their brackets."""

    def __init__(self, text):
        self.tokens = [each for each in TOKEN.finditer(text) if each.lastgroup != "skip" and not each["skip"]]
        self.words = [each[0] for each in self.tokens]
        self.closes, opened = {}, []
        for at, word in enumerate(self.words):
            if word in PAIRS:
                opened.append(at)
            elif word in PAIRS.values():
                while opened and PAIRS[self.words[opened[-1]]] != word:
                    opened.pop()
                if opened:
                    self.closes[opened.pop()] = at

    def functions(self, qualifiers):
        """{place of the closing brace: Function}"""
        found = {}
        for at, word in enumerate(self.words):
            if word in qualifiers and not self.is_lambda(at):
                read = self.read(at)
                if read is not None:
                    name, last = read
                    found.setdefault(last, Function(name, self.tokens[self.first(at)].start(), self.tokens[last].end(), False))
        return found

    def is_lambda(self, at):
        return at > 1 and self.words[at - 1] == "]" and self.words[at - 2] != "]"

    def read(self, at):
        """(name, token of the closing brace) of what a qualifier declares; None unless it is a function with a body."""
        name, angle = None, 0
        now = at + 1
        while now < len(self.words):
            word = self.words[now]
            if word == "{":
                return (name, self.closes[now]) if name and now in self.closes else None
            if word in (";", "}") or word == ")" or word == "=" and self.words[now - 1] != "operator" and not angle:
                return None
            if word in "<>" and name is None and self.words[now - 1] != "operator":
                angle += 1 if word == "<" else -1
            if word in ("(", "["):
                if word == "(" and name is None and not angle:
                    name = self.name_before(now)
                if word == "[" and now and self.words[now - 1] == "," or now not in self.closes:
                    return None
                now = self.closes[now]
            elif word == ":" and name:
                now = self.skip_initializers(now)
                continue
            now += 1
        return None

    def name_before(self, at):
        if "operator" in self.words[max(0, at - 4):at] or self.words[at - 1] == "operator":
            return "operator"
        token = self.tokens[at - 1]
        if token["word"] and token[0] not in NOT_NAMES:
            return token[0]
        if token[0] == ">":  # f<int>(
            depth = 0
            for back in range(at - 1, -1, -1):
                depth += {">": 1, "<": -1}.get(self.words[back], 0)
                if not depth:
                    return self.words[back - 1] if self.tokens[back - 1]["word"] else None
        return None

    def skip_initializers(self, now):
        """The place of a constructor's body behind `: a(1), b{2}`."""
        now += 1
        while now < len(self.words):
            if self.words[now] in PAIRS:
                before = self.words[now - 1]
                if self.words[now] == "{" and not (self.tokens[now - 1]["word"] or before == ">"):
                    return now
                if now not in self.closes:
                    return len(self.words)
                now = self.closes[now]
            elif self.words[now] == ";":
                return now
            now += 1
        return now

    def first(self, at):
        """The first token of the declaration that a token is in."""
        while at and self.words[at - 1] not in (";", "{", "}"):
            if self.words[at - 1] == ":" and at > 1 and self.words[at - 2] in ("public", "private", "protected"):
                break
            at -= 1
        return at


def grammar_ends(text, language):
    """The offsets behind the closing braces of all functions that tree-sitter sees."""
    data = text.encode()
    ends, stack = set(), [tree_sitter.Parser(tree_sitter.Language(language)).parse(data).root_node]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            body = node.child_by_field_name("body")
            if body is not None and body.type in ("compound_statement", "try_statement"):
                ends.add(body.end_byte)
        stack.extend(node.children)
    return ends


def agreed(text, functions, plain, language):
    """The functions, each decided if the grammar ends one at its brace. `plain` is the text as the grammar is to see it."""
    ends = grammar_ends(plain, language)
    offsets = byte_offsets(text)
    for function in functions:
        function.decided = offsets(function.end) in ends
    return functions


def byte_offsets(text):
    """A function from places of characters to places of bytes."""
    wide = [at for at, letter in enumerate(text) if ord(letter) > 127]
    total = [0]
    for at in wide:
        total.append(total[-1] + len(text[at].encode()) - 1)
    return lambda place: place + total[bisect.bisect_left(wide, place)]


def cuda_functions(text):
    found = Scan(text).functions({"__global__", "__device__"})
    return agreed(text, list(found.values()), text, tree_sitter_cuda.language())


def metal_functions(text):
    """Kernels of Metal: `kernel void f(` and `[[kernel]] void f(` with a body."""
    scan = Scan(text)
    inner = {at for opened, closed in scan.closes.items() if scan.words[opened] == "(" for at in range(opened, closed)}
    found = {}
    for at, word in enumerate(scan.words):
        before = scan.words[at - 1] if at else ";"
        if word == "kernel" and at not in inner and (before in BEFORE_KERNEL or '"C"' in before):
            read = scan.read(at + 2 if before == "[" else at)
            if read is not None:
                found.setdefault(read[1], Function(read[0], scan.tokens[scan.first(at)].start(), scan.tokens[read[1]].end(), False))
    plain = re.sub(r"\b(?:device|constant|threadgroup|threadgroup_imageblock|thread|kernel)\b(?!\s*[;=,)\]])", lambda each: " " * len(each[0]), text)
    plain = re.sub(r"\[\[.*?\]\]", lambda each: re.sub(r"[^\n]", " ", each[0]), plain, flags=re.S)
    return agreed(text, list(found.values()), plain, tree_sitter_cpp.language())
