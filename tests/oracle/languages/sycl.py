"""SYCL: lambdas and objects that host code gives to parallel_for and the like, and functions that have an item among their parameters.

Two readers that share nothing: tokens, and tree-sitter's grammar. A kernel counts if both give it the same place; else it is not decided.
Neither expands macros. A kernel that is an argument of a call begins with the call.
"""
import dataclasses
import re

import kernel_forms
import tree_sitter
import tree_sitter_cpp
from languages import c_functions
from languages.python_kernels import Truth

ENDINGS = (".cpp", ".cxx", ".cc", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc")
MEMBERS = {"parallel_for", "single_task", "parallel_for_work_group"}
FUNCTIONS = {"parallel_for", "single_task", "nd_launch"}
ITEMS = {"nd_item", "item"}
MARKERS = (b"sycl::", b"sycl.hpp", b"namespace sycl", b"nd_item<")
CUDA = re.compile(r"__global__|__device__|_CCCL_KERNEL_ATTRIBUTES|RAFT_KERNEL|(?:CUTLASS|CUTE|CK_TILE|_CCCL|C10)_(?:HOST_)?DEVICE|CUTLASS_GLOBAL")
COMMENT = re.compile(r'//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/|("(?:[^"\\\n]|\\.)*")', re.S)
LINE_END = re.compile(r"\r\n|\r|\n")
HEADS = {"return", "co_return", "else", "case", "throw"}


@dataclasses.dataclass(frozen=True)
class Found:
    """A kernel, or a device function; offsets of characters, `end` behind its brace."""
    start: int
    end: int
    how: str
    inner: bool  # a lambda, which is a part of a kernel around it


def is_even(text):
    """Says whether all branches of each conditional open as many braces as they close."""
    branches = []
    for line in COMMENT.sub(lambda each: each[1] or " ", text).splitlines():
        directive = re.match(r"\s*#\s*(if|el|endif)", line)
        if directive is None:
            if branches:
                branches[-1] += line.count("{") - line.count("}")
        elif branches and branches[-1]:
            return False
        elif directive[1] == "if":
            branches.append(0)
        elif directive[1] == "endif" and branches:
            branches.pop()
    return True


def without_parts(found):
    """Without the lambdas within another kernel or device function."""
    kept, within = [], -1
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if one.inner and one.end <= within:
            continue
        kept.append(one)
        within = max(within, one.end)
    return kept


class Tokens:
    """The first reader."""

    def __init__(self, text):
        self.scan = c_functions.Scan(text)
        self.words, self.closes = self.scan.words, self.scan.closes
        self.opens = {close: opened for opened, close in self.closes.items()}
        self.found = {}

    def is_name(self, at):
        return 0 <= at < len(self.words) and bool(self.scan.tokens[at]["word"])

    def angle_end(self, at):
        """Behind the > of the < at a place; None without one."""
        depth = 0
        for now in range(at, min(at + 2000, len(self.words))):
            word = self.words[now]
            if word == "<":
                depth += 1
            elif word == ">" and self.words[now - 1] != "-":
                depth -= 1
                if not depth:
                    return now + 1
            elif word in ";{}" and not (word == "{" or word == "}"):
                return None
        return None

    def angle_begin(self, at):
        depth = 0
        for now in range(at, max(at - 2000, -1), -1):
            if self.words[now] == ">" and self.words[now - 1] != "-":
                depth += 1
            elif self.words[now] == "<":
                depth -= 1
                if not depth:
                    return now
        return None

    def name_before(self, at):
        """The place of the word before a place, over template arguments."""
        now = at - 1
        if now >= 0 and self.words[now] == ">":
            opened = self.angle_begin(now)
            now = -1 if opened is None else opened - 1
        return now if self.is_name(now) else None

    def begin_of(self, at):
        """The first token of the expression that ends with the name at a place."""
        while True:
            before = self.words[at - 1] if at else ""
            if before == "template":
                at -= 1
                before = self.words[at - 1]
            if before == ".":
                last = at - 2
            elif before in (":", ">") and self.words[at - 2] == (":" if before == ":" else "-"):
                last = at - 3
            else:
                return at
            if last < 0:
                return at
            word = self.words[last]
            if word in (")", "]", "}") and last in self.opens:
                opened = self.opens[last]
                name = self.name_before(opened)
                at = opened if name is None or self.words[name] in HEADS else name
            elif word == ">":
                name = self.name_before(last + 1)
                if name is None:
                    return at
                at = name
            elif self.is_name(last) and word not in HEADS:
                at = last
            else:
                return at if before != ":" else last + 1

    def lambda_body(self, at):
        """(place of the brace, place of the parameters) of a lambda whose [ is at a place."""
        if at not in self.closes or self.words[at + 1] == "[":
            return None
        if at and (self.words[at - 1] in (")", "]", "[") or self.is_name(at - 1) and self.words[at - 1] not in HEADS):
            return None
        now, parameters = self.closes[at] + 1, None
        if self.words[now:now + 1] == ["<"]:
            now = self.angle_end(now) or len(self.words)
        while now < len(self.words) and self.words[now] != "{":
            if self.words[now] in (";", ",", ")", "]", "}", "="):
                return None
            if self.words[now] in ("(", "["):
                if self.words[now] == "(" and parameters is None and not self.is_name(now - 1):
                    parameters = now
                if now not in self.closes:
                    return None
                now = self.closes[now]
            now += 1
        return (now, parameters) if now in self.closes else None

    def add(self, first, brace, how, inner):
        self.found.setdefault(self.closes[brace], (first, how, inner))

    def run(self):
        typed = self.read_items()
        given = self.read_calls()
        for name in given - typed:
            for brace, first in self.call_operators(name):
                self.add(first, brace, "class given", False)
        for last, function in self.scan.functions({"SYCL_EXTERNAL"}).items():
            first = next(at for at, token in enumerate(self.scan.tokens) if token.start() == function.start)
            self.found.setdefault(last, (first, "device", False))
        tokens = self.scan.tokens
        return without_parts(Found(tokens[first].start(), tokens[last].end(), how, inner) for last, (first, how, inner) in self.found.items())

    def first(self, at):
        """The first token of a declaration, behind macros with arguments."""
        first = self.scan.first(at)
        while self.is_name(first) and self.words[first] not in c_functions.NOT_NAMES and self.words[first + 1] == "(" and self.is_name(self.closes.get(first + 1, at) + 1) and self.closes[first + 1] < at - 1:
            first = self.closes[first + 1] + 1
        return first

    def around(self, at):
        """The bracket that a place is in."""
        for now in range(at - 1, -1, -1):
            if now in self.closes and self.closes[now] > at:
                return now
        return None

    def read_items(self):
        classes = set()
        for at, word in enumerate(self.words):
            if word not in ITEMS or self.words[at + 1:at + 2] != ["<"] or self.words[at - 1] == "." or self.words[at - 2:at] == ["-", ">"]:
                continue
            opened = self.around(at)
            if opened is None or self.words[opened] != "(":
                continue
            behind = opened  # attributes may come between operator() and its parameters
            while self.words[behind - 1] == "]" and behind - 1 in self.opens:
                behind = self.opens[behind - 1]
            if self.words[behind - 3:behind] == ["operator", "(", ")"]:
                name, brace = behind - 3, self.body_behind(opened)
                owner = self.class_of(name)
            elif self.words[opened - 1] == "]" or self.words[opened - 1] == ">" and self.lambda_before(opened) is not None:
                bracket = behind if self.words[opened - 1] == "]" else self.lambda_before(opened)
                read = self.lambda_body(bracket)
                if read and read[1] == opened:
                    self.add(self.lambda_first(bracket), read[0], "item", True)
                continue
            else:
                name, brace, owner = self.name_before(opened), self.body_behind(opened), None
                if name is None or self.words[name] in c_functions.NOT_NAMES:
                    continue
            if brace is not None:
                self.add(self.first(name), brace, "item of operator()" if owner else "device", False)
                if owner:
                    classes.add(owner)
        return classes

    def lambda_before(self, opened):
        begin = self.angle_begin(opened - 1)
        return self.opens[begin - 1] if begin and self.words[begin - 1] == "]" and begin - 1 in self.opens else None

    def body_behind(self, opened):
        """The brace of the function whose parameters are at a place."""
        now = self.closes.get(opened, len(self.words)) + 1
        while now < len(self.words):
            word = self.words[now]
            if word == "{":
                return now if now in self.closes else None
            if word == ":" and self.words[now + 1] != ":" and self.words[now - 1] != ":":
                now = self.scan.skip_initializers(now)
                continue
            if word in (";", ",", ")", "]", "}", "="):
                return None
            now = self.closes[now] + 1 if word in ("(", "[") and now in self.closes else now + 1
        return None

    def class_of(self, at):
        if self.words[at - 2:at] == [":", ":"]:
            return self.words[at - 3]
        opened = self.around(at)
        while opened is not None and self.words[opened] == "{":
            name = self.class_name(opened)
            if name:
                return name
            opened = self.around(opened)
        return None

    def class_name(self, brace):
        first = self.scan.first(brace)
        for now in range(first, brace):
            if self.words[now] in ("struct", "class") and self.words[now - 1] not in ("<", ",", "enum"):
                names = [each for each in range(now + 1, brace) if self.is_name(each)]
                stop = next((each for each in range(now + 1, brace) if self.words[each] in (":", "<") and self.words[each + 1] != ":"), brace)
                names = [each for each in names if each < stop and self.words[each] not in ("final", "alignas")]
                return self.words[names[-1]] if names else None
        return None

    def call_operators(self, name):
        for at, word in enumerate(self.words):
            if word == "operator" and self.words[at + 1:at + 4] == ["(", ")", "("] and self.class_of(at) == name:
                brace = self.body_behind(at + 3)
                if brace is not None:
                    yield brace, self.first(at)

    def lambda_first(self, bracket):
        """The first token of the call or the statement that a lambda is in."""
        now = bracket
        while now:
            word = self.words[now - 1]
            if word in (";", "{") or word == "}" and self.words[now] not in (",", "."):
                return now
            if word in ("(", "["):
                name = self.name_before(now - 1)
                return bracket if word == "[" or name is None or self.words[name] in HEADS | c_functions.NOT_NAMES else self.begin_of(name)
            now = self.opens[now - 1] if word in (")", "]", "}") and now - 1 in self.opens else now - 1
        return 0

    def read_calls(self):
        classes = set()
        for at, word in enumerate(self.words):
            opened = at + 1
            if word not in MEMBERS | FUNCTIONS:
                continue
            if self.words[opened:opened + 1] == ["<"]:
                opened = self.angle_end(opened) or -1
            if self.words[opened:opened + 1] != ["("] or opened not in self.closes:
                continue
            first = self.begin_of(at)
            before = at - 2 if self.words[at - 1] == "template" else at - 1
            member = self.words[before] == "." or self.words[before - 1:before + 1] == ["-", ">"]
            free = self.words[before] == ":" and "sycl" in "".join(self.words[first:at])
            if not (member and word in MEMBERS or free and word in FUNCTIONS):
                continue
            close, begin, now = self.closes[opened], opened + 1, opened + 1
            while now < close:
                if self.words[now] == "[" and now == begin:
                    read = self.lambda_body(now)
                    if read:
                        self.found.pop(self.closes[read[0]], None)
                        self.add(first, read[0], "given", True)
                if self.words[now] == ",":
                    begin = now + 1
                now = self.closes[now] + 1 if now in self.closes else now + 1
            if begin < close:
                classes |= self.last_argument(begin, close, at)
        return classes

    def last_argument(self, begin, close, at):
        """The classes that the last argument of a call is of. Adds a lambda that it names."""
        word = self.words[close - 1]
        if begin == close - 1 and self.is_name(begin):
            return self.variable(word, at)
        if self.words[begin:close] == ["*", "this"]:
            name = self.class_of(at)
            return {name} if name else set()
        if word in (")", "}") and self.opens.get(close - 1, -1) >= begin:
            name = self.name_before(self.opens[close - 1])
            return {self.words[name]} if name is not None else set()
        return set()

    def variable(self, word, at):
        outer = at
        opened = self.around(at)
        while opened is not None:  # up to the outermost body
            if self.words[opened] == "{" and not self.class_name(opened) and self.words[self.scan.first(opened)] not in ("namespace", "extern", "inline"):
                outer = opened
            opened = self.around(opened)
        for now in range(at, outer, -1):
            if self.words[now] != word or self.words[now + 1] not in ("=", "(", "{", ";"):
                continue
            before = self.words[now - 1]
            if not (self.is_name(now - 1) and before not in HEADS or before in (">", "&")):
                continue
            if self.words[now + 1:now + 3] == ["=", "["]:
                read = self.lambda_body(now + 2)
                if read:
                    self.add(self.lambda_first(now + 2), read[0], "variable given", True)
                return set()
            end = now
            while self.words[end - 1] == "&":
                end -= 1
            kind = self.name_before(end)
            if kind is None:
                return set()
            if self.words[kind] not in ("auto", "const"):
                return {self.words[kind]}
            now += 2
            while self.is_name(now):
                behind = now + 1
                if self.words[behind] == "<":
                    behind = self.angle_end(behind) or len(self.words) - 1
                if self.words[behind] in ("(", "{"):
                    return {self.words[now]}
                if self.words[behind:behind + 2] != [":", ":"]:
                    return set()
                now = behind + 2
            return set()
        return set()


class Grammar:
    """The second reader."""

    PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
    STATEMENTS = {"declaration", "expression_statement", "return_statement", "field_declaration"}

    def __init__(self, text):
        self.data = text.encode()
        self.found, self.classes, self.lambdas = {}, {}, {}
        self.typed, self.given = set(), set()

    def text(self, node):
        return self.data[node.start_byte:node.end_byte].decode("utf-8", "replace")

    def run(self):
        root = self.PARSER.parse(self.data).root_node
        nodes, stack = [], [root]
        while stack:
            node = stack.pop()
            nodes.append(node)
            stack.extend(reversed(node.children))
        for node in nodes:
            if node.type == "lambda_expression":
                self.read_lambda(node)
            elif node.type == "function_definition":
                self.read_function(node)
        for node in nodes:
            if node.type == "call_expression":
                self.read_call(node)
        for name in self.given - self.typed:
            for node, body in self.classes.get(name, []):
                self.add(node, body, "class given", False)
        characters = self.characters()
        return without_parts(Found(characters(start), characters(end), how, inner) for end, (start, how, inner) in self.found.items())

    def characters(self):
        text = self.data.decode("utf-8", "replace")
        if len(text) == len(self.data):
            return lambda place: place
        return lambda place: len(self.data[:place].decode("utf-8", "replace"))

    def add(self, first, body, how, inner):
        if body is not None:
            self.found.setdefault(body.end_byte, (first.start_byte, how, inner))

    def has_item(self, parameters):
        stack = [each for each in parameters.children] if parameters is not None else []
        while stack:
            node = stack.pop()
            if node.type == "template_type" and self.text(node.child_by_field_name("name")) in ITEMS:
                return True
            if node.type not in ("parameter_list", "compound_statement"):
                stack.extend(node.children)
        return False

    def read_lambda(self, node):
        declarator = node.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        if self.has_item(parameters):
            self.add(self.first_of(node), node.child_by_field_name("body"), "item", True)

    def first_of(self, node):
        parent = node.parent
        if parent.type == "argument_list" and parent.parent.type == "call_expression":
            return parent.parent
        while node.parent is not None and node.type not in self.STATEMENTS:
            if node.type in ("compound_statement", "argument_list", "initializer_list"):
                return node
            node = node.parent
        return node

    def declarator_of(self, node):
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator") or next(
                (each for each in declarator.children if each.type.endswith("declarator")), None)
        return declarator

    def read_function(self, node):
        declarator = self.declarator_of(node)
        if declarator is None:
            return
        name = declarator.child_by_field_name("declarator")
        own = re.sub(r"\[\[.*?\]\]|\s", "", self.text(name), flags=re.S)
        item = self.has_item(declarator.child_by_field_name("parameters"))
        body = node.child_by_field_name("body")
        external = body is not None and "SYCL_EXTERNAL" in self.data[node.start_byte:body.start_byte].decode("utf-8", "replace")
        outer = node
        while outer.parent is not None and outer.parent.type == "template_declaration":
            outer = outer.parent
        owner = self.class_of(node, own) if own.endswith("operator()") else None
        if owner:
            self.classes.setdefault(owner, []).append((outer, node.child_by_field_name("body")))
            if item:
                self.typed.add(owner)
        if item or external:
            self.add(outer, body, "item of operator()" if owner else "device", False)

    def class_of(self, node, own=""):
        if "::" in own:
            return own.split("::")[-2].split("<")[0]
        while node is not None:
            if node.type in ("struct_specifier", "class_specifier"):
                name = node.child_by_field_name("name")
                return re.split(r"<", self.text(name))[0].split("::")[-1] if name is not None else None
            if node.type == "function_definition":
                declarator = self.declarator_of(node)
                named = self.text(declarator.child_by_field_name("declarator")) if declarator is not None else ""
                if "::" in named and node.parent is not None and not named.startswith("operator"):
                    return named.split("::")[-2].split("<")[0]
            node = node.parent
        return None

    def last_name(self, node):
        """The last name of a type or of what a call calls."""
        while True:
            if node.type in ("qualified_identifier", "template_type", "template_function", "template_method", "dependent_name", "field_expression"):
                inner = node.child_by_field_name("field") if node.type == "field_expression" else node.child_by_field_name("name")
                if inner is None:
                    inner = node.named_children[0] if node.named_children else None
                if inner is None:
                    return ""
                node = inner
            else:
                return self.text(node)

    def read_call(self, node):
        called = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if called is None or arguments is None or arguments.type != "argument_list":
            return
        name = self.last_name(called)
        member = called.type == "field_expression" and name in MEMBERS
        free = called.type == "qualified_identifier" and name in FUNCTIONS and "sycl" in self.text(called).split(name)[0]
        if not (member or free):
            return
        given = [each for each in arguments.named_children if each.type != "comment"]
        for each in given:
            if each.type == "lambda_expression":
                body = each.child_by_field_name("body")
                self.found.pop(body.end_byte, None)
                self.add(node, body, "given", True)
        if given:
            self.read_last(given[-1])

    def read_last(self, node):
        if node.type == "identifier":
            self.read_variable(node)
        elif node.type == "pointer_expression" and self.text(node).replace(" ", "") == "*this":
            self.given.add(self.class_of(node) or "")
        elif node.type == "call_expression":
            self.given.add(self.last_name(node.child_by_field_name("function")))
        elif node.type == "compound_literal_expression":
            self.given.add(self.last_name(node.child_by_field_name("type")))

    def read_variable(self, node):
        """Looks for the declaration nearest before a use."""
        word, outer = self.text(node), node
        up = node
        while up is not None:
            if up.type in ("function_definition", "lambda_expression"):
                outer = up
            up = up.parent
        best = None
        stack = [outer]
        while stack:
            each = stack.pop()
            if each.start_byte >= node.start_byte:
                continue
            if each.type == "declaration":
                for declared in each.children_by_field_name("declarator"):
                    name = declared
                    while name.type in ("init_declarator", "reference_declarator", "function_declarator"):
                        name = name.child_by_field_name("declarator") or name.named_children[0]
                    if self.text(name) == word and (best is None or each.start_byte > best[0].start_byte):
                        best = each, declared
            stack.extend(each.children)
        if best is None:
            return
        declaration, declared = best
        value = declared.child_by_field_name("value") if declared.type == "init_declarator" else None
        if value is not None and value.type == "lambda_expression":
            self.add(declaration, value.child_by_field_name("body"), "variable given", True)
            return
        kind = self.last_name(declaration.child_by_field_name("type"))
        if kind != "auto":
            self.given.add(kind)
        elif value is not None and value.type in ("call_expression", "compound_literal_expression"):
            self.given.add(self.last_name(value.child_by_field_name("function" if value.type == "call_expression" else "type")))


