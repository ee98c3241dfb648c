"""Keeps a kernel's text within Triton's languages while the frontend compiles it.

Triton's frontend is an interpreter of Python for all that is known when it compiles: a kernel could reach `exec` through a module
that Triton's modules import, and change the compiler that judges it. So attributes lead to no other module and to no special
method, and only functions of Triton's languages, of the module's text, and of plain values are called.
"""
import ast
import math
import types

from triton.compiler.code_generator import CodeGenerator
from triton.language import core
from triton.runtime.jit import JITCallable

from kernelmill_harness import absent, plain

_TYPES = (bool, int, float, str, tuple, list, range, slice)
_UNCHANGING = (bool, int, float, str, tuple, range, slice, type(None))  # no method of theirs changes anything


class Forbidden(Exception):
    """A kernel reached for something that is no part of Triton's languages."""


def install(log):
    """Guards this process for good. `log` gets a line for each thing that is forbidden."""
    visit_attribute, call_function, visit_with = CodeGenerator.visit_Attribute, CodeGenerator.call_Function, CodeGenerator.visit_With

    def forbid(what):
        log.append(f"the kernel uses {what}, which is no part of Triton's languages")
        raise Forbidden(log[-1])

    def admit(value):
        inner = value.value if isinstance(value, core.constexpr) else value
        if isinstance(inner, types.ModuleType) and not plain.is_module(inner.__name__) and not absent.is_absent(inner):
            forbid(f"the module {inner.__name__}")
        return value

    def check_name(name):
        if name.startswith("__"):
            forbid(name)

    def visit_Attribute(self, node):
        check_name(node.attr)
        return admit(visit_attribute(self, node))

    def guarded_getattr(value, name, *default):
        check_name(str.__str__(name))
        return admit(getattr(value, name, *default))

    def check_call(self, fn):
        if not _may_call(fn, self):
            forbid(getattr(fn, "__qualname__", None) or type(fn).__name__)

    def call_Function(self, node, fn, args, kws):
        check_call(self, fn)
        return call_function(self, node, fn, args, kws)

    def visit_With(self, node):
        # It calls its functions itself.
        for item in node.items:
            if isinstance(item.context_expr, ast.Call):
                check_call(self, self.visit(item.context_expr.func))
        return visit_with(self, node)

    guarded_getattr.__name__ = "getattr"
    CodeGenerator.visit_Attribute, CodeGenerator.call_Function, CodeGenerator.visit_With = visit_Attribute, call_Function, visit_With
    CodeGenerator.builtin_namespace = {**CodeGenerator.builtin_namespace, "getattr": guarded_getattr}


def _may_call(fn, generator):
    if isinstance(fn, (JITCallable, plain.Opaque, plain.RemoteFunction)) or type(fn).__name__ == "BoundJITMethod":
        return True
    if any(fn is each for each in generator.builtin_namespace.values()):
        return True
    receiver = getattr(fn, "__self__", None)
    if receiver is not None and not isinstance(receiver, types.ModuleType):
        kind = receiver if isinstance(receiver, type) else type(receiver)
        return kind in _UNCHANGING or plain.is_language(kind.__module__)
    if isinstance(fn, type):
        return fn in _TYPES or plain.is_language(fn.__module__)
    if receiver is math:
        return True
    return plain.is_language(getattr(fn, "__module__", None))
