"""Which try of a job comes next, and which one is a target's."""
import math
import re


LARGE_TENSOR = 1 << 16  # elements: no tile that is launched has more
TENSOR = re.compile(r"tensor<(\d+(?:x\d+)*)x")
STAGES = ("import", "limit", "sandbox", "frontend", "passes", "assembler")  # the later, the further a try came


class Tries:
    """The first that compiles is the target's, else the one that came furthest. One that takes more shared memory than the
    target has compiles, and cannot be launched: it is the target's if no other fits. A try whose tensors are so large that the
    backend may find no end is put off: a later one may have smaller sizes. After one that is out of bounds only those of small
    sizes are left to try."""

    def __init__(self, tries, shared_bytes):
        self._tries, self._shared_bytes = tries, shared_bytes
        self._waiting, self._put_off = list(range(len(tries))), []
        self._first_time = False  # that of the last one: it has not been put off
        self._furthest = self._limited = self._too_large = self._fits = None

    def next(self):
        """The next one's place; None: there is none."""
        if self._fits is not None:
            return None
        self._first_time = bool(self._waiting)
        places = self._waiting or self._put_off
        return places.pop(0) if places else None

    def puts_off(self, place, said):
        """Whether this one, of which child A said so much, comes later. It is asked for anew then: its IR may be too much to keep."""
        others = self._waiting or self._put_off
        if not self._first_time or not others or not has_large_tensor(said):
            return False
        self._put_off.append(place)
        return True

    def add(self, report):
        """What a try came to."""
        if report["status"] == "ok":
            if report["shared_bytes"] <= self._shared_bytes:
                self._fits = report
            self._too_large = self._too_large or report
            return
        if self._furthest is None or STAGES.index(report["stage"]) > STAGES.index(self._furthest["stage"]):
            self._furthest = report
        if report["stage"] == "limit":
            left = [] if self._limited is not None else [place for place in self._waiting if self._tries[place]["small"]]
            self._limited, self._waiting, self._put_off = self._limited or report, left, []

    def report(self):
        """The target's. `limited`: one that compiled, where a bound that another machine may not meet ended another try."""
        compiled = self._fits or self._too_large
        if compiled is None:
            return self._limited or self._furthest
        return {**compiled, "limited": self._limited is not None and "of_size" not in self._limited}


def has_large_tensor(said):
    """Whether IR has a tensor of more elements than tiles have."""
    ir = said.get("ir")
    shapes = set(TENSOR.findall(ir)) if isinstance(ir, str) else ()
    return any(math.prod(map(int, shape.split("x"))) > LARGE_TENSOR for shape in shapes if len(shape) < 100)
