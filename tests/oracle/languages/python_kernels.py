"""The functions of a repository that a language of Python makes kernels, by CPython's own parser.

A language names its makers: what decorates a function, or is called with one. A decorator counts if the file's
imports lead to a maker: also under another name, through `import *`, a called maker, functools.partial, an
assignment, or a function of the file that returns a maker. Imports are followed through the repository's files.
A wrapper that another file defines is not decided: its functions are listed apart.

It shares no code with kernelmill's extractor: where both are wrong, they are so for different reasons.
"""
import ast
import collections
import dataclasses

from kernel_forms import FUNCTIONS, dotted, read_sources

DECORATED, WRAPPED, ELSEWHERE = range(3)  # how far a name is from its maker
DEPTH = 40
IMPORTERS = {"import_module", "importorskip", "__import__"}
GIVEN = ("fn", "func", "function", "f", "kernel", "pyfunc", "py_func")


@dataclasses.dataclass
class Truth:
    """An oracle's answer for a repository; a key is (path, first line, last line)."""
    kernels: dict = dataclasses.field(default_factory=dict)    # key: (name, maker, how it was found)
    undecided: dict = dataclasses.field(default_factory=dict)  # key: why
    unparsed: set = dataclasses.field(default_factory=set)     # paths


@dataclasses.dataclass(frozen=True)
class Imported:
    """Something that a file imports: a dotted name below the package `level` folders up."""
    path: str
    level: int
    name: str

    def member(self, rest):
        return dataclasses.replace(self, name=f"{self.name}.{rest}".strip("."))


@dataclasses.dataclass(frozen=True)
class Defined:
    """A function or class of a file, or an expression that a name of it is assigned."""
    module: 'File'
    node: ast.AST


