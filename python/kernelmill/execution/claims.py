"""Says which claims of commits hold, by measured changes: rows of the type `change` beside rows of history.jsonl.

A claim is about a commit, a measurement about a kernel of it: a claim of a whole model's time cannot be told apart here. Only a case
that fills the device, with the same results of both versions, says something of a claim. It has two verdicts: that the kernel became
faster (or slower, for a ratio below one) beyond noise, and that it did so by the stated ratio."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kernelmill.execution.case import Row
from kernelmill.execution.replay import ACCEPTED

CLOSE = 1.2  # a ratio within this factor of the stated one is that ratio
TIMES = ("s", "sec", "second", "seconds", "ms", "us", "ns", "min")


def stated_ratio(claim: Row) -> float | None:
    """Returns how many times as fast a claim says that something became. None: it states no such ratio. A share of time and a share of
    speed look alike, so `percent` states none."""
    if claim["form"] == "before_after":
        before, after = claim["before"], claim["after"]
        if not before or not after:
            return None
        return float(before / after if str(claim["unit"]).lower() in TIMES else after / before)
    if claim["form"] == "ratio" and claim["value"]:
        return float(claim["value"])
    return None


def stated_direction(claim: Row) -> str | None:
    """Returns "faster" or "slower", or None for a claim that compares nothing: a value alone."""
    if claim["form"] == "percent":
        return "faster"
    ratio = stated_ratio(claim)
    return None if ratio is None or ratio == 1 else "faster" if ratio > 1 else "slower"


def verdict(claim: Row, measured: Row | None) -> Row:
    """Returns {"text", "ratio", "direction", "number"}: what is stated, and whether it holds. null: not measured, or not stated."""
    ratio, direction = stated_ratio(claim), stated_direction(claim)
    row = {"text": claim["text"], "ratio": ratio, "direction": None, "number": None}
    if measured is None or measured["ratio"] is None or measured["agree"] not in ACCEPTED or not measured["fills"]:
        return row
    if direction is not None:
        row["direction"] = measured["direction"] == direction
    if ratio is not None:
        row["number"] = ratio / CLOSE <= measured["ratio"] <= ratio * CLOSE
    return row


def join(changes: Iterable[Row], measured: Iterable[Row]) -> Iterator[Row]:
    """Yields rows of history.jsonl with `measured`, the row of the type `change` or None, and `verdicts`, one for each claim. If a
    change was measured more than once, the first row with a ratio counts."""
    found: dict[tuple[str, ...], Row] = {}
    for row in measured:
        key = tuple(row[side][name] for side in ("before", "after") for name in ("module_sha256", "kernel"))
        if key not in found or found[key]["ratio"] is None:
            found[key] = row
    for change in changes:
        key = tuple(each for side in ("before", "after")
                    for each in (hashlib.sha256((change[side]["module"] or "").encode()).hexdigest(), change[side]["name"]))
        known = found.get(key)
        yield {**change, "measured": known, "verdicts": [verdict(each, known) for each in change["claims"]]}


@dataclass
class Counts:
    """The changes of a repository, and its claims. A claim is of a commit: it is replayed if a kernel of the commit is, and holds if
    it holds for one."""

    changes: int = 0
    measured: int = 0
    agree: int = 0
    faster: int = 0
    slower: int = 0
    stated: int = 0     # claims that compare
    replayed: int = 0
    direction: int = 0
    numbers: int = 0    # replayed claims that state a ratio
    number: int = 0
    unmeasured: Counter[str] = field(default_factory=Counter)  # changes with claims, by reason


def count(joined: Iterable[Row]) -> dict[str, Counts]:
    """Returns counts by repository."""
    counts: dict[str, Counts] = {}
    claims: dict[tuple[str, str, str], list[Row]] = {}
    for row in joined:
        one, measured = counts.setdefault(str(row["repository"]), Counts()), row["measured"]
        one.changes += 1
        if measured is not None and measured["ratio"] is not None:
            one.measured += 1
            if measured["agree"] in ACCEPTED:
                one.agree += 1
                one.faster += int(measured["direction"] == "faster")
                one.slower += int(measured["direction"] == "slower")
        if row["claims"]:
            reason = _why_not(row)
            if reason:
                one.unmeasured[reason] += 1
        for claim, said in zip(row["claims"], row["verdicts"]):
            if stated_direction(claim) is not None:
                claims.setdefault((str(row["repository"]), str(row["commit"]), str(claim["text"])), []).append(said)
    for (repository, _, _), verdicts in claims.items():
        one = counts[repository]
        one.stated += 1
        one.replayed += int(any(each["direction"] is not None for each in verdicts))
        one.direction += int(any(each["direction"] for each in verdicts))
        one.numbers += int(any(each["number"] is not None for each in verdicts))
        one.number += int(any(each["number"] for each in verdicts))
    return counts


def _why_not(row: Row) -> str:
    """Returns why a change says nothing of its claims, or nothing."""
    if not row["before"]["module"] or not row["after"]["module"]:
        return "no_module"
    measured = row["measured"]
    if measured is None:
        return "no_case"
    if measured["ratio"] is None:
        return str(measured["reason"])
    if measured["agree"] not in ACCEPTED:
        return "results_differ"
    return "" if measured["fills"] else "does_not_fill"
