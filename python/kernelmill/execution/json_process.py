"""A process of ours that speaks lines of JSON. Modules of strangers run in children of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from typing import Any, TypeVar

from kernelmill.errors import ProgramError
from kernelmill.execution import harness
from kernelmill.execution.case import Row

Self = TypeVar("Self", bound="JsonProcess")


class JsonProcess:
    """Runs a module of this package in a process of its own, which writes a line of JSON once it is ready (`ready`), and one for each
    line that it is sent. For one thread. Use as a context. ProgramError: it cannot be started, or it broke; `fails` begins the message,
    and `needs` ends it."""

    def __init__(self, python: str, module: str, options: Row, confined: bool, environment: dict[str, str], fails: str, needs: str = "",
                 descriptors: tuple[int, ...] = ()) -> None:
        self._fails, self._needs = fails, needs
        self._scratch = tempfile.mkdtemp(prefix="kernelmill-run-")
        paths = [str(harness.PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": self._scratch, "TMPDIR": self._scratch,
               "KERNELMILL_SCRATCH": self._scratch, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1",
               "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **environment}
        if not confined:
            env["KERNELMILL_SANDBOX"] = "off"
        given = json.dumps({**options, "confined": confined, "parent": os.getpid()})
        self._process = subprocess.Popen([python, "-m", module, given], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, pass_fds=descriptors, env=env)
        try:
            self.ready = self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def ask(self, job: Row) -> Any:
        """Sends a line, and returns the answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # _read says why it ended
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None and self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line:
            words = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
            raise ProgramError(f"{self._fails}: {words[-1] if words else 'the process ended'}{self._needs}")
        return json.loads(line)
