"""kernelmill turns source repositories into a training-ready dataset of GPU kernels.

The wheel carries the client as a program: `kernelmill --help`, or `python -m kernelmill --help`. From Python:

    import kernelmill

    kernelmill.crawl("my-kernels.yaml", out="my-dataset")      # a whole job in one process
    for kernel in kernelmill.load("my-dataset").kernels:       # typed rows, read as one goes through them
        print(kernel.name, kernel.license.expression)

    with kernelmill.Client("coordinator:7070", store="store:7071") as client:   # pip install 'kernelmill[client]'
        job = client.submit("my-kernels.yaml")
        for event in client.watch(job):
            print(event)
        client.export(job, "my-dataset")
"""

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from kernelmill.client import (Client as Client, Ended as Ended, Event as Event, InputFailed as InputFailed, Lost as Lost,
                                   Progress as Progress, Report as Report, Unmatched as Unmatched)
    from kernelmill.dataset import Dataset as Dataset, load as load
    from kernelmill.errors import (DatasetError as DatasetError, Error as Error, JobAbandoned as JobAbandoned,
                                   JobCancelled as JobCancelled, JobFailed as JobFailed, NotFound as NotFound,
                                   NotPermitted as NotPermitted, ProgramError as ProgramError, Refused as Refused,
                                   RequestError as RequestError, TimedOut as TimedOut, Unreachable as Unreachable)
    from kernelmill.messages import (Failure as Failure, JobState as JobState, JobStatus as JobStatus, StageProgress as StageProgress,
                                     TaskSpan as TaskSpan, WorkerInfo as WorkerInfo)
    from kernelmill.program import Exported as Exported, Job as Job, check as check, crawl as crawl
    from kernelmill.publisher import Objected as Objected, Published as Published, publish as publish
    from kernelmill.records import (Fim as Fim, Instruct as Instruct, Kernel as Kernel, LedgerRow as LedgerRow, Notice as Notice,
                                    Pair as Pair, Task as Task)
    from kernelmill.tables import Table as Table

    __version__: str

# Imported on first use: the program's start does not wait for these modules, and only the client needs gRPC.
_MODULES = {
    "client": ("Client", "Ended", "Event", "InputFailed", "Lost", "Progress", "Report", "Unmatched"),
    "dataset": ("Dataset", "load"),
    "errors": ("DatasetError", "Error", "JobAbandoned", "JobCancelled", "JobFailed", "NotFound", "NotPermitted", "ProgramError",
               "Refused", "RequestError", "TimedOut", "Unreachable"),
    "messages": ("Failure", "JobState", "JobStatus", "StageProgress", "TaskSpan", "WorkerInfo"),
    "program": ("Exported", "Job", "check", "crawl"),
    "publisher": ("Objected", "Published", "publish"),
    "records": ("Fim", "Instruct", "Kernel", "LedgerRow", "Notice", "Pair", "Task"),
    "tables": ("Table",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOMES)


def _home(name: str) -> typing.Any:
    """Imports and returns the module that has the name."""
    try:
        return importlib.import_module(f"kernelmill.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name != "kernelmill.records":
            raise
        raise ImportError("kernelmill/records.py is missing: a wheel has it; in a source checkout python/generate.py writes it") from error


def __getattr__(name: str) -> typing.Any:
    if name == "__version__":  # rarely used, and slow to import
        from importlib import metadata

        return metadata.version("kernelmill")
    if name in _HOMES:
        return getattr(_home(name), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
