"""Child L: turns a kernel into Triton's IR, as text, by Triton's own frontend.

It never runs the module: it has the module's text, and of the process that ran it (frontend.py) only plain data. So nothing that
a module does while it is loaded reaches the compiler here, and guard.py keeps the kernel's text from doing so.
"""
import ast
import json
import os
import re
import sys

from triton._C.libtriton import ir
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.compiler.errors import CompilationError

from kernelmill_harness import device, frontend, guard, loading, messages, plain
from kernelmill_harness.loading import Refused


REPR_BYTES = 4000


def parse_type(text):
    """Returns a type as Triton takes it: "(*fp32, i32)" becomes a tuple."""
    return tuple(text[1:-1].split(", ")) if text.startswith("(") else text


def make_source(kernel, attempt, values, gluon):
    """Returns Triton's source object for a kernel with a try's signature and the values of its constexprs."""
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
    return kind(kernel, signature, constexprs, attributes)


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
    """The first line of each of the module's functions, to turn Triton's line numbers into the module's."""

    def __init__(self, functions):
        self.first = {}
        for function in functions:
            source = "".join(function.raw_src)
            before = re.search(r"^[ \t]*def\s", source, re.MULTILINE)
            skipped = source[:before.start()].count("\n") if before else 0
            self.first[function.src] = function.starting_line_number + skipped

    def find(self, error):
        """Returns the innermost line of the module that an error of the frontend names, and the outermost, the kernel's."""
        named = [self.first[link.src] + getattr(link.node, "lineno", 1) - 1
                 for link in loading.chain(error) if isinstance(link, CompilationError) and link.src in self.first]
        return (named[-1], named[0]) if named else (0, 0)


class Loader:
    """The process that loaded the module, which runs constexpr functions for this one."""

    def __init__(self, channel, log):
        self._channel, self._requests, self._log = channel, channel.requests(), log
        self.builder = None

    def call(self, place, args, kwargs):
        describer = plain.Describer(self.builder.places())
        call = [place, [describer.describe(each) for each in args], {name: describer.describe(each) for name, each in kwargs.items()}]
        if describer.lossy:
            self._log.append("the module's own Python gets a value that the compiler does not hand out")
            raise plain.Touched(self._log[-1])
        self._channel.answer(json.dumps({"call": call}).encode())
        said = json.loads(next(self._requests))
        if "value" not in said:
            raise RuntimeError(str(said.get("message")))
        try:
            return self.builder.build(said["value"])
        except plain.Unusable as error:
            self._log.append(str(error))
            raise


def frontend_ir(loader, job, target, attempt, data, log):
    """Returns the answer of a try: its IR, and its constexprs as Python writes them."""
    begin, lines = messages.diagnostics_end(), None
    try:
        loader.builder = builder = plain.Builder(job["module"], data, loader.call, log)
        kernel = builder.kernel(job["function"], job["source"], data["kernel"])
        values = {name: builder.build(value) for name, value in data["constexprs"]}
        lines = Lines(builder.functions())
        text = lower(make_source(kernel, attempt, values, job["gluon"]), attempt, target)
    except Refused:
        raise
    except plain.Unusable as error:
        raise Refused("sandbox", f"the module gave no usable data: {error}") from None
    except Exception as error:  # pylint: disable=broad-except
        places = lines.find(error) if lines else (0, 0)
        if log:
            raise Refused("sandbox", log[0], *places) from None
        message = messages.diagnostic(frontend.said(error), begin)
        raise Refused(loading.find_stage(error, "frontend"), message, *places) from None
    return {"ir": text, "constexprs": [[name, messages.clean(repr(value), REPR_BYTES)] for name, value in values.items()]}


def main(channel, job, target, attempt, data):
    """Answers with the try's IR, or the reason why it has none, after {"call"} for each constexpr function that it needs."""
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with
    frontend.prepare(job["module"], target)
    log = []
    guard.install(log)
    try:
        answer = frontend_ir(Loader(channel, log), job, target, attempt, data, log)
    except Refused as refused:
        answer = refused.row()
    channel.answer(json.dumps(answer).encode())
