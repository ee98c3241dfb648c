"""CUDA in strings of Python: __global__ and __device__ functions within literals that reach a compiler.

From each call of a compiler the values of its arguments are followed back: through names, attributes, members of other files,
concatenations, methods of strings, f-strings and functions of the repository, also through the parameters of a function that
hands them on to a compiler. A literal is verbatim if its bytes are its text: one literal, without escapes and holes. It is plain if its text is
known all the same: escapes, several literals side by side. An f-string is read around its fields. Functions in f-strings
side by side, and in literals that `%`, `.format` and the like change, are not decided. Neither are those in a literal that reaches no
compiler that is known.

Some calls take the body of a kernel alone, and their library writes the head. Such a body is a kernel if it is whole lines of one
literal; it is not decided if it shares a line, is an f-string, or is put together.
"""
import ast
import io
import itertools
import re
import tokenize

from kernel_forms import FUNCTIONS, dotted, read_sources
from languages import c_functions
from languages.python_kernels import Defined, Imported, Names, Truth

# name: the first place among the arguments that may be a source; keywords count all.
COMPILERS = {"load_inline": 1, "RawKernel": 0, "RawModule": 0, "SourceModule": 0, "DynamicSourceModule": 0, "Program": 0, "nvrtcCreateProgram": 0,
             "_compile_kernel": 0, "compile_with_cache": 0, "_compile_module_with_cache": 0, "compile_using_nvrtc": 0, "create_jit_fn": 0}
WORDS = (b"__global__", b"__device__")
# (the package, the function): the place and the keyword of the body
BODIES = {("mlx", "cuda_kernel"): (3, "source"), ("cupy", "ElementwiseKernel"): (2, "operation")}
LITERAL = re.compile(r"(?P<prefix>[rRbBuU]{0,2})(?P<quote>\"\"\"|'''|\"|')(?P<inside>.*)(?P=quote)\Z", re.S)
F_STRING = re.compile(LITERAL.pattern.replace("[rRbBuU]", "[rRfF]"), re.S)
QUOTE = re.compile(r"\"\"\"|\'\'\'|\"|\'")
ESCAPE = re.compile(r"\\(?:\n|N\{[^}]*\}|x..|u.{4}|U.{8}|[0-7]{1,3}|.)", re.S)


