"""Tensors for Triton's interpreter without torch: views of memory that others own."""

from __future__ import annotations

from typing import Any

from kernelmill.execution import elements


class Storage:
    """Bytes at an address. The interpreter copies a storage to the host and back; this one is there already."""

    def __init__(self, address: int, size: int) -> None:
        self._address, self._size = address, size

    def data_ptr(self) -> int:
        return self._address

    def nbytes(self) -> int:
        return self._size

    def cpu(self) -> Storage:
        return self

    def copy_(self, _other: Storage) -> Storage:
        return self


class Buffer:
    """A view of a storage, with the part of torch.Tensor that launches use."""

    def __init__(self, storage: Storage | None, dtype: Any, name: str, shape: tuple[int, ...], strides: tuple[int, ...],
                 offset: int) -> None:
        self._storage, self.dtype, self._name = storage, dtype, name
        self._shape, self._strides, self._offset = shape, strides, offset
        self.device = "cpu"

    def data_ptr(self) -> int:
        assert self._storage is not None
        return self._storage.data_ptr() + self._offset * elements.size(self._name)

    def untyped_storage(self) -> Storage:
        assert self._storage is not None
        return self._storage

    def storage_offset(self) -> int:
        return self._offset

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    def size(self, axis: int | None = None) -> Any:
        return self._shape if axis is None else self._shape[axis]

    def stride(self, axis: int | None = None) -> Any:
        return self._strides if axis is None else self._strides[axis]

    def numel(self) -> int:
        count = 1
        for length in self._shape:
            count *= length
        return count

    def element_size(self) -> int:
        return elements.size(self._name)

    def new_empty(self, *_: Any, **__: Any) -> Buffer:
        return Buffer(None, self.dtype, self._name, (0,), (1,), 0)

    def set_(self, storage: Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Buffer:
        self._storage, self._offset, self._shape, self._strides = storage, offset, shape, strides
        return self
