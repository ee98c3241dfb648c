"""The functions of a C++ text that have one of some qualifiers and a body, by two readers that share nothing.

The first is a scanner: tokens, then what opens a body behind the qualifier. The second is tree-sitter's grammar, which reads the whole
text and then, if a macro confuses it there, the function alone. A function counts if both end it at the same brace; else it is not
decided. Neither expands macros; text that `#if 0` or `#if 1 ... #else` leaves out counts as blank.
"""
import bisect
import dataclasses
import re

import tree_sitter
import tree_sitter_cpp
import tree_sitter_cuda

TOKEN = re.compile(
    r'(?P<skip>^[ \t]*\#(?:[^\n\\/]|\\\n|\\.|/(?!\*)|/\*.*?\*/)*|\n|[^\S\n]+|//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)'
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
            if word == "operator" and name is None:
                now = self.behind_operator(now)
                if now is None:
                    return None
                name, word = "operator", "("
            if word == "{":
                return (name, self.closes[now]) if name and now in self.closes else None
            compared = word == "=" and (self.words[now - 1] in "=<>!" or self.words[now + 1:now + 2] == ["="])
            if word in (";", "}", ")") or word == "=" and not compared and not angle:
                return None
            if word in "<>" and name is None and self.words[now - 1] != "operator":
                angle += 1 if word == "<" else -1
            if word in ("(", "["):
                if word == "(" and name is None and not angle:
                    name = self.name_before(now)
                if word == "[" and now and self.words[now - 1] == "," or now not in self.closes:
                    return None
                now = self.closes[now]
            elif word == ":" and self.words[now + 1:now + 2] == [":"]:
                now += 1
            elif word == ":" and name:
                now = self.skip_initializers(now)
                continue
            now += 1
        return None

    def behind_operator(self, at):
        """The place of the parentheses of an operator's parameters."""
        at += 3 if self.words[at + 1:at + 3] == ["(", ")"] else 1
        while at < len(self.words) and self.words[at] not in ("(", ";", "{"):
            at += 1
        return at if self.words[at:at + 1] == ["("] else None

    def name_before(self, at):
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
            if self.words[at] == "template" and self.words[at - 1] == ")":  # behind a macro without a semicolon
                break
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


def without_excluded(text):
    """The text with blanks for what a constant condition leaves out."""
    lines, states = [], []  # for each #if around: True taken, False left out, None not known, "done" an earlier branch was taken
    joined = ""
    for line in text.splitlines(keepends=True):
        joined += line
        if re.search(r"\\\r?\n\Z", line):
            continue
        out = any(state is False or state == "done" for state in states)
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b\s*(\w*)\s*(?://.*|/\*.*)?$", joined) or re.match(
            r"\s*#\s*(if|ifdef|ifndef|elif)\b(.*)", joined, re.S)
        if directive:
            word = directive[1]
            if word == "if":
                states.append({"0": False, "false": False, "1": True, "true": True}.get(directive[2].strip()))
            elif word in ("ifdef", "ifndef"):
                states.append(None)
            elif word == "endif" and states:
                states.pop()
            elif states and states[-1] is True:
                states[-1] = "done"
            elif states and states[-1] is False:
                states[-1] = True if word == "else" else None
            out = False
        lines.append(re.sub(r"[^\n\r]", " ", joined) if out else joined)
        joined = ""
    return "".join(lines) + joined


def agreed(text, functions, plain, language):
    """The functions, each decided if the grammar ends one at its brace. `plain` is the text as the grammar is to see it."""
    ends = grammar_ends(plain, language)
    offsets = byte_offsets(text)
    for function in functions:
        alone = plain[function.start:function.end]
        function.decided = offsets(function.end) in ends or len(alone.encode()) in grammar_ends(alone, language)
    return functions


class QualifierMacros:
    """The macros of a repository's texts that stand for __global__ or __device__: those that libraries define, and those of #define lines."""

    KNOWN = {"__global__": "__global__", "__device__": "__device__", "CUTLASS_GLOBAL": "__global__", "RAFT_KERNEL": "__global__ void",
             "_CCCL_KERNEL_ATTRIBUTES": "__global__"} | dict.fromkeys(
        ["CUTLASS_DEVICE", "CUTLASS_HOST_DEVICE", "CUTE_DEVICE", "CUTE_HOST_DEVICE", "CK_TILE_DEVICE", "CK_TILE_HOST_DEVICE", "_CCCL_DEVICE",
         "_CCCL_HOST_DEVICE", "C10_DEVICE", "C10_HOST_DEVICE"], "__device__")
    DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?![\w(])((?:\\\r?\n|[^\n])*)", re.M)
    COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)

    def __init__(self, texts):
        defined = {}
        for text in texts:
            for name, value in self.DEFINE.findall(text):
                defined.setdefault(name, []).append(self.COMMENT.sub(" ", value).replace("\\\n", " "))
        plain = {name: [set(re.findall(r"\w+", value)) for value in values] for name, values in defined.items()
                 if all(re.fullmatch(r'(?:[A-Za-z_]\w*|[\s()]|"C")*', value) for value in values)}
        self.meanings = dict(self.KNOWN)
        for _ in range(8):
            for name, values in plain.items():
                words = set().union(*values)
                for word in sorted(words & self.meanings.keys()):
                    if name not in self.meanings or "__global__" in self.meanings[word]:
                        has_type = " void" if "void" in words or self.meanings[word].endswith(" void") else ""
                        self.meanings[name] = self.meanings[word].split()[0] + has_type

    def names_in(self, text):
        return {word for word in re.findall(r"\w+", text) if word in self.meanings}


def byte_offsets(text):
    """A function from places of characters to places of bytes."""
    wide = [at for at, letter in enumerate(text) if ord(letter) > 127]
    total = [0]
    for at in wide:
        total.append(total[-1] + len(text[at].encode()) - 1)
    return lambda place: place + total[bisect.bisect_left(wide, place)]


def cuda_functions(text, macros=None):
    """The functions of CUDA; with the macros of a repository also those that have one as their qualifier."""
    text = without_excluded(text)
    macros = macros or QualifierMacros([])
    names = macros.names_in(text)
    found = Scan(text).functions(names)
    plain = text
    for name in sorted(names - {"__global__", "__device__"}, key=len, reverse=True):
        # A grammar knows no macros: it sees the type that one holds, or nothing.
        shown = "void" if macros.meanings[name].endswith(" void") else ""
        plain = re.sub(rf"(?<![\w#])(?<!define )\b{name}\b", shown.ljust(len(name))[:max(len(name), len(shown))], plain)
    return agreed(text, list(found.values()), plain, tree_sitter_cuda.language())


def metal_functions(text):
    """Kernels of Metal: `kernel void f(` and `[[kernel]] void f(` with a body."""
    text = without_excluded(text)
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