class File:
    """A parsed file: its functions and calls, the scope around each expression, and what each scope binds."""

    def __init__(self, path, text):
        self.path, self.tree = path, ast.parse(text)
        self.scope_of, self.bound, self.stars = {}, collections.defaultdict(list), []
        self.members = collections.defaultdict(list)  # values assigned to a member of anything, by the member's name
        self.functions, self.calls, self.returns = [], [], collections.defaultdict(list)
        self.read()

    def read(self):
        stack = [(self.tree, self.tree)]
        while stack:
            node, scope = stack.pop()
            self.scope_of[node] = scope
            self.bind(node, scope)
            outside, inside = [], scope
            if isinstance(node, FUNCTIONS + (ast.Lambda,)):
                outside, inside = [*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults], node
            elif isinstance(node, ast.ClassDef):
                outside, inside = node.decorator_list + node.bases, node
            for name in node._fields:
                value = getattr(node, name, None)
                for child in value if isinstance(value, list) else (value,):
                    if isinstance(child, ast.AST) and not isinstance(child, (ast.expr_context, ast.operator)):
                        stack.append((child, scope if child in outside else inside))
        self.functions.sort(key=lambda node: node.lineno)
        self.calls.sort(key=lambda node: (node.lineno, node.col_offset))

    def bind(self, node, scope):
        """Notes what a node gives a name to."""
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            self.bound[scope, node.name].append(node)
            if not isinstance(node, ast.ClassDef):
                self.functions.append(node)
        elif isinstance(node, ast.Call):
            self.calls.append(node)
        elif isinstance(node, ast.Return):
            self.returns[scope].append(node)
        elif isinstance(node, ast.Import):
            for item in node.names:
                top = item.name.split(".")[0]
                self.bound[scope, item.asname or top].append(("import", 0, item.name if item.asname else top, ""))
        elif isinstance(node, ast.ImportFrom):
            self.stars += [(node.level, node.module or "")] * any(item.name == "*" for item in node.names)
            for item in node.names:
                self.bound[scope, item.asname or item.name].append(("import", node.level, node.module or "", item.name))
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    self.bound[scope, target.id].append(node.value)
                elif isinstance(target, ast.Attribute):
                    self.members[target.attr].append(node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            for each in ast.walk(node.target):
                if isinstance(each, ast.Name):
                    self.bound[scope, each.id].append(("loop", node.iter))
        elif isinstance(node, ast.arg):
            self.bound[scope, node.arg].append(("parameter",))

    def values(self, name, at):
        """The values that a name is bound to in the nearest scope that binds it."""
        first = scope = self.scope_of[at]
        while (scope, name) not in self.bound or isinstance(scope, ast.ClassDef) and scope is not first:
            if scope is self.tree:
                return []
            scope = self.scope_of[scope]
        return self.bound[scope, name]

    def owner(self, name):
        """The function whose parameter a name is; None for another name."""
        scope = self.scope_of[name]
        while scope is not self.tree:
            if (scope, name.id) in self.bound:
                return scope if isinstance(scope, FUNCTIONS) and self.bound[scope, name.id] == [("parameter",)] else None
            scope = self.scope_of[scope]
        return None


class Names:
    """The meaning of expressions in a repository's files, as far as makers are concerned."""

    def __init__(self, texts, makers, below=()):
        self.texts, self.makers, self.below, self.files = texts, makers, below, {}
        self.last = {maker.rsplit(".", 1)[1] for maker in [*makers, *below]}
        self.by_tail = collections.defaultdict(list)
        for path in texts:
            parts = path[:-3].removesuffix("/__init__").split("/")
            for start in range(len(parts)):
                self.by_tail[".".join(parts[start:])].append(path)
        self.known = {}

    def once(self, key, empty, read):
        """The result of `read`, computed once; `empty` while it is being computed."""
        if key not in self.known:
            self.known[key] = empty
            self.known[key] = read()
        return self.known[key]

    def file(self, path):
        """A file, parsed; None if it cannot be."""
        if path not in self.files:
            try:
                self.files[path] = File(path, self.texts[path])
            except (SyntaxError, ValueError, RecursionError):
                self.files[path] = None
        return self.files[path]

    def find_file(self, importer, level, module):
        """The path of a module of the repository; None if it has none. The nearest of several counts."""
        if level:
            base = "/".join(importer.split("/")[:-level] + module.split(".") * bool(module))
            return next((path for path in (base + ".py", (base + "/__init__.py").lstrip("/")) if path in self.texts), None)
        near = lambda path: len([1 for mine, other in zip(path.split("/"), importer.split("/")) if mine == other])
        return max(self.by_tail.get(module, []), key=near, default=None)

    def leads(self, module, node, depth=0):
        """{maker: how far} of an expression."""
        return {} if depth > DEPTH else self.once(("leads", node), {}, lambda: self.read(module, node, depth + 1))

    def read(self, module, node, depth):
        if isinstance(node, ast.Call):
            return self.read_call(module, node, depth)
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            choices = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
            return nearest(self.leads(module, each, depth) for each in choices)
        if isinstance(node, ast.Lambda):
            return further(self.leads(module, node.body, depth), WRAPPED)
        return nearest(further(self.made(value, depth), far) for value, far in self.meanings(module, node, depth))

    def read_call(self, module, node, depth):
        name = dotted(node.func).rsplit(".", 1)[-1]
        if name == "partial" and node.args:
            return further(self.leads(module, node.args[0], depth), WRAPPED)
        if name == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            found = [each for value, far in self.meanings(module, node.args[0], depth)
                     for each in self.member(value, str(node.args[1].value), far, depth)]
            return nearest(further(self.made(value, depth), WRAPPED) for value, _ in found)
        values = [value for each in node.args for value, _ in self.meanings(module, each, depth)]
        if any(isinstance(value, Defined) and isinstance(value.node, FUNCTIONS) for value in values):
            return {}  # a kernel already, and no maker
        return self.leads(module, node.func, depth)

    def made(self, value, depth):
        """The makers that a name of outside, or a function, leads to."""
        return self.once(("made", value), {}, lambda: self.read_made(value, depth))

    def read_made(self, value, depth):
        if isinstance(value, Imported):
            own = self.own(value)
            return {own: DECORATED} if own else nearest(
                further(self.made(found, depth + 1), max(far, WRAPPED if isinstance(found, Imported) else ELSEWHERE))
                for found, far in self.elsewhere(value, depth))
        if depth > DEPTH or isinstance(value.node, ast.ClassDef):
            return {}
        if not isinstance(value.node, FUNCTIONS):
            return further(self.leads(value.module, value.node, depth + 1), WRAPPED)
        returns = [each.value for each in value.module.returns[value.node] if each.value is not None]
        return further(nearest(self.leads(value.module, each, depth + 1) for each in returns), WRAPPED)

    def own(self, value):
        """The maker that an imported name is: by its full name, or for a relative import by its end."""
        name = value.name
        if value.level:  # the repository has the language's own package
            name = "." + ".".join([*value.path.split("/")[:-value.level], name])
        for maker in self.makers:
            if name == maker or value.level and name.endswith("." + maker):
                return maker
        for maker in self.below:
            module, last = maker.rsplit(".", 1)
            if name.endswith("." + last) and (name.startswith(module + ".") or value.level and f".{module}." in name):
                return maker
        return None

    def meanings(self, module, node, depth):
        """[(Imported or Defined, how far)] of a name or a member."""
        return [] if depth > DEPTH else self.once(("means", node), [], lambda: self.read_meanings(module, node, depth + 1))

    def read_meanings(self, module, node, depth):
        if isinstance(node, ast.Name):
            values = module.values(node.id, node)
            found = [each for value in values for each in self.value(module, value, depth + 1)]
            return found if values else [(Imported(module.path, level, star).member(node.id), DECORATED)
                                         for level, star in module.stars]
        if isinstance(node, ast.Attribute) and dotted(node.value) in ("self", "cls"):
            around = module.scope_of[node]
            while around is not module.tree and not isinstance(around, ast.ClassDef):
                around = module.scope_of[around]
            return [each for value in module.bound.get((around, node.attr), ()) for each in self.value(module, value, depth + 1)]
        if isinstance(node, ast.Attribute):
            return [each for value, far in self.meanings(module, node.value, depth + 1)
                    for each in self.member(value, node.attr, far, depth + 1)]
        if isinstance(node, ast.Call) and dotted(node.func).rsplit(".", 1)[-1] in IMPORTERS:
            if node.args and isinstance(node.args[0], ast.Constant):
                return [(Imported(module.path, 0, str(node.args[0].value)), WRAPPED)]
        return []

    def value(self, module, value, depth):
        """The meanings of what a name is bound to."""
        if isinstance(value, tuple):
            if value[0] != "import":
                return []
            _, level, of, member = value
            imported = Imported(module.path, level, of)
            return [(imported.member(member) if member else imported, DECORATED)]
        if isinstance(value, FUNCTIONS + (ast.ClassDef,)):
            return [(Defined(module, value), DECORATED)]
        found = [(each, max(far, WRAPPED)) for each, far in self.meanings(module, value, depth)]
        if not found and isinstance(value, (ast.Call, ast.IfExp, ast.BoolOp, ast.Lambda)):
            return [(Defined(module, value), WRAPPED)]
        return found

    def member(self, value, name, far, depth):
        if isinstance(value, Imported):
            return [(value.member(name), far)]
        return [(each, max(away, WRAPPED)) for bound in value.module.bound.get((value.node, name), [])
                for each, away in self.value(value.module, bound, depth + 1)]

    def elsewhere(self, value, depth):
        """The meanings of an imported name in the repository's own files."""
        return [] if depth > DEPTH else self.once(value, [], lambda: self.read_elsewhere(value, depth + 1))

    def read_elsewhere(self, value, depth):
        parts = value.name.split(".")
        for end in range(len(parts) - 1, -1, -1):
            if not end and not value.level:
                break
            path = self.find_file(value.path, value.level, ".".join(parts[:end]))
            module = self.file(path) if path and path != value.path else None
            if module is None:
                continue
            bound = module.bound.get((module.tree, parts[end]), [])
            found = [each for each_bound in bound for each in self.value(module, each_bound, depth + 1)]
            if not bound:
                found = [(Imported(path, level, star).member(parts[end]), DECORATED) for level, star in module.stars]
            for rest in parts[end + 1:]:
                found = [each for held, far in found for each in self.member(held, rest, far, depth + 1)]
            return found
        return []


def nearest(all_leads):
    found = {}
    for leads in all_leads:
        for maker, far in leads.items():
            found[maker] = min(far, found.get(maker, far))
    return found


def further(leads, far):
    return {maker: max(far, each) for maker, each in leads.items()}


@dataclasses.dataclass
class PythonLanguage:
    """A language whose kernels are functions of Python."""
    name: str
    makers: dict             # module: the names below it that make kernels
    words: tuple             # a file that uses the language holds one of these
    below: dict = dataclasses.field(default_factory=dict)  # module: the names that make kernels below any module within it
    outermost: bool = False  # a kernel within a kernel is a part of it
    written: tuple = ()      # the usual names of makers; one that no import explains is not decided
    about: tuple = ()        # makers that are given another function, which what they decorate is about
    dialect_of: str = ""     # the language that a dialect is crawled as
    uses: tuple = ()         # the modules of a dialect: a function or what it needs must use one ...
    of_itself: tuple = ()    # ... unless its maker is one of these

    def __post_init__(self):
        self.crawled, self.include = self.dialect_of or self.name, ["**/*.py"]
        self.makers = sorted(f"{module}.{each}" for module, names in self.makers.items() for each in names)
        self.below = sorted(f"{module}.{each}" for module, names in self.below.items() for each in names)

    def is_row(self, row):
        """Returns whether a row of a ledger is a kernel that the oracle would see."""
        return row["dsl"] == self.name and row["path"].endswith(".py") and row["form"] not in ("string", "template")

    def find(self, repository):
        return self.find_in(read_sources(repository))

    def find_in(self, texts):
        """The truth of {path: text}."""
        names, truth = Names(texts, self.makers, self.below), Truth()
        for path, text in texts.items():
            if not any(word in text for word in self.words):
                continue
            module = names.file(path)
            if module is None:
                truth.unparsed.add(path)
                continue
            found = self.decorated(names, module) + self.called(names, module) + self.applied(names, module)
            for home, node, maker, how in sorted(found, key=lambda each: each[3] == "undecided"):
                if self.uses and maker not in self.of_itself and not self.is_of_dialect(names, home, node):
                    continue
                place = (home.path, min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno)
                if how != "undecided":
                    truth.kernels.setdefault(place, (node.name, maker, how))
                elif place not in truth.kernels:
                    truth.undecided[place] = f"{node.name}: {maker}"
        if self.outermost:
            truth.kernels = outermost(truth.kernels)
            truth.undecided = {key: why for key, why in truth.undecided.items() if not is_inside(key, truth.kernels)}
        return truth

    def is_of_dialect(self, names, module, definition):
        """Returns whether a function, or something of the repository that it needs, uses a module of the dialect."""
        seen, left = set(), [Defined(module, definition)]
        while left:
            home = left.pop()
            if home not in seen:
                seen.add(home)
                uses, needs = names.once(("needs", home.node), (False, ()), lambda home=home: self.read_needs(names, home))
                if uses:
                    return True
                left += needs
        return False

    def read_needs(self, names, home):
        """(whether a definition itself uses the dialect, the definitions of the repository that it names)"""
        needs = []
        for node in ast.walk(home.node):
            if not isinstance(node, (ast.Name, ast.Attribute)) or isinstance(node.ctx, ast.Store):
                continue
            for value, _ in names.meanings(home.module, node, 0):
                if isinstance(value, Imported) and f"{value.name}.".startswith(tuple(each + "." for each in self.uses)):
                    return True, ()
                held = [value] if isinstance(value, Defined) else [each for each, _ in names.elsewhere(value, 0)]
                needs += [each for each in held if isinstance(each, Defined) and isinstance(each.node, FUNCTIONS + (ast.ClassDef,))]
        return False, needs

    def decorated(self, names, module):
        found = []
        for node in module.functions:
            leads = [self.leads_of(names, module, each) for each in node.decorator_list]
            for far, how in ((DECORATED, "decorated"), (WRAPPED, "wrapped"), (ELSEWHERE, "undecided")):
                makers = sorted(maker for each in leads for maker, away in each.items() if away == far)
                if makers:
                    found.append((module, node, makers[0], how))
                    break
            else:
                said = {dotted(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list} & set(self.written)
                found += [(module, node, each, "undecided") for each in sorted(said)[:1] if not self.known(names, module, node, each)]
        return found

    def leads_of(self, names, module, decorator):
        """The makers that a decorator leads to. One of those in `about` decorates whatever function it is given."""
        if isinstance(decorator, ast.Call):
            leads = names.leads(module, decorator.func)
            if leads.keys() & set(self.about):
                return leads
        return names.leads(module, decorator)

    @staticmethod
    def known(names, module, node, said):
        """Returns whether it is known what a name is: something of the file, or of a package outside the repository."""
        values = module.values(said.split(".")[0], node)
        return bool(values) and all(not isinstance(value, tuple) or value[0] == "import" and not value[1]
                                    and not names.by_tail.get(value[2]) for value in values)

    def called(self, names, module):
        found = []
        for node in module.calls:
            if self.is_far(names, module, node.func) or not may_be_function(module, given(node)):
                continue
            leads = names.leads(module, node.func)
            for home, function in self.functions(names, module, given(node), 0) if leads else ():
                far = min(leads.values())
                found.append((home, function, min(leads), "undecided" if far == ELSEWHERE else "called"))
        return found

    def applied(self, names, module):
        """The functions that are given to a function of the file which makes a kernel of its parameter: not decided."""
        appliers, known = {}, -1
        while known != len(appliers):
            known = len(appliers)
            for node in module.calls:
                for argument, maker in self.made_of(names, module, node, appliers):
                    owner = module.owner(argument) if isinstance(argument, ast.Name) else None
                    if owner is not None:
                        appliers[owner, argument.id] = maker
        return [(home, function, maker, "undecided") for node in module.calls
                for argument, maker in self.made_of(names, module, node, appliers) if not names.leads(module, node.func)
                for home, function in self.functions(names, module, argument, 0)]

    def made_of(self, names, module, call, appliers):
        """[(argument, maker)] of a call that makes kernels of arguments."""
        if not call.args and not call.keywords or self.is_far(names, module, call.func):
            return []
        leads = names.leads(module, call.func)
        if leads:
            return [(given(call), min(leads))]
        called = [value.node for value, _ in names.meanings(module, call.func, 0) if isinstance(value, Defined)] if appliers else ()
        return [(argument, appliers[function, name]) for function in called if isinstance(function, FUNCTIONS)
                for name, argument in passed(function, call) if (function, name) in appliers]

    @staticmethod
    def is_far(names, module, node):
        """Returns whether a called name is imported, and does not look like a maker; such a one is not looked for in other files."""
        name = dotted(node)
        values = module.values(name.split(".")[0], node) if name else ()
        imported = bool(values) and all(isinstance(value, tuple) and value[0] == "import" for value in values)
        return imported and not any(each in name.rsplit(".", 1)[-1].lower() for each in names.last)

    def functions(self, names, module, node, depth):
        """[(module, function)] that an expression may be."""
        if node is None or depth > DEPTH:
            return []
        return names.once(("functions", node), [], lambda: self.read_functions(names, module, node, depth + 1))

    def read_functions(self, names, module, node, depth):
        if isinstance(node, ast.Call) and dotted(node.func).endswith("partial"):
            return self.functions(names, module, given(node), depth + 1)
        if isinstance(node, ast.IfExp):
            return [each for choice in (node.body, node.orelse) for each in self.functions(names, module, choice, depth + 1)]
        if isinstance(node, ast.Subscript):  # an element of a table
            return [each for element in self.elements(module, node.value) for each in self.functions(names, module, element, depth + 1)]
        if isinstance(node, ast.Call):  # a function may return one
            makers = [value for value, _ in names.meanings(module, node.func, 0) if isinstance(value, Defined)]
            return [each for value in makers for back in value.module.returns[value.node] if back.value is not None
                    for each in self.functions(names, value.module, back.value, depth + 1)]
        values = module.values(node.id, node) if isinstance(node, ast.Name) else ()
        held = [element for value in values if isinstance(value, tuple) and value[0] == "loop" for element in self.elements(module, value[1])]
        held += [value for value in values if isinstance(value, (ast.Name, ast.IfExp, ast.Subscript))]
        if held:
            return [each for value in held for each in self.functions(names, module, value, depth + 1)]
        found = [value for value, _ in names.meanings(module, node, 0)]
        if not found and isinstance(node, ast.Attribute):  # a member of an object
            return [each for value in module.members[node.attr] for each in self.functions(names, module, value, depth + 1)]
        own = [value.node for value in found if isinstance(value, Defined) and isinstance(value.node, FUNCTIONS)]
        above = [each for each in own if each.lineno <= node.lineno]
        return [(module, each) for each in above[-1:] or own[:1]] + [
            (value.module, value.node) for imported in found if isinstance(imported, Imported)
            for value, _ in names.elsewhere(imported, 0) if isinstance(value, Defined) and isinstance(value.node, FUNCTIONS)]

    @staticmethod
    def elements(module, node):
        """The names within what a loop goes over, or within the list that it names."""
        held = [node] if not isinstance(node, ast.Name) else module.values(node.id, node)
        return [each for value in held if isinstance(value, (ast.List, ast.Tuple, ast.Set, ast.Dict))
                for each in ast.walk(value) if isinstance(each, (ast.Name, ast.Attribute))]


def given(call):
    """The function that a call of a maker is given."""
    named = [each.value for each in call.keywords if each.arg in GIVEN]
    return named[0] if named else call.args[0] if call.args else None


def may_be_function(module, node):
    """Returns whether an argument may be a function; most are not."""
    if isinstance(node, ast.Name):
        return any(not isinstance(value, (ast.Constant, ast.JoinedStr)) and value != ("parameter",) for value in module.values(node.id, node))
    return isinstance(node, (ast.Attribute, ast.Call, ast.IfExp, ast.Subscript))


def passed(function, call):
    """[(parameter, argument)] of a call of a function or method."""
    names = [each.arg for each in function.args.posonlyargs + function.args.args]
    bound = isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"])
    return list(zip(names[bound:], call.args)) + [(each.arg, each.value) for each in call.keywords]


def is_inside(key, kernels):
    path, first, last = key
    return any(of == path and begin <= first and last <= end and (begin, end) != (first, last) for of, begin, end in kernels)


def outermost(kernels):
    by_path = collections.defaultdict(list)
    for key in kernels:
        by_path[key[0]].append(key)
    return {key: value for key, value in kernels.items() if not is_inside(key, by_path[key[0]])}
