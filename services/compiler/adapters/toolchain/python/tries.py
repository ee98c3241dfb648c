"""Chooses the next try of a job, and the try that becomes a target's result."""
import math
import re


LARGE_TENSOR = 1 << 16  # elements: no launched tile has more
TENSOR = re.compile(r"tensor<(\d+(?:x\d+)*)x")
STAGES = ("import", "clock", "limit", "sandbox", "frontend", "passes", "assembler")  # in the order of progress


class Tries:
    """The tries of one target. The first that compiles is the result, or else the one that came furthest. A try that compiles
    but needs more shared memory than the target has cannot be launched; it is the result only if no other fits. A try with
    tensors so large that the backend may not end is postponed: a later one may have smaller sizes. After a try that exceeds a
    bound, only those with small sizes remain."""

    def __init__(self, tries, shared_bytes):
        self._tries, self._shared_bytes = tries, shared_bytes
        self._waiting, self._put_off = list(range(len(tries))), []
        self._first_time = False  # True if the last one was not postponed
        self._furthest = self._limited = self._too_large = self._fits = None

    def next(self):
        """Returns the index of the next try, or None."""
        if self._fits is not None:
            return None
        self._first_time = bool(self._waiting)
        places = self._waiting or self._put_off
        return places.pop(0) if places else None

    def puts_off(self, place, said):
        """Returns True if this try, to which child A answered `said`, is postponed. It is then requested again, since its IR may
        be too large to keep."""
        others = self._waiting or self._put_off
        if not self._first_time or not others or not has_large_tensor(said):
            return False
        self._put_off.append(place)
        return True

    def add(self, report):
        """Adds the report of a try."""
        if report["status"] == "ok":
            if report["shared_bytes"] <= self._shared_bytes:
                self._fits = report
            self._too_large = self._too_large or report
            return
        if self._furthest is None or progress(report) > progress(self._furthest):
            self._furthest = report
        if report["stage"] in ("limit", "clock"):
            left = [] if self._limited is not None else [place for place in self._waiting if self._tries[place]["small"]]
            self._limited, self._waiting, self._put_off = self._limited or report, left, []

    def report(self):
        """Returns the target's report. `limited`: it compiled, but another try met a bound that another machine may not meet."""
        compiled = self._fits or self._too_large
        if compiled is None:
            return self._limited or self._furthest
        return {**compiled, "limited": self._limited is not None and "of_size" not in self._limited}


def progress(report):
    """Returns how far a refused try came: its stage, and in the frontend the line of the kernel."""
    return STAGES.index(report["stage"]), report["reached"]


def has_large_tensor(said):
    """Returns True if the IR has a tensor with more elements than tiles have."""
    ir = said.get("ir")
    shapes = set(TENSOR.findall(ir)) if isinstance(ir, str) else ()
    return any(math.prod(map(int, shape.split("x"))) > LARGE_TENSOR for shape in shapes if len(shape) < 100)
