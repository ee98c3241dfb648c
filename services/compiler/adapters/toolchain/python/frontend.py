"""Child A: loads a stranger's module and turns its kernel into Triton's IR, as text, by Triton's own frontend.

All that it says is a stranger's word.
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
FILE = "kernel.py"  # there is no such file: its lines are in linecache
REPR_BYTES = 4000
# Under which wrappers keep the function that they wrap: Triton's own, functools.wraps, others' caches and tracers.
WRAPPED = ("fn", "__wrapped__", "jit_function", "func", "kernel")


class Refused(Exception):
    """What stands between a try and its IR."""

    def __init__(self, stage, message, line=0):
        super().__init__(message)
        self.stage, self.message, self.line = stage, message, line


def load(text, target):
    """The module's namespace. Raises what the module raises."""
    absent.install(text, torch_names.names(target))
    device.pretend(target)
    linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)
    module = types.ModuleType(MODULE)
    module.__file__ = FILE
    sys.modules[MODULE] = module
    exec(compile(text, FILE, "exec"), module.__dict__)  # pylint: disable=exec-used
    return module.__dict__


def line_of(error):
    """The line of the module that an exception comes from; 0: of none."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno or 0
    line, traceback = 0, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == FILE:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def unwrap(value):
    """The JITFunction under autotuners, heuristics and others' wrappers; None: there is none."""
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
    """{name: value} of a try's expressions. One may use the others' values, as `args`."""
    args, left, reason = {}, list(constexprs), {}
    while left:
        failed = []
        for name, expression in left:
            try:
                value = eval(expression, dict(namespace), {"args": args})  # pylint: disable=eval-used
                args[name] = getattr(value, "value", value) if isinstance(value, triton.language.constexpr) else value
            except Exception as error:  # pylint: disable=broad-except
                failed.append((name, expression))
                reason[name] = messages.of_exception(error)
        if len(failed) == len(left):
            name, expression = failed[0]
            raise Refused("frontend", f"no value for {name} = {expression[:200]}: {reason[name]}")
        left = failed
    return args


def type_of(text):
    """A type as Triton takes it: "(*fp32, i32)" is a tuple's."""
    return tuple(text[1:-1].split(", ")) if text.startswith("(") else text


def source_of(kernel, attempt, namespace, gluon):
    """Triton's source object of a kernel as a try calls it, and the values of its constexprs."""
    values = evaluate(attempt["constexprs"], namespace)
    known = {name: (type_, divisible) for name, type_, divisible in attempt["types"]}
    signature, attributes = {}, {}
    for i, name in enumerate(kernel.arg_names):
        if name in values:
            signature[name] = "constexpr"
        elif name in known:
            signature[name], divisible = type_of(known[name][0]), known[name][1]
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


def options_of(attempt):
    """Options as Triton takes them: Python's literals, and words."""
    options = {}
    for name, value in attempt["options"]:
        try:
            options[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[name] = value
    return options


def lower(source, attempt, target):
    """The IR that the frontend makes: what the first pass of the backend takes."""
    gpu = device.gpu_target(target)
    backend = make_backend(gpu)
    options = backend.parse_options(dict(options_of(attempt), **source.parse_options()))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source.hash()  # triton.compile asks for it: here it refuses what kernels may not refer to
    return str(source.make_ir(gpu, options, backend.get_codegen_implementation(options), backend.get_module_map(), context))


class Lines:
    """Where the text of each of the module's device functions begins."""

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

    def of(self, error):
        """The innermost line of the module that a refusal of the frontend names."""
        line = 0
        for link in chain(error):
            if isinstance(link, CompilationError) and link.src in self.first:
                line = self.first[link.src] + getattr(link.node, "lineno", 1) - 1
        return line or line_of(error)


def chain(error):
    links = []
    while error is not None and len(links) < 50:
        links.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return links


def said(error):
    """The innermost message of a refusal, without excerpts of the source."""
    message = ""
    for link in chain(error):
        if isinstance(link, CompilationError):
            message = link.error_message or message
        else:
            message = messages.of_exception(link)
    return message or messages.of_exception(error)


def stage_of(error, stage):
    """`stage`, or that of what the sandbox brought about, if that stands behind an exception."""
    for link in chain(error):
        if isinstance(link, PermissionError) and sandbox.enforced():
            return "sandbox"
        if isinstance(link, MemoryError) or getattr(link, "errno", 0) in (errno.EFBIG, errno.EMFILE):
            return "limit"
    return stage


def frontend(namespace, lines, kernel, attempt, job, target):
    begin = messages.diagnostics_end()
    try:
        source, values = source_of(kernel, attempt, namespace, job["gluon"])
        text = lower(source, attempt, target)
    except Refused:
        raise
    except Exception as error:  # pylint: disable=broad-except
        message = messages.diagnostic(said(error), begin)
        raise Refused(stage_of(error, "frontend"), message, lines.of(error)) from None
    return {"ir": text, "constexprs": [[name, messages.clean(repr(value), REPR_BYTES)] for name, value in values.items()]}


def main(channel, job, target):
    """Loads the module, then answers each request, a try's place, with its IR. Objects of JSON."""
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with

    def answer(value):
        channel.answer(json.dumps(value).encode())

    try:
        namespace = load(job["module"], target)
    except BaseException as error:  # pylint: disable=broad-except
        answer({"import": {"ok": False, "stage": stage_of(error, "import"), "line": line_of(error),
                           "error": messages.clean(messages.of_exception(error), messages.IMPORT_BYTES)}})
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
            answer({"stage": "frontend", "message": messages.clean(messages.of_exception(error)), "line": line_of(error)})
