"""Finds the names that a Python text uses, by CPython's own symbol table: shares no code with the extractor."""
import ast
import builtins
import io
import re
import symtable
import tokenize

BUILTINS = set(dir(builtins)) | {"__file__", "__name__", "__doc__", "__spec__", "__package__", "__class__", "__path__"}
WORD = re.compile(r"[^\W\d]\w*")
MANGLED = re.compile(r"_\w+?(?=__\w)")  # the prefix of a private name in a class; Triton compiles the name as it is written


def _globals_used(table, used):
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
            used.add(symbol.get_name())
    for child in table.get_children():
        _globals_used(child, used)


def _globals_bound(table, bound):
    at_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_assigned() or symbol.is_imported() or (at_module and symbol.is_namespace()):
            if at_module or symbol.is_declared_global():
                bound.add(symbol.get_name())
    for child in table.get_children():
        _globals_bound(child, bound)


def undefined(text):
    """Names that the text reads as globals and that neither it nor Python binds; None where it does not parse."""
    try:
        table = symtable.symtable(text, "text", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return None
    used, bound = set(), set()
    _globals_used(table, used)
    _globals_bound(table, bound)
    return {name for name in used - bound - BUILTINS if MANGLED.sub("", name) not in bound}


def parses(text):
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def imported(text):
    """Names that import statements at module level bind; "*" of a wildcard."""
    names = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    return names


def read_names(text):
    """All names that the text reads anywhere, those in annotations and decorators too."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def comment_words(text):
    """Words of the comments."""
    words = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                words.update(WORD.findall(token.string))
    except (tokenize.TokenError, SyntaxError):
        pass
    return words
