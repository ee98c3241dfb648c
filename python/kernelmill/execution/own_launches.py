"""Watches the launches of a module's own kernels, to tell whether what a host function returns comes from them.

The basic idea: a call is made twice. The second time, all that a kernel of the module writes is inverted right after its launch. A result
that stays the same was not made of it: the kernel was not launched, torch computed the result, or an earlier call did. Runs in the
confined child, beside the module, which could undo it: the static checks of `evaluate` look for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelmill.execution.interpreter import addressed


class OwnLaunches:
    """Counts launches. Install it once in a process, before the module is loaded. `names`: the dictionary of the module."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.count = 0
        self._inverts = False

    def begin(self, inverts: bool) -> None:
        """Counts from 0. `inverts`: what the module's kernels write is inverted."""
        self.count, self._inverts = 0, inverts

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
        for (flat, size), old in zip(storages, before):
            changed = (flat != old).view(-1, size).any(1, keepdim=True)
            flat.view(-1, size).bitwise_xor_(changed.to(flat.dtype) * 255)
        return result


def _storages(values: Any) -> list[tuple[Any, int]]:
    """Returns the bytes of each storage of tensors, with the size of an element."""
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

    found: dict[int, tuple[Any, int]] = {}
    for each in addressed(values):
        if isinstance(each, torch.Tensor):
            storage, size = each.untyped_storage(), each.element_size()
            if storage.nbytes() >= size:
                flat = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)[:storage.nbytes() // size * size]
                found[storage.data_ptr()] = (flat, size)
    return list(found.values())
