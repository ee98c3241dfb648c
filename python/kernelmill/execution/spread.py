"""The order in which the first few of a list lie far apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(values: Sequence[T]) -> list[T]:
    """Orders values by the bits of their places, lowest first: of 8 values 0, 4, 2, 6, 1, 5, 3, 7."""
    bits = max(1, (len(values) - 1).bit_length())
    return [values[place] for place in sorted(range(len(values)), key=lambda place: int(f"{place:0{bits}b}"[::-1], 2))]
