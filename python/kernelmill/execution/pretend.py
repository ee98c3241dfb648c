"""Has tests that ask for a GPU run on Triton's interpreter: tensors on "cuda" are made on the processor, what libraries register for
CUDA is registered for the processor, and interpreted kernels are JITFunctions, as libraries that wrap kernels expect."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

NAME = "NVIDIA (Triton's interpreter)"  # libraries look for the vendor in it

PROCESSORS = {"CUDA": "CPU", "AutogradCUDA": "AutogradCPU", "cuda": "cpu", "CPU": "CPU"}


class _Nothing:
    """A context that chooses a device or a stream."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.idx = 0

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class _Stream(_Nothing):
    """A stream or an event: all work is done when a call returns, and takes no time."""

    cuda_stream, device = 0, "cpu"

    def elapsed_time(self, _end: Any) -> float:
        return 1.0

    def query(self) -> bool:
        return True

    def record(self, *_: Any) -> _Stream:
        return self

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name in ("synchronize", "wait", "wait_event", "wait_stream", "record_event"):
            return lambda *_: None
        raise AttributeError(name)


def install() -> None:
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from torch.overrides import TorchFunctionMode  # type: ignore[import-not-found, import-untyped, unused-ignore]

    class OnProcessor(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        """Replaces the device "cuda" in calls of torch."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.Tensor.cuda:
                return args[0]
            if func is torch.Tensor.backward:  # functions of a graph run in here, where this mode is off
                with self:
                    return backward(*args, **(kwargs or {}))
            name = getattr(func, "__name__", "")
            asked = getattr(getattr(func, "__self__", None), "__name__", "") if name == "__get__" and args else ""
            if asked == "is_cuda":
                return True
            if asked == "device":
                return torch.device("cuda", 0)
            return func(*(place(each) for each in args), **{key: place(each) for key, each in (kwargs or {}).items()})

    def backward(tensor: Any, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None) -> None:
        torch.autograd.backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)

    def place(value: Any) -> Any:
        if isinstance(value, str) and value.partition(":")[0] == "cuda":
            return "cpu"
        if isinstance(value, torch.device) and value.type == "cuda":
            return torch.device("cpu")
        return value

    class Properties:
        multi_processor_count, name, major, minor, total_memory = 4, NAME, 9, 0, 1 << 36
        warp_size = 32
        shared_memory_per_block_optin = 232448
        max_threads_per_multi_processor = 2048
        gcnArchName = ""

    cuda: Any = torch.cuda
    answers: dict[str, Any] = {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_capability": (9, 0), "get_device_name": NAME,
        "get_device_properties": Properties(), "synchronize": None, "empty_cache": None, "set_device": None, "is_bf16_supported": True,
        "manual_seed": None, "manual_seed_all": None, "is_initialized": False, "max_memory_allocated": 0, "reset_peak_memory_stats": None,
        "memory_allocated": 0, "max_memory_reserved": 0, "memory_reserved": 0, "mem_get_info": (1 << 35, 1 << 36), "current_stream": _Stream(),
        "default_stream": _Stream(), "is_current_stream_capturing": False, "_lazy_init": None, "init": None, "ipc_collect": None,
        "get_rng_state": torch.get_rng_state(), "set_rng_state": None, "reset_max_memory_allocated": None}
    for name, answer in answers.items():
        setattr(cuda, name, lambda *_, _answer=answer, **__: _answer)
    cuda.device, cuda.device_of, cuda.stream, cuda.Stream, cuda.Event = _Nothing, _Nothing, _Nothing, _Stream, _Stream
    set_default = torch.set_default_device
    torch.set_default_device = lambda device: set_default(place(device))
    mode: Any = OnProcessor()
    mode.__enter__()
    _register_for_processor(OnProcessor)
    _be_jit_functions()
    _activate_driver()


def _register_for_processor(mode: Callable[[], Any]) -> None:
    """Has operators that are registered for CUDA be those of tensors on the processor. A call of torch turns the mode off: they turn it
    on."""
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from torch._library.custom_ops import CustomOpDef  # type: ignore[import-not-found, import-untyped, unused-ignore]

    def place(key: Any) -> Any:
        if isinstance(key, (list, tuple)):
            return type(key)(place(each) for each in key)
        return PROCESSORS.get(key, key) if isinstance(key, str) else key

    def with_mode(function: Any) -> Any:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with mode():
                return function(*args, **kwargs)

        return called if callable(function) and not isinstance(function, type) else function

    library: Any = torch.library.Library
    definition: Any = CustomOpDef
    implement, register = library.impl, definition.register_kernel

    def implemented(self: Any, name: Any, function: Any, dispatch_key: str = "", **rest: Any) -> Any:
        try:
            return implement(self, name, with_mode(function), place(dispatch_key), **rest)
        except RuntimeError as error:
            if dispatch_key in PROCESSORS and "already a kernel registered" in str(error):
                return None  # the library has one for the processor, too: the first stays
            raise

    library.impl = implemented
    definition.register_kernel = lambda self, device_types, *rest, **more: register(self, place(device_types), *rest, **more)


class _Launched:
    """The compiled kernel that a launch returns: libraries keep it, and launch it again."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._run(*args, grid=grid, warmup=False, **kwargs)


def _be_jit_functions() -> None:
    """Has interpreted kernels pass for compiled ones: by type, by attributes, and by what a launch returns."""
    from triton.runtime import interpreter, jit  # type: ignore[import-not-found, import-untyped, unused-ignore]

    interpreted: Any = interpreter.InterpretedFunction

    class InterpretedFunction(interpreted, jit.JITFunction):  # type: ignore[misc, unused-ignore]
        """An interpreted kernel with the attributes of a compiled one."""

        __name__ = ""

        def __init__(self, fn: Any, **kwargs: Any) -> None:
            try:
                jit.JITFunction.__init__(self, fn, **kwargs)
            except (ValueError, AttributeError):  # its source cannot be read
                pass
            interpreted.__init__(self, fn, **kwargs)
            self.__name__ = fn.__name__
            inner: Callable[..., Any] = getattr(self, "run")

            def run(*args: Any, **kwargs: Any) -> _Launched:
                inner(*args, **kwargs)
                return _Launched(getattr(self, "run"))

            setattr(self, "run", run)

        @property
        def cache_key(self) -> str:
            return hashlib.sha256(f"{self.__module__}.{self.__name__}:{getattr(self, '_src', '')}".encode()).hexdigest()

    interpreter.InterpretedFunction = InterpretedFunction


def _activate_driver() -> None:
    """Some modules ask Triton's driver for its target while they are imported."""
    from kernelmill.execution import harness

    harness.install()
    from kernelmill_harness import device  # type: ignore[import-not-found, import-untyped, unused-ignore]

    device.pretend("cuda:90")
