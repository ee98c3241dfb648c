"""The code in a model's answer to a task, and whether the kernel in it is one of Triton."""

from __future__ import annotations

import ast
import re

_THINKING = re.compile(r"</(?:think|thinking|thought|reasoning)>")
_FENCE = re.compile(r"^```[ \t]*([\w+-]*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
MOST_CHARACTERS = 1 << 20


def find_code(answer: str, kernel: str) -> str:
    """Returns the last fence that defines the kernel, or all of an answer without fences. Thinking before the answer is dropped, as
    `kernelmill evaluate` does. Empty: the answer has no such code, or is too long."""
    if len(answer) > MOST_CHARACTERS:
        return ""
    text = _THINKING.split(answer)[-1]
    if re.search(r"<(?:think|thinking|thought|reasoning)>", text):
        return ""  # thinking that never ends is no answer
    fences = [code for tag, code in _FENCE.findall(text) if tag.lower() in ("", "py", "python", "python3", "triton")]
    if not fences and "```" in text:
        return ""
    defines = re.compile(rf"^[ \t]*def[ \t]+{re.escape(kernel)}\b", re.MULTILINE)
    return next((code for code in reversed(fences or [text]) if defines.search(code)), "")


def why_no_kernel(code: str, kernel: str) -> str:
    """Returns why the name is no plain kernel of a module, or nothing: one function of the module has it, `triton.jit` decorates the
    function, and nothing else binds the name. An object with the methods of a kernel could compute the results without one."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return "the code does not parse"
    found = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == kernel]
    if len(found) != 1:
        return f"{kernel} must be one function of the module"
    words = [_last_name(each) for each in found[0].decorator_list]
    if not words or words[-1] != "jit" or not set(words) <= {"jit", "autotune", "heuristics"}:
        return f"{kernel} must be decorated by triton.jit, triton.autotune and triton.heuristics only"
    for node in ast.walk(tree):
        if node is not found[0] and kernel in _bound_names(node):
            return f"line {getattr(node, 'lineno', 0)} binds {kernel} again"
    made = {"jit", "autotune", "heuristics", "triton", "tl"}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and made & _bound_names(node):
            return f"line {getattr(node, 'lineno', 0)} binds a name of Triton"
        if isinstance(node, ast.ImportFrom) and any((each.asname or each.name) in made and not (node.module or "").startswith("triton")
                                                    for each in node.names):
            return f"line {node.lineno} imports a name of Triton from elsewhere"
        if isinstance(node, ast.Import) and any(each.asname in made and not each.name.startswith("triton") for each in node.names):
            return f"line {node.lineno} imports a name of Triton from elsewhere"
    return ""


def _last_name(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _bound_names(node: ast.AST) -> set[str]:
    """Returns the names that a node binds by itself."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return {node.id}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(each.asname or each.name).partition(".")[0] for each in node.names}
    if isinstance(node, ast.ExceptHandler) and node.name:
        return {node.name}
    return set()
