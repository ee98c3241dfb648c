"""Judges what a kernel made of a case's storages. Runs where the module never ran."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements
from kernelmill.execution.case import Case, Row
from kernelmill.execution.elements import Array

OUTCOMES = ("exact", "close", "different", "error", "unknown")


@dataclass(frozen=True)
class Verdict:
    """The outcome of one execution. `out_of_bounds`: bytes that it changed outside the storages."""

    outcome: str
    message: str = ""
    absolute: float = 0.0
    relative: float = 0.0
    share: float = 0.0
    out_of_bounds: int = 0

    def row(self) -> Row:
        return {"outcome": self.outcome, "message": self.message, "absolute": self.absolute, "relative": self.relative,
                "share": self.share, "out_of_bounds": self.out_of_bounds}


def compare(found: Array, expected: bytes, dtype: str | None, tolerance: float | None = None) -> Verdict:
    """Compares raw bytes. Integers, and storages of several types (None), must be equal to the bit. `tolerance`: instead of the type's."""
    if found.tobytes() == expected:
        return Verdict("exact")
    if dtype is None:
        unequal = found != numpy.frombuffer(expected, numpy.uint8)
        return Verdict("different", "bytes differ", share=float(unequal.mean()))
    values, wanted = elements.decode(found, dtype), elements.decode(expected, dtype)
    if not elements.is_float(dtype):
        unequal = values != wanted
        absolute = float(numpy.abs(values[unequal].astype(numpy.float64) - wanted[unequal].astype(numpy.float64)).max(initial=0.0))
        return Verdict("different", "integers differ", absolute=_finite(absolute), share=float(unequal.mean()))
    return _compare_floats(values, wanted, elements.TOLERANCE[dtype] if tolerance is None else tolerance)


def _compare_floats(values: Array, wanted: Array, tolerance: float) -> Verdict:
    """The tolerance is a share of the value's size and of the values' root mean square, since sums of large numbers may be small."""
    both = numpy.isfinite(values) & numpy.isfinite(wanted)
    same_special = (numpy.isnan(values) & numpy.isnan(wanted)) | (values == wanted)
    finite = wanted[numpy.isfinite(wanted)]
    with numpy.errstate(over="ignore", invalid="ignore"):
        level = float(numpy.sqrt(numpy.mean(finite * finite))) if len(finite) else 0.0
        level = level if numpy.isfinite(level) else 0.0
        differences = numpy.where(both, numpy.abs(values - wanted), numpy.where(same_special, 0.0, numpy.inf))
        sizes = numpy.where(both, numpy.maximum(numpy.abs(wanted), level), 1.0)
        far = ~(differences <= tolerance * sizes)
        relative = differences / numpy.maximum(sizes, 1e-300)
    unequal = ~(same_special | (both & (values == wanted)))
    outcome = "different" if far.any() else "close"
    return Verdict(outcome, "values differ" if far.any() else "", _finite(float(differences.max(initial=0.0))),
                   _finite(float(relative.max(initial=0.0))), float((far if far.any() else unequal).mean()))


def _finite(value: float) -> float:
    """JSON has no infinity."""
    return value if value <= 1.7976931348623157e308 else 1.7976931348623157e308


def judge(case: Case, before: list[bytes], after: list[Array], out_of_bounds: int, expected: dict[int, bytes]) -> Verdict:
    """Judges the storages after a launch. `before`: the inputs; `expected`: the bytes of each storage that must change."""
    worst = Verdict("exact")
    for place, (start, end) in enumerate(zip(before, after)):
        if place in expected:
            dtype = case.dtype_of(place)
            found = compare(end, expected[place], dtype, case.row["tolerance"].get(dtype))
        elif end.tobytes() != start:
            found = Verdict("different", f"it changed storage {place}, which the reference leaves alone")
        else:
            continue
        if (OUTCOMES.index(found.outcome), found.relative) > (OUTCOMES.index(worst.outcome), worst.relative):
            worst = found
    if out_of_bounds:
        return Verdict("different", "it wrote outside its tensors", worst.absolute, worst.relative, worst.share, out_of_bounds)
    return worst


def digests(after: list[Array]) -> list[str]:
    return [hashlib.sha256(each.tobytes()).hexdigest() for each in after]
