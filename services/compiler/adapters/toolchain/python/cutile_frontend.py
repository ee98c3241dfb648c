"""Child A of cuTile's toolchains: loads an untrusted module, and turns its kernel into TileIR's bytecode by cuTile's own frontend.

All its answers are untrusted, since the module's code runs in the same process.
"""
import base64
import io
import re
import types

import cuda.tile as ct
from cuda.tile import _compile, _preview_loader, compilation
from cuda.tile._execution import kernel as Kernel

from kernelmill_harness import loading, messages
from kernelmill_harness.loading import Refused


LOADED = (_compile, _preview_loader.get_preview_foreign_call_type())  # with what they import: children may load less
BYTECODE_VERSION = "13.4"
ARRAY = re.compile(r"array<(\w+), (\d+)>")
DTYPES = {
    "fp64": ct.float64, "fp32": ct.float32, "fp16": ct.float16, "bf16": ct.bfloat16, "fp8e4nv": ct.float8_e4m3fn, "fp8e5": ct.float8_e5m2,
    "i64": ct.int64, "i32": ct.int32, "i16": ct.int16, "i8": ct.int8, "u64": ct.uint64, "u32": ct.uint32, "u16": ct.uint16, "u8": ct.uint8,
    "i1": ct.bool_,
}


def find(namespace, name):
    kernel = namespace.get(name)
    if isinstance(kernel, types.FunctionType):
        kernel = ct.kernel(kernel)
    if not isinstance(kernel, Kernel):
        raise Refused("frontend", f"{name} is no kernel of the module")
    return kernel


def constraint(text):
    """Returns what is assumed of an argument of a type, "array<fp16, 2>" or "i32": of an array as of one that torch has made."""
    array = ARRAY.fullmatch(text)
    if array is None:
        return compilation.ScalarConstraint(DTYPES[text])
    dimensions = int(array[2])
    return compilation.ArrayConstraint(
        DTYPES[array[1]], dimensions, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False,
        stride_constant=[None] * (dimensions - 1) + [1] if dimensions else [], base_addr_divisible_by=16)


def signature(kernel, name, attempt, namespace):
    known = {argument: constraint(text) for argument, text, _ in attempt["types"]}
    for constant, expression in attempt["constexprs"]:
        try:
            value = eval(expression, dict(namespace))  # pylint: disable=eval-used
        except Exception as error:
            raise Refused("frontend", f"no value for {constant}: {messages.format_exception(error)}") from None
        known[constant] = compilation.ConstantConstraint(value)
    code = kernel._pyfunc.__code__  # pylint: disable=protected-access
    parameters = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    return compilation.KernelSignature([known[each] for each in parameters], compilation.CallingConvention.cutile_python_v1(), symbol=name)


def refused(error):
    """Returns an error of the frontend without the lines of the source that it shows, for which it opens the module's file."""
    stage = loading.find_stage(error, "frontend")
    if not isinstance(error, ct.TileError):
        return Refused(stage, messages.format_exception(error), loading.find_line(error))
    lines, place = [], error.loc
    while place is not None:  # from a helper out to the kernel
        lines.append(place.line)
        place = place.call_site
    return Refused(stage, f"{type(error).__name__}: {error.message}", lines[0], lines[-1])


def tile_ir(kernel, name, attempt, namespace, target):
    """Returns the bytecode of a try, and the level at which the kernel asks to be optimised."""
    file = io.BytesIO()
    architecture = "sm_" + target.partition(":")[2]
    compilation.export_kernel(kernel, [signature(kernel, name, attempt, namespace)], file, gpu_code=architecture,
                              output_format="tileir_bytecode", bytecode_version=BYTECODE_VERSION)
    level = kernel._compiler_options.opt_level_for_target(architecture)  # pylint: disable=protected-access
    return {"bytecode": base64.b64encode(file.getvalue()).decode(), "level": level}


def main(channel, job, target):
    def begin(namespace):
        def answer(request):
            kernel = find(namespace, job["function"])
            try:
                return tile_ir(kernel, job["function"], job["tries"][request["try"]], namespace, target)
            except Refused:
                raise
            except Exception as error:
                raise refused(error) from None
        return answer

    loading.serve(channel, lambda: loading.load(job["module"]), begin)