class Strings:
    """The literals of a repository that reach a compiler."""

    def __init__(self, texts, compilers, bodies):
        self.names = Names(texts, ())
        self.compilers, self.bodies = compilers, bodies
        self.lines = {}
        self.reached = {}   # (path, Constant): whether it is held as it is
        self.seen = set()
        self.parameters = {}     # (function, parameter): handed on to a compiler, as it is or changed
        self.wrappers = set()    # how code calls these functions

    def files(self):
        files = [self.names.file(path) for path in self.names.texts]
        return [each for each in files if each is not None]

    def follow_all(self):
        files = self.files()
        for file in files:
            for call in file.calls:
                first = self.compilers.get(dotted(call.func).rsplit(".", 1)[-1])
                if first is not None:
                    self.follow_arguments(file, call, first)
        known = None
        while known != self.parameters:  # wrappers of wrappers
            known = dict(self.parameters)
            for file in files:
                for call in file.calls:
                    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
                    if name in self.wrappers:
                        self.follow_wrapper(file, call)

    def follow_arguments(self, file, call, first):
        for each in [*call.args[first:], *(each.value for each in call.keywords)]:
            self.follow(file, each, True)

    def read_bodies(self, truth):
        """Adds the bodies that calls take, to the kernels or to what is not decided."""
        for file in self.files():
            for call in file.calls:
                for (package, function), (place, keyword) in self.bodies.items():
                    if dotted(call.func).rsplit(".", 1)[-1] == function and self.is_of(file, call, package):
                        given = [each.value for each in call.keywords if each.arg == keyword] + call.args[place:place + 1]
                        for each in given[:1]:
                            self.read_body(file, each, function, truth)

    def is_of(self, file, call, package):
        found = [each for each, _ in self.names.meanings(file, call.func, 0) if isinstance(each, Imported)]
        return any(each.name.split(".")[0] == package for each in found)

    def read_body(self, file, given, function, truth):
        self.reached, self.seen = {}, set()
        self.follow(file, given, True)
        filled_in = {part: each for each in ast.walk(file.tree) if isinstance(each, ast.JoinedStr) for part in each.values}
        for path, node in self.reached:
            if node in filled_in:
                around = filled_in[node]
                truth.undecided[path, around.lineno + 1, around.end_lineno - 1] = f"{function}: f-string"
        reached = {key: held for key, held in self.reached.items() if isinstance(key[1], ast.Constant)}
        if len(reached) > 1:
            truth.undecided[file.path, given.lineno, given.end_lineno] = f"{function}: put together"
            return
        for (path, node), as_it_is in reached.items():
            literal = LITERAL.match(self.source(path, node))
            lines = literal["inside"].split("\n") if literal else []
            place = path, node.lineno + 1, node.end_lineno - 1
            if len(lines) < 3 or lines[0].strip() not in ("", "\\") or lines[-1].strip():
                truth.undecided[path, node.lineno, node.end_lineno] = f"{function}: a line is shared"
            elif not as_it_is or literal["quote"] in literal["inside"]:
                truth.undecided[place] = f"{function}: put together"
            elif node not in filled_in:
                truth.kernels[place] = function, "body", "verbatim"

    def follow_wrapper(self, file, call):
        for function in self.called(file, call):
            places = [each.arg for each in function.args.posonlyargs + function.args.args]
            given = dict(zip(places[places[:1] == ["self"]:], call.args))
            given.update({each.arg: each.value for each in call.keywords})
            for name, value in given.items():
                if (function, name) in self.parameters:
                    self.follow(file, value, self.parameters[function, name])

    def called(self, file, call):
        """The functions of the repository that a call calls."""
        found = []
        for value, _ in self.names.meanings(file, call.func, 0):
            for each in [value] if isinstance(value, Defined) else [held for held, _ in self.names.elsewhere(value, 0)]:
                if isinstance(each, Defined) and isinstance(each.node, FUNCTIONS):
                    found.append(each.node)
                elif isinstance(each, Defined) and isinstance(each.node, ast.ClassDef):
                    found += each.module.bound.get((each.node, "__init__"), [])
        if not found and isinstance(call.func, ast.Attribute):  # a method, of any class of the file
            found += [each for each in file.functions if each.name == call.func.attr and isinstance(file.scope_of[each], ast.ClassDef)]
        return [each for each in found if isinstance(each, FUNCTIONS)]

    def follow(self, file, node, held):
        """Follows a value back to its literals; `held` as long as nothing changes its text."""
        if (node, held) in self.seen or node is None:
            return
        self.seen.add((node, held))
        if isinstance(node, ast.Constant):
            if isinstance(node.value, (str, bytes)):
                self.reached[file.path, node] = self.reached.get((file.path, node), False) or held
        elif isinstance(node, ast.JoinedStr):
            self.reached[file.path, node] = self.reached.get((file.path, node), False) or held
            for each in node.values:
                hole = isinstance(each, ast.FormattedValue)
                self.follow(file, each.value if hole else each, hole and held)
        elif isinstance(node, ast.Name):
            self.follow_name(file, node, held)
        elif isinstance(node, ast.Attribute):
            self.follow_attribute(file, node, held)
        elif isinstance(node, ast.Call):
            self.follow_call(file, node, held)
        elif isinstance(node, ast.BinOp):
            self.follow(file, node.left, held and not isinstance(node.op, ast.Mod))
            self.follow(file, node.right, held)
        elif isinstance(node, ast.Subscript):
            self.follow(file, node.value, held)
        elif not isinstance(node, (ast.Compare, ast.Lambda)):
            for each in ast.iter_child_nodes(node):
                if isinstance(each, (ast.expr, ast.comprehension)) and each is not getattr(node, "test", None):
                    self.follow(file, each, held)

    def follow_name(self, file, node, held):
        for value in file.values(node.id, node):
            if value == ("parameter",):
                function = file.scope_of[node]
                while isinstance(function, ast.AST) and (function, node.id) not in file.bound:
                    function = file.scope_of[function]
                if isinstance(function, FUNCTIONS):
                    self.parameters[function, node.id] = self.parameters.get((function, node.id), False) or held
                    around = file.scope_of[function]
                    self.wrappers |= {function.name, *([around.name] if function.name == "__init__" and isinstance(around, ast.ClassDef) else [])}
                    for each in function.args.defaults + function.args.kw_defaults:
                        self.follow(file, each, held)
            elif isinstance(value, tuple):
                for found, _ in self.names.meanings(file, node, 0):
                    if isinstance(found, Imported):
                        self.follow_imported(found, held)
            elif not isinstance(value, FUNCTIONS + (ast.ClassDef,)):
                self.follow(file, value, held)

    def follow_imported(self, imported, held):
        parts = imported.name.split(".")
        path = self.names.find_file(imported.path, imported.level, ".".join(parts[:-1]))
        other = self.names.file(path) if path else None
        for value in other.bound.get((other.tree, parts[-1]), ()) if other else ():
            if isinstance(value, ast.expr):
                self.follow(other, value, held)

    def follow_attribute(self, file, node, held):
        for value in file.members.get(node.attr, ()):
            self.follow(file, value, held)
        for found, _ in self.names.meanings(file, node, 0):
            if isinstance(found, Imported):
                self.follow_imported(found, held)

    def follow_call(self, file, node, held):
        changes = isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "substitute", "safe_substitute", "replace", "render")
        if isinstance(node.func, ast.Attribute):
            self.follow(file, node.func.value, held and not changes)
        for each in [*node.args, *(each.value for each in node.keywords)]:
            self.follow(file, each, held and not dotted(node.func).rsplit(".", 1)[-1] in ("Template", "sub"))
        for found, _ in self.names.meanings(file, node.func, 0):
            values = [found] if isinstance(found, Defined) else [each for each, _ in self.names.elsewhere(found, 0)]
            for value in values:
                if isinstance(value, Defined) and isinstance(value.node, FUNCTIONS):
                    for each in value.module.returns[value.node]:
                        self.follow(value.module, each.value, held)

    def source(self, path, node):
        """A literal as its file has it."""
        if path not in self.lines:
            self.lines[path] = self.names.texts[path].splitlines(keepends=True)
        lines = self.lines[path][node.lineno - 1:node.end_lineno]
        lines[-1] = lines[-1][:node.end_col_offset]
        lines[0] = lines[0][node.col_offset:]
        return b"".join(lines).decode("utf-8", "replace")


