"""What can go wrong, as types. All of them are kernelmill.Error."""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from kernelmill.messages import JobStatus


class Error(Exception):
    """Of everything below."""


class DatasetError(Error):
    """A folder is no dataset, or a file of it is not what it should be."""


class RequestError(Error):
    """The request is wrong; the message says how. `code` is the gRPC status's name, as INVALID_ARGUMENT."""

    def __init__(self, message: str, code: str = "INVALID_ARGUMENT") -> None:
        super().__init__(message)
        self.code = code


class NotFound(RequestError):
    """There is no such job, or no such file."""


class NotPermitted(RequestError):
    """The certificate or token does not allow this."""


class Unreachable(Error):
    """The cluster did not answer for as long as the client tries, or does not know who is calling."""


class TimedOut(Error, TimeoutError):
    """The time that the caller gave is up. A job goes on without whom it was waited for by."""


class Refused(Error):
    """The cluster cannot take this now, as too many jobs that have not ended."""


class ProgramError(Error):
    """The program that the wheel carries could not be run, or ended as it should not have. `exit_code` is None where it
    was not started."""

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class JobFailed(Error):
    """A job ended without a dataset; `status` says why."""

    def __init__(self, status: JobStatus) -> None:
        reasons = "; ".join(f"{f.source} {f.stage} {f.code}: {f.message}" for f in status.failures[:3])
        super().__init__(f"job {status.job} ended as {status.state.value}" + (f": {reasons}" if reasons else ""))
        self.status = status


class JobCancelled(JobFailed):
    """A client ended it."""


class JobAbandoned(JobFailed):
    """Its coordinator was closed for good before it ended."""
