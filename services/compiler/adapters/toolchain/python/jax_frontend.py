"""Child A of JAX's toolchains: loads an untrusted module, and lowers its Pallas kernel by JAX itself, without a device.

A kernel takes references whose shapes only its launcher tells. So a try starts the launcher, traced with stand-ins for its arrays, up to
the call that starts the kernel; that call alone is then lowered. All answers are untrusted, since the module's code runs in the same process.
"""
import ast
import builtins
import dataclasses
import functools
import inspect
import linecache
import math
import re
import sys
import types

import jax
import jax.numpy as jnp
import numpy
from jax import export, lax
from jax.experimental import pallas
from jax.experimental.pallas import mosaic_gpu, tpu

from kernelmill_harness import absent, loading, messages
from kernelmill_harness.loading import Refused


DEVICES = {
    "tpu:v6e": jax.sharding.AbstractDevice("TPU v6 lite", 1, "tpu"),
    "cuda:90": jax.sharding.AbstractDevice("NVIDIA H100 80GB HBM3", None, "cuda"),
}
HOST_FILE = "launcher.py"  # not a real file, as loading.FILE
NOT_STARTED = "the launcher does not start"
TENSOR = re.compile(r"tensor<(\w+)\[([^\]]*)\]>")
ELEMENTS = {"fp32": jnp.float32, "bf16": jnp.bfloat16, "fp16": jnp.float16, "i32": jnp.int32, "i64": jnp.int32, "i8": jnp.int8, "i1": jnp.bool_}
USUAL = {
    "jax": jax, "jnp": jnp, "np": numpy, "numpy": numpy, "lax": lax, "pl": pallas, "pltpu": tpu, "plgpu": mosaic_gpu, "functools": functools,
    "partial": functools.partial, "math": math, "P": jax.sharding.PartitionSpec,
}


class Started(BaseException):
    """The launcher has called the kernel: `start` with `operands`. Code that handles exceptions does not handle it."""

    def __init__(self, start, operands):
        super().__init__()
        self.start, self.operands = start, operands


def function_of(body):
    """Returns the function of Python under partial functions and wrappers, and whether they give it something that is not installed."""
    holes = False
    for _ in range(20):
        if isinstance(body, functools.partial):
            holes |= any(map(absent.is_absent, [*body.args, *body.keywords.values()]))
            body = body.func
        elif hasattr(body, "__wrapped__"):
            body = body.__wrapped__
        else:
            break
    return (body if isinstance(body, types.FunctionType) else None), holes


def squeeze(text):
    return "".join(text.split())


class Makers:
    """Replaces the functions of Pallas that make a call of a kernel: the new ones raise Started where the wanted kernel is called."""

    def __init__(self, job):
        self._name, self._source = job["function"].rpartition(".")[2], squeeze(job["source"])
        self.call, self.kernel = self._stand_in(pallas.pallas_call), self._stand_in(pallas.kernel)
        self.gpu_kernel = self._stand_in(mosaic_gpu.kernel)
        pallas.pallas_call, pallas.kernel, mosaic_gpu.kernel = self.call, self.kernel, self.gpu_kernel
        tpu.emit_pipeline, mosaic_gpu.emit_pipeline = self._part(tpu.emit_pipeline), self._part(mosaic_gpu.emit_pipeline)
        self._around = []

    def _is_wanted(self, body):
        function, holes = function_of(body)
        if function is None or function.__name__ != self._name or function.__code__.co_filename not in (loading.FILE, HOST_FILE):
            return False
        try:
            text = squeeze(inspect.getsource(function.__code__))
        except OSError:
            return False
        if text not in self._source and self._source not in text:
            return False
        closed = [cell.cell_contents for cell in function.__closure__ or () if _is_set(cell)]
        if holes or any(map(absent.is_absent, closed)):
            raise Refused("frontend", f"{NOT_STARTED} {self._name} with values that are known")
        return True

    def _stand_in(self, make):
        @functools.wraps(make)
        def call(*args, **kwargs):
            kwargs.pop("interpret", None)
            if not args and "body" not in kwargs and "kernel" not in kwargs:
                return lambda body: call(body, **kwargs)
            body = args[0] if args else kwargs.get("body", kwargs.get("kernel"))
            made = make(*args, **kwargs)

            def start(*operands):
                if self._is_wanted(body):
                    raise Started(made, operands)
                self._around.append((made, operands))
                try:
                    return made(*operands)
                finally:
                    self._around.pop()
            return start
        return call

    def _part(self, make):
        """A kernel may start another one as a part of itself: the outermost call counts."""
        @functools.wraps(make)
        def call(body, *args, **kwargs):
            if self._around and self._is_wanted(body):
                raise Started(*self._around[0])
            return make(body, *args, **kwargs)
        return call


