"""Finds the modules that a module's import statements need, by its text alone."""
import ast
import sys

# A self-contained module may import these; the extractor has the same rule.
INSTALLED = {"triton", "torch", "jax", "jaxlib", "packaging"} | set(sys.stdlib_module_names)
# Packages that come with one that the module imports.
COMES_WITH = {"jax": {"numpy"}}
TAKES_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def installed(module):
    return module.split(".")[0] in INSTALLED


def loaded_by(node):
    """Returns the modules that an import statement loads; relative ones with their dots."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return ["." * node.level + (node.module or "")] if isinstance(node, ast.ImportFrom) else []


def walk_all(nodes):
    return [inner for node in nodes for inner in ast.walk(node)]


def guards(node):
    """Checks whether a `try` goes on when an import in it fails."""
    names = {name.id for handler in node.handlers if handler.type for name in ast.walk(handler.type) if isinstance(name, ast.Name)}
    takes = any(handler.type is None for handler in node.handlers) or names & TAKES_IMPORT_ERRORS
    return takes and not any(isinstance(inner, ast.Raise) for inner in walk_all(node.handlers))


def modules_of(tree):
    """Yields the modules that a tree must load: in a `try` no imports that may fail and none of a handler that never runs."""
    yield from loaded_by(tree)
    parts = list(ast.iter_child_nodes(tree))
    if isinstance(tree, ast.Try) and guards(tree):
        imports = [node for node in walk_all(tree.body) if isinstance(node, (ast.Import, ast.ImportFrom))]
        absent = any(not installed(module) for node in imports for module in loaded_by(node))
        if absent:
            parts = tree.handlers + tree.orelse + tree.finalbody
        elif imports and all(isinstance(node, ast.Import) for node in imports):
            parts = tree.body + tree.orelse + tree.finalbody
    for part in parts:
        yield from modules_of(part)


def loads_files(tree):
    """Checks whether a statement of the module loads files beside it by names that it computes."""
    for statement in tree.body:
        words = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(statement)}
        if "spec_from_file_location" in words or {"import_module", "__file__"} <= words:
            return True
    return False
