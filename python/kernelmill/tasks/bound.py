"""Finds the references of a dataset that are bound by execution, for kernels that are timed (execution/speed.py)."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from kernelmill.execution.case import Case, Row
from kernelmill.execution.rows import KernelRow
from kernelmill.tasks import contents
from kernelmill.tasks.contents import TaskCase
from kernelmill.tasks.references import Process, Unbound, bind, candidates_of

CASES = 6  # the smallest ones, on which a reference must hold


def read_candidates(dataset: pathlib.Path) -> dict[str, list[Row]]:
    """Returns the rows of references.jsonl that have a reference by kernel; none if the dataset lacks the file."""
    tests: dict[str, list[Row]] = {}
    if (dataset / contents.REFERENCES).is_file():
        for row in contents.read_rows(dataset, contents.REFERENCES):
            if row["reference"]:
                tests.setdefault(str(row["kernel_id"]), []).append(row)
    return tests


class BoundReferences:
    """For one thread. Has a process with torch on the processor once it is asked."""

    def __init__(self, tests: dict[str, list[Row]], python: str, confined: bool) -> None:
        self._tests, self._python, self._confined = tests, python, confined
        self._process: Process | None = None

    def find(self, kernel: KernelRow, cases: Sequence[tuple[Case, list[bytes], dict[int, bytes]]]) -> Row | None:
        """Returns how a reference is called for the kernel's cases: {"module", "function", "parameters", "outputs"}."""
        tests = self._tests.get(str(kernel.row["id"]), [])
        if not tests:
            return None
        self._process = self._process or Process(self._python, self._confined)
        given = [TaskCase(case, False, tuple(before), after) for case, before, after in cases]
        given.sort(key=lambda each: (contents.case_bytes(each.case), each.id))
        try:
            binding, _ = bind(candidates_of({"reference": None}, tests), given[:CASES], self._process)
        except Unbound:
            return None
        return {"module": binding.module, "function": binding.function, "parameters": dict(binding.parameters),
                "outputs": list(binding.outputs)}

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
