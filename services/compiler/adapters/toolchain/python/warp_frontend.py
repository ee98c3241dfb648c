"""Child A of Warp's toolchains: loads an untrusted module, and turns its kernel into CUDA C++ by Warp's own frontend.

All its answers are untrusted, since the module's code runs in the same process.
"""
import re
import types

import warp as wp
from warp._src import codegen, context
from warp._src.types import type_is_generic

from kernelmill_harness import loading, messages
from kernelmill_harness.loading import FILE, Refused


# Matrix products of tiles in Warp's own code. MathDx makes machine code for one architecture while the module is compiled.
WITHOUT_MATHDX = {"enable_mathdx_gemm": False, "enable_mathdx_solver": False, "enable_mathdx_fft": False}
FLAGS = ("verify_fp", "fast_math", "fuse_fp")  # NVRTC's, which the module chooses
_END_OF_PLACE = "\n;"
_PLACE = re.compile(rf" at {re.escape(FILE)}:(\d+):$", re.MULTILINE)


def find(namespace, name):
    """Returns the kernel of a name: of a generic one its first overload."""
    kernel = namespace.get(name)
    if isinstance(kernel, types.FunctionType):
        kernel = wp.kernel(kernel)
    if not isinstance(kernel, context.Kernel):
        raise Refused("frontend", f"{name} is no kernel of the module")
    if not kernel.is_generic:
        return kernel
    if not kernel.overloads:
        untyped = next((arg.label for arg in kernel.adj.args if type_is_generic(arg.type)), name)
        raise Refused("frontend", f"no type for {untyped}")
    return next(iter(kernel.overloads.values()))


def refused(error):
    """Returns an error of the frontend without the lines of the source that it shows."""
    stage, said = loading.find_stage(error, "frontend"), error.args[0] if error.args else ""
    places = _PLACE.findall(said) if isinstance(said, str) else ()
    if not places:
        return Refused(stage, messages.format_exception(error), loading.find_line(error))
    return Refused(stage, f"{type(error).__name__}: {said.rpartition(_END_OF_PLACE)[2]}", int(places[-1]))


def cuda(kernel, architecture):
    """Returns the C++ of a kernel, the name of its entry, the shared memory that a launch gives it, and NVRTC's flags."""
    module = kernel.module
    module.options["strip_hash"] = True  # names do not depend on what else the module has
    options = {**module.resolve_options(wp.config), **WITHOUT_MATHDX, "output_arch": architecture, "lineinfo": False, "strip_hash": True}
    builder = context.ModuleBuilder(module, options, context.ModuleHasher([kernel], options))
    entry = codegen.cuda_kernel_forward_name(kernel)
    text = builder.codegen("cuda")
    return {"cuda": text, "entry": entry, "shared_bytes": builder.build_meta()[entry + "_smem_bytes"],
            "flags": [name for name in FLAGS if options[name]]}


def main(channel, job, target):
    def begin(namespace):
        def answer(_):
            kernel = find(namespace, job["function"])
            try:
                return cuda(kernel, int(target.partition(":")[2]))
            except Exception as error:
                raise refused(error) from None
        return answer

    loading.serve(channel, lambda: loading.load(job["module"]), begin)
