"""Defines the errors of this package. All of them derive from kernelmill.Error."""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from kernelmill.messages import JobStatus


class Error(Exception):
    """The base of all errors of this package."""


class DatasetError(Error):
    """A folder is not a dataset, or one of its files is invalid."""


class RequestError(Error):
    """The request is wrong; the message says how. `code` is the gRPC status's name, as INVALID_ARGUMENT."""

    def __init__(self, message: str, code: str = "INVALID_ARGUMENT") -> None:
        super().__init__(message)
        self.code = code


class NotFound(RequestError):
    """The job or file does not exist."""


class NotPermitted(RequestError):
    """The certificate or token does not allow this."""


class Unreachable(Error):
    """The cluster did not answer while the client retried, or could not authenticate the caller."""


class TimedOut(Error, TimeoutError):
    """The caller's timeout expired. The job itself continues."""


class Refused(Error):
    """The cluster cannot accept the request now, for example because too many jobs have not ended."""


class ProgramError(Error):
    """The program that the wheel carries did not start, or ended unexpectedly. `exit_code` is None if it did not
    start."""

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
    """A client cancelled the job."""


class JobAbandoned(JobFailed):
    """The coordinator shut down for good before the job ended."""
