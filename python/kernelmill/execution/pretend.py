"""Has tests that ask for a GPU run on Triton's interpreter: tensors on "cuda" are made on the processor."""

from __future__ import annotations

from typing import Any


def install() -> None:
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from torch.overrides import TorchFunctionMode  # type: ignore[import-not-found, import-untyped, unused-ignore]

    class OnProcessor(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        """Replaces the device "cuda" in calls of torch."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.Tensor.cuda:
                return args[0]
            name = getattr(func, "__name__", "")
            if name == "__get__" and args and getattr(getattr(func, "__self__", None), "__name__", "") == "is_cuda":
                return True
            return func(*(place(each) for each in args), **{key: place(each) for key, each in (kwargs or {}).items()})

    def place(value: Any) -> Any:
        if isinstance(value, str) and value.partition(":")[0] == "cuda":
            return "cpu"
        if isinstance(value, torch.device) and value.type == "cuda":
            return torch.device("cpu")
        return value

    class Properties:
        multi_processor_count, name, major, minor, total_memory = 4, "interpreter", 9, 0, 1 << 36
        warp_size = 32
        shared_memory_per_block_optin = 232448
        max_threads_per_multi_processor = 2048
        gcnArchName = ""

    cuda: Any = torch.cuda
    answers: dict[str, Any] = {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_capability": (9, 0), "get_device_name": "interpreter",
        "get_device_properties": Properties(), "synchronize": None, "empty_cache": None, "set_device": None, "is_bf16_supported": True,
        "manual_seed": None, "manual_seed_all": None, "is_initialized": False, "max_memory_allocated": 0, "reset_peak_memory_stats": None,
        "memory_allocated": 0}
    for name, answer in answers.items():
        setattr(cuda, name, lambda *_, _answer=answer, **__: _answer)
    mode: Any = OnProcessor()
    mode.__enter__()
    _activate_driver()


def _activate_driver() -> None:
    """Some modules ask Triton's driver for its target while they are imported."""
    from kernelmill.execution import harness

    harness.install()
    from kernelmill_harness import device  # type: ignore[import-not-found, import-untyped, unused-ignore]

    device.pretend("cuda:90")
