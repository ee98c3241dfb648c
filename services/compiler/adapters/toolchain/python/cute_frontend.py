"""Child A of CuTe DSL's toolchains: loads an untrusted module, and turns its kernel into PTX by the DSL's own compiler.

A kernel takes layouts and copy atoms that only its launcher makes. So a try compiles the launcher with stand-ins for its tensors and
numbers, or the kernel itself, if it takes nothing else. All answers are untrusted, since the module's code runs in the same process.
"""
import functools
import linecache
import math
import os
import re
import sys
import typing

import cutlass
import cutlass.cute as cute
import cutlass.pipeline
import cutlass.utils
from cuda.bindings import driver
from cuda.bindings import runtime as cudart
from cutlass.cute import runtime
from cutlass.cute.nvgpu import cpasync, tcgen05, warp, warpgroup
from cutlass.cutlass_dsl.cutlass import CuTeDSL, CuteExperimentalDSL
from cutlass.utils import blackwell_helpers, hopper_helpers

from kernelmill_harness import loading, messages
from kernelmill_harness.loading import Refused


# As nvcc is told for kernels that are built for one architecture alone; see nvrtc.py.
ARCHITECTURES = {"cuda:80": "80", "cuda:90": "90a", "cuda:100": "100a"}
ENTRY = "kernel_cutlass_"  # the begin of a kernel's name in PTX
HOST_FILE = "launcher.py"  # not a real file, as loading.FILE
INIT = "__init__."  # before the names of a constructor's parameters
KERNEL = "kernel"  # the start of a try without a launcher
BLOCK = 128  # threads of a kernel without its launcher
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
TENSOR = re.compile(r"tensor<(\w+)\[([^\]]*)\]>")
USUAL = {
    "cutlass": cutlass, "cute": cute, "const_expr": cutlass.const_expr, "cuda": driver, "cuda_driver": driver, "cuda_drv": driver,
    "cuda_runtime": cudart, "utils": cutlass.utils, "pipeline": cutlass.pipeline, "sm90_utils": hopper_helpers, "sm100_utils": blackwell_helpers,
    "cpasync": cpasync, "tcgen05": tcgen05, "warp": warp, "warpgroup": warpgroup, "Optional": typing.Optional, "Tuple": typing.Tuple,
    "Type": typing.Type, "Union": typing.Union, "partial": functools.partial, "math": math,
    **{name: getattr(cutlass, name) for name in ("Int32", "Int64", "Float32", "Float16", "BFloat16", "Boolean")},
}
NUMBERS = {
    "fp64": cutlass.Float64, "fp32": cutlass.Float32, "fp16": cutlass.Float16, "bf16": cutlass.BFloat16, "fp8e4nv": cutlass.Float8E4M3FN,
    "fp8e5": cutlass.Float8E5M2, "i64": cutlass.Int64, "i32": cutlass.Int32, "i16": cutlass.Int16, "i8": cutlass.Int8, "u64": cutlass.Uint64,
    "u32": cutlass.Uint32, "u16": cutlass.Uint16, "u8": cutlass.Uint8, "i1": cutlass.Boolean,
}


def stand_in(text):
    """Returns an argument of a type: "tensor<fp16[?, 8]>", "*fp16", "i32", "stream" or "none". A tensor is compact, its last dimension
    the innermost, and aligned as one that torch has made."""
    tensor = TENSOR.fullmatch(text)
    if tensor is not None:
        sizes = [each.strip() for each in tensor[2].split(",") if each.strip()]
        shape = tuple(cute.sym_int(divisibility=8) if size == "?" else int(size) for size in sizes)
        return runtime.make_fake_compact_tensor(NUMBERS[tensor[1]], shape, stride_order=tuple(reversed(range(len(shape)))), assumed_align=16)
    if text.startswith("*"):
        return runtime.make_ptr(NUMBERS[text[1:]], 16, cute.AddressSpace.gmem, assumed_align=16)
    if text in ("stream", "none"):
        return driver.CUstream(0) if text == "stream" else None
    return NUMBERS[text](1)


