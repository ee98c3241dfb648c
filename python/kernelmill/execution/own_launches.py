"""Watches the launches of a module's own kernels, to tell whether what a host function returns comes from them.

The basic idea: in some calls, all that a kernel of the module changes is inverted right after its launch. A result that stays the same was
not made of it: the kernel was not launched, torch computed the result, or an earlier call did. A kernel that writes the same values once
more, to a buffer that the module kept, changes nothing: `inverted` tells. Runs in the confined child, beside the module, which could undo
it: the static checks of `evaluate` look for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelmill.execution import elements
from kernelmill.execution.interpreter import addressed


class OwnLaunches:
    """Counts launches. Install it once in a process, before the module is loaded. `names`: the dictionary of the module."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.count = self.inverted = 0
        self._inverts = False

    def begin(self, inverts: bool) -> None:
        """Counts from 0 the launches, and those that had something inverted. `inverts`: what the module's kernels change is inverted."""
        self.count, self.inverted, self._inverts = 0, 0, inverts

    def install(self) -> None:
        from triton.runtime import interpreter, jit  # type: ignore[import-not-found, import-untyped, unused-ignore]

        run, interpreted = jit.JITFunction.run, interpreter.GridExecutor.__call__

        def compiled(function: Any, *args: Any, **kwargs: Any) -> Any:
            return self._launch(function.fn, run, function, args, kwargs) if not kwargs.get("warmup") else run(function, *args, **kwargs)

        jit.JITFunction.run = compiled
        interpreter.GridExecutor.__call__ = lambda executor, *args, **kwargs: self._launch(executor.fn, interpreted, executor, args, kwargs)

    def _launch(self, function: Any, run: Callable[..., Any], launched: Any, args: Any, kwargs: Any) -> Any:
        if getattr(function, "__globals__", None) is not self.names:
            return run(launched, *args, **kwargs)
        self.count += 1
        if not self._inverts:
            return run(launched, *args, **kwargs)
        storages = _storages((*args, *kwargs.values()))
        before = [flat.clone() for flat, _ in storages]
        result = run(launched, *args, **kwargs)
        self.inverted += sum(_invert(flat, old, dtype) for (flat, dtype), old in zip(storages, before)) > 0
        return result


def _storages(values: Any) -> list[tuple[Any, Any]]:
    """Returns the bytes of each storage of tensors, with the type of an element."""
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

    found: dict[int, tuple[Any, Any]] = {}
    for each in addressed(values):
        tensor = getattr(each, "base", each)  # Triton's view of a tensor as another type
        if isinstance(tensor, torch.Tensor):
            storage, size = tensor.untyped_storage(), tensor.element_size()
            if storage.nbytes() >= size:
                flat = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)[:storage.nbytes() // size * size]
                found[storage.data_ptr()] = (flat, tensor.dtype)
    return list(found.values())


def _invert(flat: Any, before: Any, dtype: Any) -> bool:
    """Inverts the elements that changed. Returns whether there are any. Numbers stay finite, get the other sign and differ by 1 or more:
    0 times a number that is not finite, or a check for it, would show what is inverted in a result that does not come from it."""
    import torch

    changed = (flat != before).view(-1, dtype.itemsize).any(1, keepdim=True)
    if dtype == torch.bool:
        inverted = (flat == 0).to(torch.uint8)
    elif elements.is_float(str(dtype).removeprefix("torch.")):
        values = flat.view(dtype).to(torch.float64 if dtype == torch.float64 else torch.float32)
        other = -values - torch.copysign(torch.ones_like(values), values)
        inverted = torch.where(torch.isfinite(values), other, torch.ones_like(values)).to(dtype).view(torch.uint8)
    else:
        inverted = flat ^ 255
    rows = flat.view(-1, dtype.itemsize)
    rows.copy_(torch.where(changed, inverted.view(-1, dtype.itemsize), rows))
    return bool(changed.any())
