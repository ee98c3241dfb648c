"""Child A: loads an untrusted module and turns its kernel into Triton's IR, as text, by Triton's own frontend.

All its answers are untrusted, since the module's code runs in the same process.
"""
import ast
import errno
import json
import linecache
import os
import re
import sys
import types

import triton
from triton._C.libtriton import ir
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.compiler.errors import CompilationError
from triton.runtime.jit import JITFunction

from kernelmill_harness import absent, device, messages, sandbox, torch_names


MODULE = "kernel"
FILE = "kernel.py"  # not a real file: its lines are in linecache
REPR_BYTES = 4000
# Attributes in which wrappers keep the wrapped function: Triton's own, functools.wraps, other caches and tracers.
WRAPPED = ("fn", "__wrapped__", "jit_function", "func", "kernel")


class Refused(Exception):
    """The reason why a try has no IR."""

    def __init__(self, stage, message, line=0):
        super().__init__(message)
        self.stage, self.message, self.line = stage, message, line


def load(text, target):
    """Loads the module. Returns its namespace, and raises the module's exceptions."""
    absent.install(text, torch_names.names(target))
    device.pretend(target)
    linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)
    module = types.ModuleType(MODULE)
    module.__file__ = FILE
    sys.modules[MODULE] = module
    exec(compile(text, FILE, "exec"), module.__dict__)  # pylint: disable=exec-used
    return module.__dict__


