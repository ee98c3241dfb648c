"""Runs cases of a module in a process of its own, and judges them here, where no module ever runs."""

from __future__ import annotations

import glob
import os
import sys
from dataclasses import dataclass, field

from kernelmill.errors import RequestError
from kernelmill.execution.arena import Arena, Place, lay_out
from kernelmill.execution.case import Case, Row
from kernelmill.execution.elements import Array
from kernelmill.execution.json_process import JsonProcess
from kernelmill.execution.timing import ALONE

DEVICES = ("cpu", "cuda:80", "cuda:90", "cuda:100")


Launch = tuple[int, Case, list[bytes]]


@dataclass(frozen=True)
class Bounds:
    """The bounds of one case."""

    seconds: int = 60
    memory: int = 4 << 30
    arena: int = 1 << 30


@dataclass(frozen=True)
class Execution:
    """The end of a module on a case: the storages afterwards, or the error and the stage in which it occurred."""

    after: list[Array] = field(default_factory=list)
    out_of_bounds: int = 0
    ttir: str = ""
    error: str = ""
    stage: str = ""
    times: list[float] = field(default_factory=list)  # microseconds of the launch, as the module's process says; on a GPU only
    window: list[float] = field(default_factory=list)  # the begin and end of the timing, by time.monotonic()
    shapes: dict[str, list[int]] = field(default_factory=dict)  # the results of a host function, by the case's outputs
    launched: int = 0  # launches of the module's own kernels by a host function, as the module's process says
    inverted: int = 0  # those after which something was inverted
    configurations: list[Row] = field(default_factory=list)  # as devices.Version has them


def visible_gpus() -> list[str]:
    """Returns the GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [each.strip() for each in visible.split(",") if each.strip()]
    return [str(place) for place, _ in enumerate(glob.glob("/dev/nvidia[0-9]*"))]


def check_device(device: str) -> None:
    if device not in DEVICES:
        raise RequestError(f"--device must be one of {', '.join(DEVICES)}: {device}")


class Runner(JsonProcess):
    """A zygote on a device, for one thread. Use as a context. ProgramError: it cannot be started, or it broke. `torch`: with torch on
    the processor, for host functions. `place`: this runner's among those of a command; they take the machine's GPUs in turn. `lock`: a file
    that all runners on a GPU lock, one at a time, while they time a launch."""

    def __init__(self, device: str, bounds: Bounds = Bounds(), confined: bool = True, python: str = sys.executable,
                 torch: bool = False, place: int = 0, lock: str = "") -> None:
        check_device(device)
        self.device, self.bounds = device, bounds
        self._arena = Arena(bounds.arena)
        gpu, descriptor = device != "cpu", self._arena.descriptor
        env = {"TRITON_DISABLE_LINE_INFO": "1"}  # lines and paths would make every IR another one
        for name in ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "OPENBLAS_CORETYPE"):
            if os.environ.get(name):
                env[name] = os.environ[name]
        if not gpu:
            env["TRITON_INTERPRET"] = "1"
        elif gpus := visible_gpus():
            env["CUDA_VISIBLE_DEVICES"] = gpus[place % len(gpus)]
        # The lock belongs to an opened file, so each zygote needs one of its own.
        locked = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) if lock else -1
        try:
            super().__init__(python, "kernelmill.execution.zygote",
                             {"gpu": gpu, "device": device, "size": bounds.arena, "descriptor": descriptor, "torch": torch, "lock": locked}, confined, env,
                             f"no kernel can be run on {device}", descriptors=(descriptor, *([locked] if lock else [])))
        finally:
            if lock:
                os.close(locked)
        self.toolchain: Row = self.ready["toolchain"]

    def run(self, module: str, kernel: str, cases: list[Case], inputs: list[list[bytes]], seconds: int | None = None,
            stop: bool = False) -> list[Execution]:
        """Runs cases, whose storages begin as `inputs`. All that touched them has ended when it returns. `seconds`: as those of the
        bounds. `stop`: as of run_modules()."""
        return self.run_modules([module], kernel, [(0, case, before) for case, before in zip(cases, inputs)], seconds, stop=stop)

    def run_modules(self, modules: list[str], kernel: str, launches: list[Launch], seconds: int | None = None,
                    host: Row | None = None, timed: str = "", reference: Row | None = None, stop: bool = False,
                    decorated: str = "") -> list[Execution]:
        """Runs launches of several modules. A launch is the place of its module, a case, and its inputs. `host`: calls this function
        or model of the module instead of launching the kernel: {"function", "inverts"} and what Device.call() takes. "inverts" says of each
        launch whether what the module's kernels change is inverted. `reference`: calls
        this function of torch: {"function", "parameters": {parameter: the case's argument}, "outputs": [names of tensors], "compiled"}.
        `timed`, on a GPU: "too" launches again to time it; "alone" only times it, under the lock, and nothing can be judged; "brief" does
        so just long enough to choose. `stop`: makes no launch after one that ended its process, which would take as long again; the executions
        are fewer then. `decorated`: each case names its kernel. "launched" has the rules of the decorators above it hold, and launches that
        are timed alone have the same inputs, and share them; "listed" makes no launch, and returns the configurations."""
        executions: list[Execution] = []
        while len(executions) < len(launches):
            left = launches[len(executions):]
            places = self._place(left, bool(decorated) and timed in ALONE)
            if places:
                executions += self._run(modules, kernel, left[:len(places)], places, seconds or self.bounds.seconds,
                                        {"host": host, "timed": timed, "reference": reference, "stop": stop, "decorated": decorated})
                if stop and executions[-1].stage == "death":
                    break
            else:
                executions.append(Execution(error=f"more than {self.bounds.arena} bytes", stage="bounds"))
        return executions

    def _place(self, launches: list[Launch], shared: bool = False) -> list[tuple[list[Place], int, int]]:
        """Returns the places of the first launches, as many as fit into the arena together. `shared`: all have the first one's."""
        places, at = [], 0
        if shared:
            return self._place(launches[:1]) * len(launches)
        for _, case, _ in launches:
            own, end = lay_out([int(each["bytes"]) for each in case.storages], at)
            if end > self.bounds.arena:
                break
            places.append((own, at, end))
            at = end
        return places

    def _run(self, modules: list[str], kernel: str, launches: list[Launch], places: list[tuple[list[Place], int, int]], seconds: int,
             how: Row) -> list[Execution]:
        for place, ((_, _, before), (own, start, end)) in enumerate(zip(launches, places)):
            if not place or start != places[place - 1][1]:
                self._arena.write(own, end, before, start)
        job = {"modules": modules, "kernel": kernel, "seconds": seconds, "memory": self.bounds.memory, **how,
               "launches": [{"module": module, "case": case.row, "places": [[each.offset, each.size] for each in own]}
                            for (module, case, _), (own, _, _) in zip(launches, places)]}
        executions = []
        for row, (own, start, end) in zip(self.ask(job), places):
            if "error" in row:
                executions.append(Execution(error=row["error"], stage=row["stage"]))
            elif how["decorated"] == "listed":
                executions.append(Execution(configurations=row["configurations"]))
            elif how["timed"] in ALONE:
                executions.append(Execution(times=row["times"], window=row["window"]))
            else:
                executions.append(Execution([self._arena.read(each) for each in own], self._arena.damage(own, end, start), row["ttir"],
                                            times=row.get("times", []), shapes=row.get("shapes", {}), launched=row.get("launched", 0),
                                            inverted=row.get("inverted", 0)))
        return executions