class CudaStrings:
    name, crawled, include = "cuda_strings", "cuda", ["**/*.py"]
    compilers, words, bodies = COMPILERS, WORDS, BODIES

    @staticmethod
    def functions(text):
        return c_functions.cuda_functions(text, c_functions.QualifierMacros([text]))

    def is_row(self, row):
        return row["dsl"] == self.crawled and row["path"].endswith(".py")

    def find(self, repository):
        return self.find_in(read_sources(repository))

    def find_in(self, texts):
        """The truth of {path: text}."""
        truth = Truth()
        words = [*self.words, *(name.encode() for name in self.compilers), *(name.encode() for _, name in self.bodies)]
        strings = Strings({path: text for path, text in texts.items() if any(word in text for word in words)}, self.compilers, self.bodies)
        strings.follow_all()
        for path, text in texts.items():
            if not any(word in text for word in self.words):
                continue
            file = strings.names.file(path)
            if file is None:
                truth.unparsed.add(path)
                continue
            f_strings = [each for each in ast.walk(file.tree) if isinstance(each, ast.JoinedStr)]
            inner = {each for around in f_strings for each in ast.walk(around) if each is not around}
            for node in f_strings:
                if node not in inner:  # CPython 3.11 does not know the places of these
                    self.read_f_string(strings, path, node, truth)
            docstrings = {each.value for each in ast.walk(file.tree) if isinstance(each, ast.Expr)}
            holed = {value for each in ast.walk(file.tree) if isinstance(each, ast.JoinedStr) for value in each.values}
            for node in ast.walk(file.tree):
                value = node.value if isinstance(node, ast.Constant) else None
                value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                if isinstance(value, str) and node not in docstrings and node not in holed and any(word.decode() in value for word in self.words):
                    self.read(strings, path, node, value, truth)
        strings.read_bodies(truth)
        return truth

    def read_f_string(self, strings, path, node, truth):
        """The functions in the text around the fields."""
        literal = F_STRING.match(strings.source(path, node))
        text = text_around_fields(literal["inside"]) if literal else None
        if text is None:
            return
        escapes = "" if "r" in literal["prefix"].lower() else "".join(ESCAPE.findall(text))
        text = text.replace("\\\n", " \n").replace("\\\\", " \\") if escapes else text
        lines = list(itertools.accumulate((letter == "\n" for letter in text), initial=node.lineno))
        held = strings.reached.get((path, node))
        why = "reaches no known compiler" if held is None else "changed" if not held else "escapes" if escapes.strip("\\\n") else ""
        self.add(truth, path, node, text, lines, why, "f-string")

    def read(self, strings, path, node, value, truth):
        source, held = strings.source(path, node), strings.reached.get((path, node))
        literal = LITERAL.match(source)
        how = "verbatim" if literal and literal["inside"] == value else "plain"
        why = "reaches no known compiler" if held is None else "" if held else "changed"
        lines = line_of_each(source, node.lineno)
        if len(lines) != len(value):  # bytes with other escapes
            truth.undecided[path, node.lineno, node.end_lineno] = why or "bytes"
            return
        self.add(truth, path, node, value, lines, why, how)

    def add(self, truth, path, node, text, lines, why, how):
        """Adds the functions of a literal's text; `lines` has the line of each letter, `why` why they are not decided."""
        for function in self.functions(text):
            place = path, lines[function.start], lines[function.end - 1]
            if not why and how != "plain" and (place[1] == node.lineno or place[2] == node.end_lineno):
                why = "a line is shared with Python"
            if why or not function.decided:
                truth.undecided[place] = f"{function.name}: {why or 'the readers differ'}"
            else:
                truth.kernels[place] = function.name, "literal", how


