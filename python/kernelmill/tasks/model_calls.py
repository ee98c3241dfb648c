"""Finds how the ModelNew of an answer is called: as the task's problem in KernelBench's form says it (kernelbench.py), with the inputs of
the case that the problem has the shapes of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelmill.execution import elements
from kernelmill.execution.case import Row
from kernelmill.tasks import contents
from kernelmill.tasks.contents import TaskCase, Tensor
from kernelmill.tasks.interface import Interface
from kernelmill.tasks.kernelbench import CannotSay, make_problem
from kernelmill.tasks.references import Binding, Process, Unbound, bind, candidates_of, is_backward

_MADE_OF = re.compile(r"Made by kernelmill export-tasks of case ([0-9a-f]{64})\.")


def case_of_prompt(prompt: str) -> str:
    """Returns the id of the case that the last problem of a prompt has the shapes of; empty if the prompt has no problem. Problems before
    it are examples."""
    found: list[str] = _MADE_OF.findall(prompt)
    return found[-1] if found else ""


class ModelCalls:
    """For one thread. Has a process with torch on the processor. ProgramError: it cannot be started."""

    def __init__(self, python: str, confined: bool) -> None:
        self._process = Process(python, confined)

    def find(self, task: Row, tests: Sequence[Row], cases: Sequence[TaskCase], wanted: str) -> tuple[str, Row] | str:
        """Returns the id of a case, and what Device.call() takes for a model: {"inputs", "results"}. Or the reason why the task has no
        problem. `wanted`: the id of the problem's case; empty: the one that an export takes."""
        cases = sorted(cases, key=lambda each: (contents.case_bytes(each.case), each.id))
        try:
            binding, held = self._bind(task, tests, cases)
            interface = Interface.bound(binding)
            case = make_problem(task, interface, [each for each in held if wanted in ("", each.id)]).case
        except (Unbound, CannotSay) as error:
            return str(error)
        return case.id, _call(interface, case)

    def _bind(self, task: Row, tests: Sequence[Row], cases: Sequence[TaskCase]) -> tuple[Binding, list[TaskCase]]:
        """An export knows by the kernel's tags whether it is one of the backward pass, a task by its name alone."""
        backward = is_backward(task, ())
        try:
            return bind(candidates_of(task, tests), cases, self._process, backward)
        except Unbound as error:
            if str(error) != "other_direction":
                raise
            return bind(candidates_of(task, tests), cases, self._process, not backward)

    def close(self) -> None:
        self._process.close()


def _call(interface: Interface, case: TaskCase) -> Row:
    inputs = [each.argument for each in interface.inputs if isinstance(interface.value(case, each.argument), Tensor)]
    tensors = {each.name: each for each in case.tensors()}
    floats = [tensors[each].dtype for each in inputs if elements.is_float(tensors[each].dtype)]
    results = []
    for (_, name), shape in zip(interface.outputs, interface.output_shapes(case)):
        # The problem's solution returns the type of the first input, to which KernelBench casts them all.
        types = [tensors[name].dtype, *(floats[:1] if elements.is_float(tensors[name].dtype) else [])]
        results.append({"name": name, "shape": list(shape), "dtypes": sorted(set(types))})
    return {"inputs": inputs, "results": results}
