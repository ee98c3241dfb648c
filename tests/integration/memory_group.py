"""A control group with a bound on memory, of version 1 or 2, for one process."""

import contextlib
import os
import pathlib
import re
import unittest

import harness

ROOT = pathlib.Path("/sys/fs/cgroup")
UNITS = {"m": 1 << 20, "g": 1 << 30}


def compose_limits():
    """{service: bytes} of docker-compose.yml."""
    limits, service = {}, None
    for line in (harness.ROOT / "docker-compose.yml").read_text().splitlines():
        if found := re.fullmatch(r"  (\w+):", line):
            service = found[1]
        elif found := re.match(r"    mem_limit: (?:\$\{\w+:-)?(\d+)([mg])", line):
            limits[service] = int(found[1]) * UNITS[found[2]]
    return limits


class MemoryGroup:
    """Bounds the memory of the processes that it starts. SkipTest: this process may not make one here."""

    def __init__(self, name, limit):
        first = (ROOT / "memory").is_dir()
        self.folder = (ROOT / "memory" if first else ROOT) / f"kernelmill-{os.getpid()}-{name}"
        self.limit_file, self.events = (("memory.limit_in_bytes", "memory.oom_control") if first else
                                        ("memory.max", "memory.events"))
        try:
            self.folder.mkdir()
            (self.folder / self.limit_file).write_text(str(limit))
        except OSError as error:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            raise unittest.SkipTest(f"no control group with a bound on memory: {error}") from error
        if not first:  # not into the swap either
            with contextlib.suppress(OSError):
                (self.folder / "memory.swap.max").write_text("0")

    def command(self, argv):
        """The command line that runs another one in the group."""
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', self.folder / "cgroup.procs", *argv]

    def kills(self):
        """How many processes the kernel has killed for want of memory."""
        return int(re.search(r"^oom_kill (\d+)", (self.folder / self.events).read_text(), re.MULTILINE)[1])

    def close(self):
        """Removes the group, whose processes have ended."""
        harness.wait_until(lambda: not (self.folder / "cgroup.procs").read_text().strip(), "the group to be empty")
        self.folder.rmdir()
