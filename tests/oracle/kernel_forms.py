#!/usr/bin/env python3
"""Every function of a source that a maker of kernels touches, by CPython's own parser.

usage: kernel_forms.py REPOSITORY LEDGER.jsonl [NAME]
REPOSITORY is a git repository, read at HEAD; NAME is the ledger's `repository`. Prints how many
functions the oracle and the ledger have, precision and recall, and each difference.

A maker is Triton's or Gluon's jit, or Pallas's pallas_call and the like: by its own name, or by a name that
leads to it through imports, assignments, functions, classes, choices and other files. A module that the
source lacks is taken at its word (`from vllm.triton_utils import triton`). A function counts if a decorator
leads to a maker, or if one is called with it: also one of another file, or one that a call returns. A
function that speaks another kernel language, and none of these, does not count. The rules are written by hand
and share no code with kernelmill's extractor: where both are wrong, they are so for different reasons.
"""
import ast
import collections
import json
import os
import subprocess
import sys

TRITON = {"jit", "runtime.jit", "runtime.jit.jit", "runtime.jit.JITFunction", "runtime.JITFunction", "JITFunction"}
PALLAS = {"pallas_call", "emit_pipeline", "emit_pipeline_with_allocations", "emit_pipeline_warp_specialized"}
PALLAS_OWN = PALLAS | {"core_map", "kernel"}
LIBRARIES = {"torch", "numba", "jax", "functools", "numpy", "typing", "warp", "taichi", "tilelang", "cutlass"}
IMPORTERS = {"import_module", "importorskip", "__import__", "LazyLoader", "LazyImport", "optional_import"}
OTHER_LANGUAGES = {"neuronxcc", "nki", "cutlass", "tilelang", "taichi", "warp"}
FUNCTION_ARGUMENTS = ("fn", "kernel", "body", "f", "func")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEPTH = 60
WORDS = (b"triton", b"gluon", b"pallas", b"jit", b"tl.", b"emit_pipeline")


