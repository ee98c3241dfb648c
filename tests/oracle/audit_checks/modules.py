"""The field module: would it load where Triton and torch are installed?"""
import ast
import re
import textwrap

from needed_imports import COMES_WITH, installed, modules_of

from .dataset import check, place_of
from .names import parses, undefined

BLOAT = 20


def _tree(record):
    try:
        return ast.parse(record["module"])
    except (SyntaxError, ValueError):
        return None


def _module_level_method(record):
    tree = _tree(record)
    for node in tree.body if tree else []:
        for decorator in getattr(node, "decorator_list", []) if isinstance(node, ast.FunctionDef) else []:
            if isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod"):
                return node.name
    return None


def _named(record):
    """Names that the record says are missing, their first parts."""
    names = list(record["free_names"]) + [entry["name"] for entry in record.get("unresolved_names", [])]
    return {name.split(".")[0] for name in names}


def _undefined(record):
    names = undefined(record["module"])
    return ", ".join(sorted(names - _named(record))) if names else None


def _foreign_imports(record):
    tree = _tree(record)
    if tree is None:
        return "does not parse"
    modules = list(modules_of(tree))
    extra = {root for name in modules for root in COMES_WITH.get(name.split(".")[0], ())}
    extra |= {(record["dialect"] or {}).get("name")}  # the package that the row's dialect requires
    return next((name for name in modules if not installed(name) and name.split(".")[0] not in extra), None)


def _falsely_alone(record):
    if not record["self_contained"]:
        return None
    if record["free_names"] or record.get("unresolved_names"):
        return "names are missing"
    return _foreign_imports(record)


def _no_reason(record):
    reasons = record.get("unresolved_names", record["free_names"])
    return not record["self_contained"] and not reasons and record["checks"]["parses"] == "pass"


def _body(text):
    return [line.strip() for line in textwrap.dedent(text).splitlines() if line.strip()]


def _lacks_kernel(record):
    """Checks whether the module lacks the kernel's own lines, one after another, decorators aside."""
    lines, module = _body(record["source"]), _body(record["module"])
    start = next((i for i, line in enumerate(lines) if re.match(r"(async )?def ", line)), 0)
    wanted = lines[start:]
    return not any(module[i:i + len(wanted)] == wanted for i in range(len(module) - len(wanted) + 1))


DIALECT = re.compile(r"^[ \t]*(?:from|import) (triton_dist\.language|triton\.language\.extra\.(?!cuda|hip|libdevice)\w+|"
                     r"triton\.experimental\.tle)", re.MULTILINE)


def _unsaid_dialect(record):
    """Returns the module of another build of Triton that a module imports, if its row names no dialect."""
    found = DIALECT.search(record["module"])
    return found and not record["dialect"] and record["dsl"] in ("triton", "gluon") and found.group(1)


def checks(dataset):
    rows = dataset.python()
    return [
        check("dialect: imported and not said", rows, _unsaid_dialect, place_of),
        check("module: does not parse, and its kernel does", rows,
              lambda row: row["checks"]["parses"] == "pass" and not parses(row["module"]), place_of),
        check("module: lacks the kernel", rows, _lacks_kernel, place_of),
        check("module: an undefined name is not said", rows, _undefined, place_of),
        check("module: said to stand alone and does not", rows, _falsely_alone, place_of),
        check("module: does not stand alone, without a reason", rows, _no_reason, place_of),
        check("module: @staticmethod at module level", rows, _module_level_method, place_of),
        check("module: carriage returns", rows, lambda row: "\r" in row["module"], place_of),
        check(f"module: over {BLOAT} times its source", rows,
              lambda row: len(row["module"]) > BLOAT * len(row["source"]), place_of, wrong=False),
        check("module: does not stand alone", rows, lambda row: not row["self_contained"], place_of, wrong=False),
    ]