def _is_set(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def names_of(code):
    """Yields the names that code may look up in its module."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)


def define(text, namespace):
    """Runs the text of a launcher without its decorators as a part of the module. Returns the function. Names that the module lacks are
    packages' usual ones, or else stand for something that is not installed."""
    lines = text.splitlines(True)
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    text = "".join(line[indent:] if not line[:indent].strip() else line for line in lines)
    linecache.cache[HOST_FILE] = (len(text), None, text.splitlines(True), HOST_FILE)
    tree = ast.parse(text)
    host = next((node for node in tree.body if isinstance(node, ast.FunctionDef)), None)
    if host is None:
        raise Refused("frontend", f"{NOT_STARTED}: it is no function")
    host.decorator_list = []
    code = compile(tree, HOST_FILE, "exec", dont_inherit=True)
    for name in names_of(code):
        if name not in namespace and not hasattr(builtins, name):
            namespace[name] = USUAL.get(name) or absent.Absent(name)
    exec(code, namespace)  # pylint: disable=exec-used
    return namespace[host.name]


def stand_in(text):
    """Returns an argument of a type: "tensor<fp32[128, 128]>", or "test", the object of a test's class."""
    tensor = TENSOR.fullmatch(text)
    if tensor is None:
        raise Refused("frontend", f"no value of the type {text}")
    return jax.ShapeDtypeStruct(tuple(int(size) for size in tensor[2].split(",") if size.strip()), ELEMENTS[tensor[1]])


def test_object(makers):
    """Returns what stands for the object of a method: tests of JAX have a Pallas of their own there."""
    value = absent.Absent("self")
    value.__dict__.update(pallas_call=makers.call, kernel=makers.gpu_kernel)
    return value


def started(job, attempt, namespace, makers):
    """Runs the launcher of a try up to the kernel's call. Returns the call and the types of its operands."""
    try:
        host = define(job["launcher"], namespace)
        arrays = {name: stand_in(text) for name, text, _ in attempt["types"]}
        others = {name: eval(text, {**USUAL, **namespace}) for name, text in attempt["constexprs"]}  # pylint: disable=eval-used
        if next(iter(inspect.signature(host).parameters), "") == "self":
            host = functools.partial(host, test_object(makers))
        jax.eval_shape(lambda given: host(**given, **others), arrays)
    except Started as call:
        operands = jax.tree.map(lambda each: jax.ShapeDtypeStruct(jnp.shape(each), jax.dtypes.result_type(each)), call.operands)
        return call.start, operands
    except Refused:
        raise
    except Exception as error:
        stage = loading.find_stage(error, "frontend")
        raise Refused(stage, f"{NOT_STARTED} {job['function']}: {messages.format_exception(error)}") from None
    raise Refused("frontend", f"{NOT_STARTED} {job['function']}")


def load(text):
    """Loads the module. Kernels with syntax errors are not compiled: what this Python cannot read is of a newer one."""
    try:
        return loading.load(text)
    except SyntaxError as error:
        raise ImportError(f"{messages.format_exception(error)}: a newer Python, which is not installed") from None


def pretend(device):
    """Makes this process look to a module as one of a machine with the device."""
    jax.default_backend = lambda: device.platform
    seen = types.SimpleNamespace(id=0, process_index=0, compute_capability="9.0", core_count=132, **dataclasses.asdict(device))
    jax.devices = jax.local_devices = lambda *_, **__: [seen]
    jax.device_count = jax.local_device_count = lambda *_, **__: 1
    jax.config.update("jax_traceback_in_locations_limit", 0)  # the IR is then the same for all paths


def main(channel, job, target):
    device = DEVICES[target]
    pretend(device)
    makers = Makers(job)
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=device)

    def begin(namespace):
        def answer(request):
            with jax.sharding.use_abstract_mesh(mesh):
                start, operands = started(job, job["tries"][request["try"]], dict(namespace), makers)
                try:
                    return {"ir": export.export(jax.jit(lambda *given: start(*given)), platforms=[device.platform])(*operands).mlir_module()}
                except Exception as error:
                    raise refused(error) from None
        return answer

    sys.setrecursionlimit(10000)
    loading.serve(channel, lambda: load(job["module"]), begin)


def refused(error):
    said = messages.format_exception(error)
    return Refused(loading.find_stage(error, "frontend"), said.partition("\nThe MLIR operation involved:")[0], loading.find_line(error))
