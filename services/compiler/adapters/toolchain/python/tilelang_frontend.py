"""Child A of TileLang's toolchains: loads an untrusted module, and lowers its kernel to CUDA by TileLang's own compiler.

A kernel is what a function of Python makes of sizes, types and flags, often one within another function: both are called with a try's
values. All answers are untrusted, since the module's code runs in the same process.
"""
import inspect

import tilelang
import tvm
from tilelang.engine import lower
from tilelang.jit import JITImpl
from tvm.tirx import PrimFunc

from kernelmill_harness import loading, messages, nvrtc
from kernelmill_harness.loading import Refused


WRAPPED = ("jit_impl", "__wrapped__")  # attributes in which an autotuner and a cache keep the wrapped function


class Started(BaseException):
    """The module has called the kernel. Code that handles exceptions does not handle it."""

    def __init__(self, kernel, args, kwargs):
        super().__init__()
        self.kernel, self.args, self.kwargs = kernel, args, kwargs


def unwrap(value):
    for _ in range(20):
        inner = None if isinstance(value, (JITImpl, PrimFunc)) else next((getattr(value, name) for name in WRAPPED if hasattr(value, name)), None)
        if inner is None:
            break
        value = inner
    return value


def name_of(kernel):
    if isinstance(kernel, JITImpl):
        return getattr(kernel, "__name__", None) or getattr(kernel.func, "__name__", "")
    return str(kernel.attrs["global_symbol"]) if kernel.attrs and "global_symbol" in kernel.attrs else ""


def find(values, name):
    """Returns the kernel of that name among values that may be tuples; None if it is not there."""
    for value in values:
        if isinstance(value, (tuple, list)):
            found = find(value, name)
        else:
            value = unwrap(value)
            found = value if isinstance(value, (JITImpl, PrimFunc)) and name_of(value) == name else None
        if found is not None:
            return found
    return None


def arguments(function, known):
    """Returns those of the known values that a function takes."""
    return {name: known[name] for name in inspect.signature(function).parameters if name in known}


def start(kernel, *args, **kwargs):
    raise Started(kernel, args, kwargs)


def make(path, namespace, known):
    """Returns the kernel of a path, and the arguments that the function around it calls it with; none if it does not."""
    value = unwrap(namespace.get(path[0]))
    if not (isinstance(value, (JITImpl, PrimFunc)) if len(path) == 1 else callable(value)):
        raise Refused("frontend", f"{path[0]} is no kernel of the module")
    if len(path) == 1:
        return value, (), {}
    try:
        kernel, args, kwargs = find([value(**arguments(value, known))], path[-1]), (), {}
    except Started as started:
        kernel, args, kwargs = find([started.kernel], path[-1]), started.args, started.kwargs
    if kernel is None:
        raise Refused("frontend", f"{path[0]} does not make {path[-1]}")
    return kernel, args, kwargs


def cuda(job, attempt, namespace, target):
    """Returns the CUDA of a try, its functions with the shared memory that their launches ask for, and macros of the compiler."""
    known = {}
    for name, expression in attempt["constexprs"]:
        try:
            known[name] = eval(expression, dict(namespace))  # pylint: disable=eval-used
        except Exception as error:
            raise Refused("frontend", f"no value for {name}: {messages.format_exception(error)}") from None
    with target:
        kernel, args, kwargs = make(job["function"].split("."), namespace, known)
        configs, flags = {}, []
        if isinstance(kernel, JITImpl):
            configs, flags = dict(kernel.pass_configs or {}), kernel.compile_flags or []
            flags = flags.split() if isinstance(flags, str) else flags
            kwargs = kwargs if args or kwargs else arguments(kernel.func, known)
            kernel = kernel.get_tir(*args, **kwargs)
        if kernel.attrs and "tilelang_pass_configs" in kernel.attrs:
            configs = {**dict(kernel.attrs["tilelang_pass_configs"]), **configs}
        with tvm.transform.PassContext(opt_level=3, config=configs):
            artifact = lower(kernel, target=target)
    shared = {}
    for name, function in artifact.device_mod.functions.items():
        asked = function.attrs["dyn_shared_memory_buf"] if "dyn_shared_memory_buf" in function.attrs else 0
        shared[str(name.name_hint)] = int(asked)
    return {"cuda": artifact.kernel_source, "functions": shared, "macros": [str(flag) for flag in flags if str(flag).startswith("-D")]}


def refused(error):
    """Returns an error of TileLang or TVM, whose text ends with the message after the frames of C++."""
    lines = [line for line in messages.format_exception(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("  File", "Traceback"))]
    return Refused(loading.find_stage(error, "frontend"), "\n".join(told), loading.find_line(error))


def main(channel, job, name):
    target = tvm.target.Target({"kind": "cuda", "arch": f"sm_{nvrtc.ARCHITECTURES[name]}"})
    JITImpl.__call__ = start

    def begin(namespace):
        def answer(request):
            try:
                return cuda(job, job["tries"][request["try"]], dict(namespace), target)
            except Refused:
                raise
            except Exception as error:
                raise refused(error) from None
        return answer

    tilelang.set_log_level("ERROR")
    loading.serve(channel, lambda: loading.load(job["module"]), begin)