def text_around_fields(inside):
    """The text with blanks, or with a name, in the places of an f-string's fields, letter by letter; None if it is broken."""
    text, at = "", 0
    while at < len(inside):
        if inside[at:at + 2] in ("{{", "}}"):
            text += inside[at] + " "
            at += 2
        elif inside[at] == "{":
            end = end_of_field(inside, at)
            if end is None:
                return None
            before, behind = inside[:at].rpartition("\n")[2], inside[end:].partition("\n")[0]
            is_alone = not before.strip() and not behind.strip()
            field = re.sub(r"[^\n]", " ", inside[at:end])
            text += field if is_alone else "x" + field[1:]
            at = end
        else:
            text += inside[at]
            at += 1
    return text


def end_of_field(inside, at):
    depth = 0
    while at < len(inside):
        quote = QUOTE.match(inside, at)
        if quote:
            at = inside.find(quote[0], quote.end())
            if at < 0:
                return None
            at += len(quote[0]) - 1
        depth += {"{": 1, "}": -1}.get(inside[at], 0)
        at += 1
        if not depth:
            return at
    return None


def line_of_each(source, line):
    """The line of each letter of the text that literals side by side mean."""
    lines = []
    for token in tokenize.generate_tokens(io.StringIO(f"(\n{source}\n)").readline):
        literal = LITERAL.match(token.string) if token.type == tokenize.STRING else None
        if literal is None:
            continue
        at, now = 0, line + token.start[0] - 2
        inside = literal["inside"]
        for escape in ESCAPE.finditer("" if "r" in literal["prefix"].lower() else inside):
            for letter in inside[at:escape.start()]:
                lines.append(now)
                now += letter == "\n"
            means = ast.literal_eval(f'"{escape[0]}"') if escape[0] not in ('\\"', "\\\n") else {"\\\n": ""}.get(escape[0], '"')
            lines += [now] * len(means)
            now += escape[0].count("\n")
            at = escape.end()
        for letter in inside[at:]:
            lines.append(now)
            now += letter == "\n"
    return lines


LANGUAGE = CudaStrings()
TUNED = ("ScalingIntelligence/KernelBench", "inducer/pycuda", "cupy/cupy", "gpu-mode/reference-kernels")
HELD_OUT = ("gpu-mode/lectures", "NVIDIA/nvbench", "wzzll123/MultiKernelBench", "microsoft/MInference", "openai/blocksparse", "rapidsai/cuml", "NVIDIA/nvmath-python")
