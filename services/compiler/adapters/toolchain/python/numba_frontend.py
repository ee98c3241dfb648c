"""Child A of numba-cuda's toolchains: loads an untrusted module, and turns its kernel into PTX by numba-cuda's own compiler.

All its answers are untrusted, since the module's code runs in the same process.
"""
import re
import types as python_types
import warnings

import numba
import numpy
from numba import cuda
from numba.core import errors
from numba.cuda import decorators, dispatcher, types

from kernelmill_harness import loading, messages
from kernelmill_harness.loading import Refused


ENTRY = re.compile(r"\.entry (\w+)\(")
LOADED = cuda.compile(lambda x: x, (types.float32,), cc=(9, 0))  # loads the compiler and its libraries: children may load less
_PLACE = re.compile(rf'File "{re.escape(loading.FILE)}", line (\d+)')


class Device:
    """The GPU of a target, for which functions that kernels call are compiled."""

    def __init__(self, capability):
        self.compute_capability = capability


def settle(capability):
    """Lets decorators with signatures keep them, where numba-cuda compiles for the machine's GPU, and none keep code in files. Returns
    {id of a kernel: signatures}."""
    kept = {}

    def keep(kernel, signature):
        kept.setdefault(id(kernel), []).append(signature)

    dispatcher.CUDADispatcher.compile = keep
    dispatcher.CUDADispatcher.enable_caching = dispatcher.CUDADispatcher.disable_compile = lambda *_: None
    decorators._have_nvjitlink = lambda: True  # pylint: disable=protected-access
    dispatcher.get_current_device = lambda: Device(capability)
    return kept


def find(namespace, name):
    kernel = namespace.get(name)
    if isinstance(kernel, python_types.FunctionType):
        kernel = cuda.jit(kernel)
    if not isinstance(kernel, dispatcher.CUDADispatcher):
        raise Refused("frontend", f"{name} is no kernel of the module")
    return kernel


def arguments(kernel, kept, attempt, namespace):
    """Returns the types of a try, or of the kernel's own first signature if the try has none."""
    if not attempt["types"] and kept.get(id(kernel)):
        return kept[id(kernel)][0]
    known = {"numpy": numpy, "np": numpy, "numba": numba, "types": types, **vars(types), **namespace}
    made = []
    for name, text, _ in attempt["types"]:
        try:
            made.append(eval(text, known))  # pylint: disable=eval-used
        except Exception as error:
            raise Refused("frontend", f"no value for {name}: {messages.format_exception(error)}") from None
    return tuple(made)


def refused(error):
    """Returns an error of numba without the lines of the source that it shows."""
    stage = loading.find_stage(error, "frontend")
    said = messages.format_exception(error)
    places = _PLACE.findall(said)
    lines = [line for line in said.splitlines() if line.strip()]
    told = next((i for i, line in enumerate(lines) if line.startswith("File ")), len(lines))
    return Refused(stage, "\n".join(lines[:told]), int(places[-1]) if places else loading.find_line(error))


def ptx(kernel, name, capability, signature):
    """Returns the PTX of a kernel and its name there."""
    options = kernel.targetoptions
    text, _ = cuda.compile_ptx(kernel.py_func, signature, cc=capability, fastmath=options.get("fastmath", False), debug=False,
                               launch_bounds=options.get("launch_bounds"))
    entries = ENTRY.findall(text)
    if len(entries) != 1 or name not in entries[0]:
        raise Refused("frontend", f"{name} is no kernel of the module")
    return {"ptx": text, "entry": entries[0]}


def main(channel, job, target):
    capability = divmod(int(target.partition(":")[2]), 10)
    kept = settle(capability)
    warnings.simplefilter("ignore", errors.NumbaWarning)

    def begin(namespace):
        def answer(request):
            kernel = find(namespace, job["function"])
            try:
                return ptx(kernel, job["function"], capability, arguments(kernel, kept, job["tries"][request["try"]], namespace))
            except Refused:
                raise
            except Exception as error:
                raise refused(error) from None
        return answer

    loading.serve(channel, lambda: loading.load(job["module"]), begin)