def values(attempt, namespace):
    """Returns the try's arguments by name."""
    known = {}
    for name, expression in attempt["constexprs"]:
        try:
            known[name] = eval(expression, {"cutlass": cutlass, "cute": cute, **namespace})  # pylint: disable=eval-used
        except Exception as error:
            raise Refused("frontend", f"no value for {name}: {messages.format_exception(error)}") from None
    known.update({name: stand_in(text) for name, text, _ in attempt["types"]})
    return known


def define(text, namespace):
    """Runs text of a launcher as a part of the module, whose own names it may use, and the names that packages usually have."""
    for name, value in USUAL.items():
        namespace.setdefault(name, value)
    linecache.cache[HOST_FILE] = (len(text), None, text.splitlines(True), HOST_FILE)
    exec(compile(text, HOST_FILE, "exec"), namespace)  # pylint: disable=exec-used


def find(namespace, path):
    value = namespace.get(path[0])
    for name in path[1:]:
        value = getattr(value, name, None)
    return value


def launcher(job, path, given, namespace):
    """Returns what is compiled: the launcher, of a method's class with an object of it."""
    constructed = {name.removeprefix(INIT): value for name, value in given.items() if name.startswith(INIT)}
    if len(path) > 1:
        return getattr(find(namespace, path[:-1])(**constructed), path[-1])
    if path[0] not in namespace:
        define(job["launcher"], namespace)
    return namespace[path[0]]


def wrapper(job, attempt, namespace):
    """Returns a launcher that starts the kernel alone."""
    name, names = job["function"], [name for name, _, _ in attempt["types"]] + [name for name, _ in attempt["constexprs"]]
    types = [f"{each}: _km_cutlass.Constexpr" for each, _ in attempt["constexprs"]]
    typed = ", ".join([each for each, _, _ in attempt["types"]] + types)
    given = ", ".join(f"{each}={each}" for each in names)
    namespace.update(_km_cutlass=cutlass, _km_cute=cute)
    define(f"@_km_cute.jit\ndef _km_host({typed}):\n    {name}({given}).launch(grid=[1, 1, 1], block=[{BLOCK}, 1, 1])\n", namespace)
    return namespace["_km_host"]


def ptx(job, attempt, namespace):
    """Returns the PTX of a try and the kernel's name in it."""
    path = job["function"].split(".")
    if not callable(find(namespace, path)):
        raise Refused("frontend", f"{job['function']} is no kernel of the module")
    given = values(attempt, namespace)
    arguments = {name: value for name, value in given.items() if not name.startswith(INIT)}
    start = dict(attempt["options"]).get("entry", KERNEL)
    host = wrapper(job, attempt, namespace) if start == KERNEL else launcher(job, start.split("."), given, namespace)
    text = cute.compile(host, **arguments, options="--keep-ptx", no_jit_engine=True).__ptx__
    entries = re.findall(rf"\.entry ({ENTRY}{re.escape(path[-1])}_\w*)\(", text or "")
    if not entries:
        raise Refused("frontend", f"the launcher does not start {job['function']}")
    return {"ptx": text, "entry": entries[0]}


def refused(error):
    """Returns an error of the DSL without the lines of the source that it shows, and without colours."""
    stage, said = loading.find_stage(error, "frontend"), getattr(error, "message", None)
    if not isinstance(said, str):
        return Refused(stage, messages.format_exception(error), loading.find_line(error))
    cause, line = getattr(error, "cause", None), getattr(error, "line", None)
    said = f"{type(error).__name__}: {said}" + (f": {messages.format_exception(cause)}" if isinstance(cause, Exception) else "")
    known = getattr(error, "filename", None) == loading.FILE and isinstance(line, int)
    return Refused(stage, COLOUR.sub("", said), line if known else loading.find_line(error))


def main(channel, job, target):
    def load():
        for compiler in (CuTeDSL, CuteExperimentalDSL):
            settings = compiler._get_dsl().envar  # pylint: disable=protected-access
            settings.arch, settings.dump_dir = "sm_" + ARCHITECTURES[target], os.getcwd()
        return loading.load(job["module"])

    def begin(namespace):
        def answer(request):
            try:
                return ptx(job, job["tries"][request["try"]], dict(namespace))
            except Refused:
                raise
            except Exception as error:
                raise refused(error) from None
        return answer

    sys.setrecursionlimit(10000)
    loading.serve(channel, load, begin)