def read_sources(repository, suffixes=(".py",)):
    """{path: text} of the files of HEAD that have one of these suffixes."""
    git = ["git", "-C", repository]
    here = dict(os.environ, GIT_NO_LAZY_FETCH="1")  # a blob that a partial clone lacks is left out
    listed = subprocess.run(git + ["ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True, env=here).stdout
    wanted = []
    for line in filter(None, listed.split(b"\0")):
        meta, path = line.split(b"\t", 1)
        mode, kind, blob = meta.split()
        if kind == b"blob" and mode != b"120000" and path.decode("utf-8", "replace").endswith(suffixes):
            wanted.append((blob, path.decode("utf-8", "replace")))
    asked = b"".join(blob + b"\n" for blob, _ in wanted)
    answer = subprocess.run(git + ["cat-file", "--batch"], input=asked, capture_output=True, env=here).stdout
    texts, at = {}, 0
    for _, path in wanted:
        end = answer.index(b"\n", at)
        head = answer[at:end].split()
        if len(head) < 3:
            at = end + 1
            continue
        size = int(head[2])
        texts[path] = answer[end + 1:end + 1 + size]
        at = end + 2 + size
    return texts


def dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class Module:
    """The scopes of a file: what each binds, and the scope around each node."""

    def __init__(self, path, text):
        self.path = path
        self.tree = ast.parse(text)
        self.scope_of, self.bound, self.parent = {}, collections.defaultdict(list), {}
        self.stars = []
        self._visit(self.tree, self.tree)
        self.own, self.by_name = collections.defaultdict(list), collections.defaultdict(list)
        for (scope, name), values in self.bound.items():
            self.by_name[name] += [(scope, v) for v in values]
            if name.startswith("self."):
                self.own[name] += [(scope, v) for v in values]

    def _visit(self, node, scope):
        for child in ast.iter_child_nodes(node):
            self.parent[child] = node
            inside = scope
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                outer = getattr(node, "decorator_list", []) + node.args.defaults + node.args.kw_defaults
                inside = scope if child in outer else node
            elif isinstance(node, ast.ClassDef):
                inside = scope if child in node.decorator_list + node.bases else node
            self.scope_of[child] = inside
            self._bind(child, inside)
            self._visit(child, inside)

    def _bind(self, node, scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.bound[scope, node.name].append(node)
        elif isinstance(node, ast.Import):
            for item in node.names:
                top = item.name.split(".")[0]
                self.bound[scope, item.asname or top].append(("import", 0, item.name if item.asname else top, ""))
        elif isinstance(node, ast.ImportFrom):
            for item in node.names:
                if item.name == "*":
                    self.stars.append((node.level, node.module or ""))
                else:
                    self.bound[scope, item.asname or item.name].append(
                        ("import", node.level, node.module or "", item.name))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if dotted(target):
                    self.bound[scope, dotted(target)].append(node.value)
        elif isinstance(node, ast.NamedExpr):
            self.bound[scope, node.target.id].append(node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    self.bound[scope, name.id].append(("loop", node.iter))
        elif isinstance(node, ast.arg):
            self.bound[scope, node.arg].append(("parameter",))

    def values(self, name, at):
        scope = self.scope_of.get(at, self.tree)
        first = scope
        while True:
            if (scope, name) in self.bound and (scope is first or not isinstance(scope, ast.ClassDef)):
                return self.bound[scope, name]
            if scope is self.tree:
                return []
            scope = self.scope_of[scope]

    def around(self, node, kind):
        while node is not None and not isinstance(node, kind):
            node = self.parent.get(node)
        return node


class Oracle:
    def __init__(self, texts):
        self.texts, self.modules, self.unparsed = texts, {}, set()
        self.by_tail = collections.defaultdict(list)
        for path in texts:
            parts = path[:-3].split("/")
            if parts[-1] == "__init__":
                parts.pop()
            for start in range(len(parts)):
                self.by_tail[".".join(parts[start:])].append(path)
        self.cache, self.seen, self.applied, self.spoken, self.meant = {}, {}, {}, {}, {}
        self.home, self.takes, self.members = {}, {}, {}

    def module(self, path):
        """A file, parsed when it is first asked for; None if it cannot be."""
        if path not in self.modules:
            try:
                self.modules[path] = module = Module(path, self.texts[path])
                self.home.update((node, module) for node in module.scope_of if isinstance(node, FUNCTIONS))
            except (SyntaxError, ValueError, RecursionError):
                self.modules[path] = None
                self.unparsed.add(path)
        return self.modules[path]

    def find_file(self, importer, level, module):
        """The path of a module of the source; None if it has none or several."""
        if level:
            folder = importer.split("/")[:-level]
            if len(folder) < 0:
                return None
            base = "/".join(folder + (module.split(".") if module else []))
            for path in (base + ".py", (base + "/" if base else "") + "__init__.py"):
                if path in self.texts:
                    return path
            return None
        if not module or module.split(".")[0] in LIBRARIES | {"triton"}:
            return None
        found = list(self.by_tail.get(module, []))
        if len(found) > 1:
            common = lambda p: len([1 for a, b in zip(p.split("/"), importer.split("/")) if a == b])
            found.sort(key=common, reverse=True)
        return found[0] if found else None

    @staticmethod
    def own(name):
        """The DSL of a maker's own dotted name."""
        if name.startswith("triton.experimental.gluon."):
            return {"gluon"} if name.rsplit(".", 1)[1] == "jit" else set()
        if name.startswith("triton.") and name[7:] in TRITON:
            return {"triton"}
        if name.startswith(("jax.experimental.pallas.", "jax._src.pallas.")) and ".ops." not in name:
            return {"pallas"} if name.rsplit(".", 1)[1] in PALLAS_OWN else set()
        return set()

    def said(self, name, speaks):
        """The DSL that a dotted name of a module outside the source says."""
        parts = name.lstrip(".").split(".")
        last = parts[-1]
        if last in PALLAS and parts[0] != "jax":
            return {"pallas"}
        for word, names in (("triton", TRITON), ("gluon", {"jit"})):
            if word in parts[1:] or (word in parts and name.startswith(".")):
                at = len(parts) - 1 - parts[::-1].index(word)
                if ".".join(parts[at + 1:]) in names:
                    return {word}
        if last == "jit" and parts[0] not in LIBRARIES and len(parts) > 1 and parts[-2] not in LIBRARIES:
            return set(speaks)
        return set()

    def imported(self, path, level, module, rest, speaks, depth):
        """The DSLs of `rest` in a module: of a file of the source, or outside."""
        file = self.find_file(path, level, module)
        head, _, tail = rest.partition(".")
        if file is None:
            deeper = self.find_file(path, level, f"{module}.{head}".strip(".")) if head else None
            if deeper is not None and tail:
                return self.member(deeper, tail, speaks, depth + 1)
            name = f"{module}.{rest}" if module and rest else module or rest
            return self.own(name) if not level and self.own(name) else self.said("." * level + name, speaks)
        if not rest:
            return set()
        found = self.member(file, rest, speaks, depth + 1)
        if not found and tail:
            deeper = self.find_file(path, level, f"{module}.{head}".strip("."))
            found = self.member(deeper, tail, speaks, depth + 1) if deeper else set()
        return found

    def member(self, path, name, speaks, depth):
        module = self.module(path)
        if module is None:
            return set()
        head, _, tail = name.partition(".")
        key = (path, name, tuple(speaks))
        if key in self.cache or depth > DEPTH:
            return self.cache.get(key, set())
        self.cache[key] = set()
        found = set()
        for value in module.bound.get((module.tree, head), []):
            found |= self.value(module, value, tail, speaks, depth + 1)
        if not found and (module.tree, head) not in module.bound:
            for level, star in module.stars:
                found |= self.imported(path, level, star, name, speaks, depth + 1)
        self.cache[key] = found
        return found

    def value(self, module, value, tail, speaks, depth):
        """The DSLs of a bound value, or of its member `tail`."""
        if depth > DEPTH:
            return set()
        if isinstance(value, tuple):
            if value[0] == "import":
                _, level, of, member = value
                rest = ".".join(filter(None, [member, tail]))
                return self.imported(module.path, level, of, rest, speaks, depth + 1)
            if value[0] == "loop":
                return self.expression(module, value[1], speaks, depth + 1)
            return set()
        named = self.module_named(value)
        if named:
            return self.imported(module.path, 0, named, tail, speaks, depth + 1)
        if tail:
            return self.attribute(module, value, tail, speaks, depth + 1)
        if isinstance(value, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.applies(module, value, speaks, depth + 1, True)
        if isinstance(value, ast.ClassDef):
            found = set().union(*(self.expression(module, b, speaks, depth + 1) for b in value.bases), set())
            return found or self.applies(module, value, speaks, depth + 1, False)
        return self.expression(module, value, speaks, depth + 1)

    @staticmethod
    def module_named(value):
        """The module that a call imports by its name, importlib.import_module("triton"); "" for other values."""
        if isinstance(value, ast.Subscript) and dotted(value.value) == "sys.modules":
            return value.slice.value if isinstance(value.slice, ast.Constant) else ""
        if not isinstance(value, ast.Call) or dotted(value.func).split(".")[-1] not in IMPORTERS or not value.args:
            return ""
        first = value.args[0]
        return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""

    def attribute(self, module, value, tail, speaks, depth):
        key = (value, tail, tuple(speaks))
        if key not in self.members:
            self.members[key] = set()
            self.members[key] = self.read_attribute(module, value, tail, speaks, depth)
        return self.members[key]

    def read_attribute(self, module, value, tail, speaks, depth):
        if isinstance(value, ast.Call):
            for keyword in value.keywords:
                if keyword.arg == tail:
                    return self.expression(module, keyword.value, speaks, depth + 1)
            of = [v for v in module.values(dotted(value.func), value) if isinstance(v, ast.ClassDef)]
            return set().union(*(self.attribute(module, v, tail, speaks, depth + 1) for v in of), set())
        if isinstance(value, ast.ClassDef):
            members = module.bound.get((value, tail), []) + [
                v for scope, v in module.own.get("self." + tail, []) if module.around(scope, ast.ClassDef) is value]
            if not members and depth < DEPTH:
                bases = [b for base in value.bases for b in module.values(dotted(base), value)]
                return set().union(*(self.attribute(module, b, tail, speaks, depth + 1) for b in bases
                                     if isinstance(b, ast.ClassDef) and b is not value), set())
            return set().union(*(self.value(module, v, "", speaks, depth + 1) for v in members), set())
        name = dotted(value)
        if not name:
            return set()
        return self.name(module, f"{name}.{tail}", value, speaks, depth + 1)

    def name(self, module, name, at, speaks, depth):
        if self.own(name) and not module.values(name.split(".")[0], at):
            return self.own(name)
        whole = module.values(name, at) if "." in name else []
        head, _, tail = name.partition(".")
        if head in ("self", "cls"):
            of = module.around(at, ast.ClassDef)
            return self.attribute(module, of, tail, speaks, depth + 1) if of is not None else set()
        values = module.values(head, at)
        if values and all(v == ("parameter",) for v in values):
            # A module that functions hand to one another by the name under which one of them imports it.
            values = [v for _, v in module.by_name[head] if isinstance(v, tuple) and v[0] == "import"] or values
        found = set()
        for value in values:
            found |= self.value(module, value, tail, speaks, depth + 1)
        for value in whole:
            found |= self.value(module, value, "", speaks, depth + 1)
        if not values:
            for level, star in module.stars:
                found |= self.imported(module.path, level, star, name, speaks, depth + 1)
        return found

    def expression(self, module, node, speaks, depth):
        """The DSLs that an expression makes kernels of, if it is called with a function."""
        if depth > DEPTH or node is None:
            return set()
        key = (node, tuple(speaks))
        if key not in self.seen:
            self.seen[key] = set()  # for the time of the search, so that a circle ends
            self.seen[key] = self.read(module, node, speaks, depth)
        return self.seen[key]

    def read(self, module, node, speaks, depth):
        again = lambda each: self.expression(module, each, speaks, depth + 1)
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = dotted(node)
            if name:
                return self.name(module, name, node, speaks, depth + 1)
            return self.attribute(module, node.value, node.attr, speaks, depth + 1) if isinstance(
                node, ast.Attribute) else set()
        if isinstance(node, ast.IfExp):
            return again(node.body) | again(node.orelse)
        if isinstance(node, ast.BoolOp):
            return set().union(*map(again, node.values))
        if isinstance(node, ast.Lambda):
            return self.applies(module, node, speaks, depth + 1, True)
        if isinstance(node, ast.Subscript):
            return again(node.value)
        if isinstance(node, ast.Dict):
            return set().union(*map(again, node.values), set())
        if isinstance(node, (ast.List, ast.Tuple)):
            return set().union(*map(again, node.elts), set())
        if not isinstance(node, ast.Call):
            return set()
        if dotted(node.func) == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            return self.name(module, f"{dotted(node.args[0])}.{node.args[1].value}", node.args[0], speaks, depth + 1)
        made = again(node.func)
        argument = self.argument(node)
        given = isinstance(argument, ast.Name) and ("parameter",) in module.values(argument.id, argument)
        if made and (self.functions(module, argument) or given and dotted(node.func).split(".")[-1] in PALLAS):
            return set()  # a kernel, no maker
        if not made and dotted(node.func).split(".")[-1] not in ("wraps", "update_wrapper"):
            made = set().union(*(again(a) for a in node.args if not isinstance(a, (ast.List, ast.Tuple, ast.Dict))), set())
        return made

    def applies(self, module, node, speaks, depth, returned):
        """The DSLs whose makers a function or class applies to a parameter, or returns."""
        if depth > DEPTH:
            return set()
        key = (node, tuple(speaks), returned)
        if key not in self.applied:
            self.applied[key] = set()
            self.applied[key] = self.read_applied(module, node, speaks, depth, returned)
        return self.applied[key]

    def read_applied(self, module, node, speaks, depth, returned):
        found = set()
        parameters = {a.arg for f in ast.walk(node) if isinstance(f, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef))
                      for a in f.args.args + f.args.kwonlyargs + f.args.posonlyargs
                      + [x for x in (f.args.vararg,) if x]}
        bodies = [n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
        if isinstance(node, ast.Lambda):
            bodies = [node.body]
        scanned = bodies if returned else [node]
        names = {n.id for b in bodies for n in ast.walk(b) if isinstance(n, ast.Name)}
        if returned:
            scanned = scanned + [v for n in sorted(names) for s, v in module.by_name[n]
                                 if (s is node or module.scope_of.get(s) is node) and isinstance(v, ast.AST)
                                 and not isinstance(v, (ast.FunctionDef, ast.ClassDef))]
        for root in scanned:
            for call in (n for n in ast.walk(root) if isinstance(n, ast.Call)):
                argument = self.argument(call)
                if isinstance(argument, ast.Starred):
                    argument = argument.value
                if isinstance(argument, ast.Call) and dotted(argument.func).endswith("partial"):
                    argument = self.argument(argument)
                names = [argument] + call.args + [k.value for k in call.keywords]
                if isinstance(argument, ast.Name) and argument.id in parameters or any(
                        isinstance(n, ast.Name) and n.id in parameters for n in names):
                    made = self.expression(module, call.func, speaks, depth + 1)
                    argument = self.given(module, call)
                    if isinstance(argument, ast.Call) and dotted(argument.func).endswith("partial"):
                        argument = self.argument(argument)
                    if isinstance(argument, ast.Starred):
                        argument = argument.value
                    if made and isinstance(argument, ast.Name) and argument.id in parameters:
                        self.takes.setdefault(node, argument.id)
                        found |= made
        for body in bodies if returned else []:
            if not isinstance(body, ast.Call) or not self.functions(module, self.argument(body)):
                found |= self.expression(module, body, speaks, depth + 1)
        return found

    def given(self, module, call):
        """The argument that the called maker makes a kernel of."""
        for made in self.called(module, call.func):
            own = [a.arg for a in made.args.posonlyargs + made.args.args]
            own = own[1:] if own[:1] in (["self"], ["cls"]) else own
            name = self.takes.get(made)
            if name not in own + [a.arg for a in made.args.kwonlyargs]:
                continue
            passed = [k.value for k in call.keywords if k.arg == name]
            place = own.index(name) if name in own else len(call.args)
            if place < len(call.args):
                passed.append(call.args[place])
            return passed[0] if passed else None
        return self.argument(call)

    def called(self, module, node):
        """The functions of the file that a name or a member that is called may be."""
        if isinstance(node, ast.Name):
            return [v for v in module.values(node.id, node) if isinstance(v, FUNCTIONS)]
        if isinstance(node, ast.Attribute):
            return [f for f in self.functions(module, node) if isinstance(f, FUNCTIONS)]
        return []

    @staticmethod
    def argument(call):
        if call.args:
            return call.args[0]
        return next((k.value for k in call.keywords if k.arg in FUNCTION_ARGUMENTS), None)

    def functions(self, module, node, depth=0):
        """The functions of the file that an expression may mean."""
        if node is None or depth > DEPTH:
            return []
        if node not in self.meant:
            self.meant[node] = []
            self.meant[node] = self.read_functions(module, node, depth)
        return self.meant[node]

    def read_functions(self, module, node, depth):
        again = lambda each: self.functions(module, each, depth + 1)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return [node]
        if isinstance(node, ast.Name):
            values = module.values(node.id, node)
            own = [v for v in values if isinstance(v, (ast.FunctionDef, ast.AsyncFunctionDef))]
            if own:
                above = [f for f in own if f.lineno <= node.lineno]
                return above[-1:] or own[:1]
            default = self.default(module, node) if ("parameter",) in values else None
            return [f for v in values if not isinstance(v, (tuple, ast.ClassDef)) for f in again(v)] + [
                f for v in values if isinstance(v, tuple) and v[0] == "loop" for f in self.elements(module, v[1], depth)] + [
                f for v in values if isinstance(v, tuple) and v[0] == "import" for f in self.elsewhere(module, v[1:])] + (
                again(default) if default is not None else [])
        if isinstance(node, ast.Attribute):
            of = module.around(node, ast.ClassDef) if dotted(node.value) in ("self", "cls") else None
            classes = [of] if of is not None else [
                v for v in module.values(dotted(node.value), node) if isinstance(v, ast.ClassDef)]
            own = [f for c in classes for v in module.bound.get((c, node.attr), []) if isinstance(v, ast.FunctionDef)
                   for f in [v]]
            imports = [v for v in module.values(dotted(node.value), node) if isinstance(v, tuple) and v[0] == "import"]
            return own + [f for _, level, of, member in imports for f in self.elsewhere(
                module, (level, f"{of}.{member}".strip(".") if member else of, node.attr))]
        if isinstance(node, ast.IfExp):
            return again(node.body) + again(node.orelse)
        if isinstance(node, ast.Lambda) and isinstance(node.body, ast.Call):
            return again(node.body.func)
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1].lower() in ("partial", "p"):
            return again(self.argument(node))
        if isinstance(node, ast.Call):
            called = self.called(module, node.func)
            library = [v[2] for v in module.values(dotted(node.func).split(".")[0], node) if isinstance(v, tuple) and v[0] == "import"]
            if not called and any(name.split(".")[0] in LIBRARIES for name in library):
                return again(self.argument(node))  # jax.jit(body)
            returns = [n.value for f in called for n in ast.walk(f) if isinstance(n, ast.Return) and n.value is not None
                       and module.around(module.parent.get(n), FUNCTIONS + (ast.Lambda,)) is f]
            return [f for value in returns for f in again(value)]
        return []

    def elsewhere(self, module, imported):
        """The function of another file of the source that an import means."""
        level, of, member = imported
        file = self.find_file(module.path, level, of) if member else None
        other = self.module(file) if file else None
        return [v for v in other.bound.get((other.tree, member), []) if isinstance(v, FUNCTIONS)][-1:] if other else []

    @staticmethod
    def default(module, node):
        """The default of the parameter that a name is."""
        function = module.around(node, FUNCTIONS + (ast.Lambda,))
        while function is not None:
            arguments = function.args
            places = (arguments.posonlyargs + arguments.args)[::-1]
            pairs = list(zip(places, arguments.defaults[::-1])) + list(zip(arguments.kwonlyargs, arguments.kw_defaults))
            for parameter, value in pairs:
                if parameter.arg == node.id:
                    return value
            function = module.around(module.parent.get(function), FUNCTIONS + (ast.Lambda,))
        return None

    def functions_given(self, module, call):
        """The functions that a call may make kernels of. A maker of the file must be read before its parameter is known."""
        if call.args or call.keywords:
            self.expression(module, call.func, [], 0)
        return self.functions(module, self.given(module, call))

    def elements(self, module, node, depth):
        return [f for n in ast.walk(node) if isinstance(n, ast.Name) for f in self.functions(module, n, depth + 1)]

    def speaks(self, module, function):
        """Triton's languages that a function calls, by the name that the file has for them."""
        if function in self.spoken:
            return self.spoken[function]
        words = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                words.add(node.value.id)
        spoken = ["gluon"] if words & {"gl", "ttgl"} else ["triton"] if "tl" in words else []
        return self.spoken.setdefault(function, spoken)

    def is_foreign(self, module, function):
        """Returns whether a function calls another kernel language, and none of Triton's."""
        words = {n.value.id for n in ast.walk(function) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
        imports = [v for w in words for v in module.values(w, function) if isinstance(v, tuple) and v[0] == "import"]
        return not self.speaks(module, function) and any(v[2].split(".")[0] in OTHER_LANGUAGES for v in imports)

    def kernels(self):
        """{(path, first line, last line): (name, DSLs)}"""
        found = {}
        for path, text in self.texts.items():
            module = self.module(path) if any(word in text for word in WORDS) else None
            if module is None:
                continue
            for node in ast.walk(module.tree):
                touched = []
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    touched = [(node, d) for d in node.decorator_list]
                elif isinstance(node, ast.Call):
                    if dotted(node.func) == "map" and len(node.args) == 2:
                        touched = [(f, node.args[0]) for f in self.elements(module, node.args[1], 0)]
                    else:
                        touched = [(f, node.func) for f in self.functions_given(module, node)]
                for function, maker in touched:
                    home = self.home[function]
                    dsls = self.expression(module, maker, self.speaks(home, function), 0)
                    if not dsls or self.is_foreign(home, function):
                        continue
                    first = min([function.lineno] + [d.lineno for d in function.decorator_list])
                    found[home.path, first, function.end_lineno] = (function.name, dsls)
        return found


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    sys.setrecursionlimit(10000)
    name = sys.argv[3] if len(sys.argv) == 4 else None
    oracle = Oracle(read_sources(sys.argv[1]))
    truth = oracle.kernels()
    ledger = {}
    with open(sys.argv[2], encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            python = row["path"].endswith(".py") and row["form"] not in ("string", "template") and row["dsl"] != "cuda"
            if (name is None or row["repository"] == name) and python and row["path"] not in oracle.unparsed:
                ledger[row["path"], row["first_line"], row["last_line"]] = row
    both = truth.keys() & ledger.keys()
    precision = len(both) / len(ledger) if ledger else 1.0
    recall = len(both) / len(truth) if truth else 1.0
    print(f"{name or sys.argv[1]}: oracle {len(truth)}, ledger {len(ledger)}, precision {precision:.4f}, "
          f"recall {recall:.4f}, unparsed files {len(oracle.unparsed)}")
    for key in sorted(truth.keys() - both):
        print(f"  missing: {key[0]}:{key[1]}-{key[2]} {truth[key][0]} {'/'.join(sorted(truth[key][1]))}")
    for key in sorted(ledger.keys() - both):
        print(f"  extra: {key[0]}:{key[1]}-{key[2]} {ledger[key]['dsl']} {ledger[key]['form']}")
    return 0 if truth.keys() == ledger.keys() else 1


if __name__ == "__main__":
    sys.exit(main())
