"""What a module's import statements need to be there, of a module's text alone."""
import ast
import sys

# What a module may import and stand alone: the extractor says the same of it.
INSTALLED = {"triton", "torch", "jax", "jaxlib", "packaging"} | set(sys.stdlib_module_names)
TAKES_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def installed(module):
    return module.split(".")[0] in INSTALLED


def loaded_by(node):
    """What an import statement loads; relative ones with their dots."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return ["." * node.level + (node.module or "")] if isinstance(node, ast.ImportFrom) else []


def walk_all(nodes):
    return [inner for node in nodes for inner in ast.walk(node)]


def guards(node):
    """Whether a `try` goes on where an import in it fails."""
    names = {name.id for handler in node.handlers if handler.type for name in ast.walk(handler.type) if isinstance(name, ast.Name)}
    takes = any(handler.type is None for handler in node.handlers) or names & TAKES_IMPORT_ERRORS
    return takes and not any(isinstance(inner, ast.Raise) for inner in walk_all(node.handlers))


def modules_of(tree):
    """What import statements in it load that have to be there: in a `try` neither those that may fail, nor those of a handler that never runs."""
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
    """Whether a statement of the module loads files of its own place by names that it computes."""
    for statement in tree.body:
        words = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(statement)}
        if "spec_from_file_location" in words or {"import_module", "__file__"} <= words:
            return True
    return False
