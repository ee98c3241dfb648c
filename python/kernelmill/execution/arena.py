"""Shared memory between the process that judges and the processes that run modules.

A case's storages lie in it one after another, each between two guard zones:

    guard 0 | storage 0 | guard 1 | storage 1 | guard 2 | ...

The bytes of a guard zone are signaling NaNs of 16 and 32 bits, other ones in each zone: what a kernel reads there spoils what it
computes, and no arithmetic or copy writes the same bytes. A module can change all of the arena, and learns nothing from it: it holds
inputs and poison, never what is expected."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution.elements import Array

GUARD_BYTES = 1 << 16
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


def guard(zone: int, start: int, end: int) -> Array:
    """Returns the bytes of a part of a guard zone."""
    first, size = start % 2, end - start
    pattern = bytes((0x81 + zone % 62, 0xFF)) * (size // 2 + 1)  # numpy.resize takes 1000 times as long, of all workers' time
    return numpy.frombuffer(pattern, numpy.uint8)[first:first + size]


def zones(places: list[Place], start: int, end: int) -> list[tuple[int, int]]:
    """Returns the start and end of each guard zone."""
    starts = [start, *(place.offset + place.size for place in places)]
    return list(zip(starts, [*(place.offset for place in places), end]))


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
        for zone, (low, high) in enumerate(zones(places, start, end)):
            self.bytes[low:high] = guard(zone, low, high)
        for place, content in zip(places, contents):
            self.bytes[place.offset:place.offset + place.size] = numpy.frombuffer(content, numpy.uint8)

    def read(self, place: Place) -> Array:
        """Returns a copy of a storage."""
        return self.bytes[place.offset:place.offset + place.size].copy()

    def damage(self, places: list[Place], end: int, start: int = 0) -> int:
        """Returns the number of bytes of the guard zones that changed."""
        return sum(int(numpy.count_nonzero(self.bytes[low:high] != guard(zone, low, high)))
                   for zone, (low, high) in enumerate(zones(places, start, end)))