def find_line(error):
    """Returns the line of the module that an exception comes from, or 0."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno or 0
    line, traceback = 0, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == FILE:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def unwrap(value):
    """Returns the JITFunction under autotuners, heuristics and other wrappers, or None."""
    for _ in range(20):
        if isinstance(value, JITFunction):
            return value
        if absent.is_absent(value):
            return None
        inner = None
        for name in WRAPPED:
            inner = getattr(value, name, None)
            if inner is not None:
                break
        if inner is None:
            return None
        value = inner
    return None


def find(namespace, name, gluon):
    value = namespace.get(name)
    kernel = unwrap(value)
    if kernel is None and isinstance(value, types.FunctionType):
        if gluon:
            from triton.experimental import gluon as language
            return language.jit(value)
        return triton.jit(value)
    if kernel is None:
        raise Refused("frontend", f"{name} is no kernel of the module")
    return kernel


def evaluate(constexprs, namespace):
    """Evaluates a try's expressions to {name: value}. An expression may use the values of others, as `args`, in any order:
    each round evaluates those whose inputs are known, until none is left or none can be evaluated."""
    args, left, reason = {}, list(constexprs), {}
    while left:
        failed = []
        for name, expression in left:
            try:
                value = eval(expression, dict(namespace), {"args": args})  # pylint: disable=eval-used
                args[name] = getattr(value, "value", value) if isinstance(value, triton.language.constexpr) else value
            except Exception as error:  # pylint: disable=broad-except
                failed.append((name, expression))
                reason[name] = messages.format_exception(error)
        if len(failed) == len(left):
            name, expression = failed[0]
            raise Refused("frontend", f"no value for {name} = {expression[:200]}: {reason[name]}")
        left = failed
    return args


def parse_type(text):
    """Returns a type as Triton takes it: "(*fp32, i32)" becomes a tuple."""
    return tuple(text[1:-1].split(", ")) if text.startswith("(") else text


def make_source(kernel, attempt, namespace, gluon):
    """Returns Triton's source object for a kernel with a try's signature, and the values of its constexprs."""
    values = evaluate(attempt["constexprs"], namespace)
    known = {name: (type_, divisible) for name, type_, divisible in attempt["types"]}
    signature, attributes = {}, {}
    for i, name in enumerate(kernel.arg_names):
        if name in values:
            signature[name] = "constexpr"
        elif name in known:
            signature[name], divisible = parse_type(known[name][0]), known[name][1]
            places = [(i, j) for j in range(len(signature[name]))] if isinstance(signature[name], tuple) else [(i,)]
            if divisible:
                attributes.update({place: [["tt.divisibility", 16]] for place in places})
        else:
            raise Refused("frontend", f"neither a type nor a value for {name}")
    kind = ASTSource
    if gluon:
        from triton.experimental.gluon._runtime import GluonASTSource as kind
    constexprs = {(i,): values[name] for i, name in enumerate(kernel.arg_names) if name in values}
    return kind(kernel, signature, constexprs, attributes), values


def read_options(attempt):
    """Returns options as Triton takes them: Python's literals, and words."""
    options = {}
    for name, value in attempt["options"]:
        try:
            options[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[name] = value
    return options


def lower(source, attempt, target):
    """Returns the IR that the frontend makes, the input of the backend's first pass."""
    gpu = device.gpu_target(target)
    backend = make_backend(gpu)
    options = backend.parse_options(dict(read_options(attempt), **source.parse_options()))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source.hash()  # as in triton.compile: it refuses kernels that refer to forbidden globals
    return str(source.make_ir(gpu, options, backend.get_codegen_implementation(options), backend.get_module_map(), context))


class Lines:
    """The first line of each of the module's device functions, to turn Triton's line numbers into the module's."""

    def __init__(self, namespace):
        self.first = {}
        for value in list(namespace.values()):
            try:
                function = unwrap(value)
                if function is None or function.fn.__code__.co_filename != FILE:
                    continue
                before = re.search(r"^[ \t]*def\s", "".join(function.raw_src), re.MULTILINE)
                skipped = "".join(function.raw_src)[:before.start()].count("\n") if before else 0
                self.first[function.src] = function.starting_line_number + skipped
            except Exception:  # pylint: disable=broad-except
                continue

    def find(self, error):
        """Returns the innermost line of the module that an error of the frontend names."""
        line = 0
        for link in chain(error):
            if isinstance(link, CompilationError) and link.src in self.first:
                line = self.first[link.src] + getattr(link.node, "lineno", 1) - 1
        return line or find_line(error)


def chain(error):
    links = []
    while error is not None and len(links) < 50:
        links.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return links


def said(error):
    """Returns the innermost message of an error, without excerpts of the source."""
    message = ""
    for link in chain(error):
        if isinstance(link, CompilationError):
            message = link.error_message or message
        else:
            message = messages.format_exception(link)
    return message or messages.format_exception(error)


def find_stage(error, stage):
    """Returns "sandbox" or "limit" if the sandbox caused the exception, and `stage` otherwise."""
    for link in chain(error):
        if isinstance(link, PermissionError) and sandbox.enforced():
            return "sandbox"
        if isinstance(link, MemoryError) or getattr(link, "errno", 0) in (errno.EFBIG, errno.EMFILE):
            return "limit"
    return stage


def frontend(namespace, lines, kernel, attempt, job, target):
    begin = messages.diagnostics_end()
    try:
        source, values = make_source(kernel, attempt, namespace, job["gluon"])
        text = lower(source, attempt, target)
    except Refused:
        raise
    except Exception as error:  # pylint: disable=broad-except
        message = messages.diagnostic(said(error), begin)
        raise Refused(find_stage(error, "frontend"), message, lines.find(error)) from None
    return {"ir": text, "constexprs": [[name, messages.clean(repr(value), REPR_BYTES)] for name, value in values.items()]}


def main(channel, job, target):
    """Loads the module, then answers each request (the index of a try) with its IR, as objects of JSON."""
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with

    def answer(value):
        channel.answer(json.dumps(value).encode())

    try:
        namespace = load(job["module"], target)
    except BaseException as error:  # pylint: disable=broad-except
        answer({"import": {"ok": False, "stage": find_stage(error, "import"), "line": find_line(error),
                           "error": messages.clean(messages.format_exception(error), messages.IMPORT_BYTES)}})
        return
    answer({"import": {"ok": True}})
    lines = Lines(namespace)
    for request in channel.requests():
        try:
            kernel = find(namespace, job["function"], job["gluon"])
            answer(frontend(namespace, lines, kernel, job["tries"][int(request)], job, target))
        except Refused as refused:
            answer({"stage": refused.stage, "message": messages.clean(refused.message), "line": refused.line})
        except BaseException as error:  # pylint: disable=broad-except
            answer({"stage": "frontend", "message": messages.clean(messages.format_exception(error)), "line": find_line(error)})