class Sycl:
    name = crawled = "sycl"
    include = [f"**/*{ending}" for ending in ENDINGS]

    @staticmethod
    def is_row(row):
        return row["dsl"] == "sycl" and row["path"].endswith(ENDINGS)

    def find(self, repository):
        return self.find_in(kernel_forms.read_sources(repository, ENDINGS))

    def find_in(self, texts):
        """The truth of {path: text}."""
        truth = Truth()
        for path, data in texts.items():
            if not any(marker in data for marker in MARKERS):
                continue
            text = data.decode("utf-8", "replace")
            if CUDA.search(COMMENT.sub(lambda each: each[1] or " ", text)):
                continue
            text = c_functions.without_excluded(text)
            by_tokens, by_grammar = Tokens(text).run(), Grammar(text).run()
            both = {(each.start, each.end) for each in by_grammar}
            by_grammar += [each for each in by_tokens if (each.start, each.end) not in both and self.is_so_alone(text, each)]
            first, second = ({self.place(path, text, each): each for each in found} for found in (by_tokens, by_grammar))
            for place in first.keys() & second.keys():
                if is_even(text[first[place].start:first[place].end]):
                    truth.kernels[place] = "", first[place].how, "given"
                else:
                    truth.undecided[place] = "a conditional opens more braces than it closes"
            for place in first.keys() ^ second.keys():
                truth.undecided[place] = f"the readers differ: {'tokens' if place in first else 'grammar'} {(first.get(place) or second.get(place)).how}"
        return truth

    @staticmethod
    def is_so_alone(text, found):
        """Says whether the grammar, which macros elsewhere confuse, reads a kernel so by itself."""
        before, behind = ("void f() {", ");}") if found.inner else ("", "")
        alone = Grammar(before + text[found.start:found.end] + behind).run()
        return any((each.start, each.end) == (len(before), len(before) + found.end - found.start) for each in alone)

    @staticmethod
    def place(path, text, found):
        return path, len(LINE_END.findall(text, 0, found.start)) + 1, len(LINE_END.findall(text, 0, found.end)) + 1


LANGUAGE = Sycl()
TUNED = ("zjin-lcf/HeCBench", "ggml-org/ggml")
HELD_OUT = ("oneapi-src/oneAPI-samples", "vllm-project/vllm-xpu-kernels", "intel/torch-xpu-ops", "codeplaysoftware/portBLAS", "UoB-HPC/BabelStream")
