"""Shared memory between the process that judges and the processes that run modules.

A case's storages lie in it one after another, each between two guard zones of fixed bytes:

    guard | storage 0 | guard | storage 1 | guard | ...

A module can change all of it, and learns nothing from it: it holds inputs and poison, never what is expected."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass

import numpy

from kernelmill.execution.elements import Array

GUARD_BYTES = 1 << 16
GUARD = 0xA5
ALIGNMENT = 256


@dataclass(frozen=True)
class Place:
    """The place of a storage: offset and size in bytes."""

    offset: int
    size: int


def lay_out(sizes: list[int], start: int = 0) -> tuple[list[Place], int]:
    """Returns the places of storages, and the end of the last guard zone."""
    places, at = [], start + GUARD_BYTES
    for size in sizes:
        places.append(Place(at, size))
        at = -(-(at + size) // ALIGNMENT) * ALIGNMENT + GUARD_BYTES
    return places, at


class Arena:
    """A file in memory, mapped here and in the processes that inherit its descriptor."""

    def __init__(self, size: int, descriptor: int | None = None) -> None:
        self.descriptor = os.memfd_create("kernelmill-arena") if descriptor is None else descriptor
        if descriptor is None:
            os.ftruncate(self.descriptor, size)
        self.size = size
        self.map = mmap.mmap(self.descriptor, size)
        self.bytes: Array = numpy.frombuffer(self.map, numpy.uint8)
        self.address = int(self.bytes.__array_interface__["data"][0])

    def write(self, places: list[Place], end: int, contents: list[bytes], start: int = 0) -> None:
        self.bytes[start:end] = GUARD
        for place, content in zip(places, contents):
            self.bytes[place.offset:place.offset + place.size] = numpy.frombuffer(content, numpy.uint8)

    def read(self, place: Place) -> Array:
        """Returns a copy of a storage."""
        return self.bytes[place.offset:place.offset + place.size].copy()

    def damage(self, places: list[Place], end: int, start: int = 0) -> int:
        """Returns the number of bytes of the guard zones that changed."""
        changed, at = 0, start
        for place in places:
            changed += int(numpy.count_nonzero(self.bytes[at:place.offset] != GUARD))
            at = place.offset + place.size
        return changed + int(numpy.count_nonzero(self.bytes[at:end] != GUARD))
