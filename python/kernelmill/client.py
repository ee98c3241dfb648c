"""Provides Client, a gRPC client of a cluster's coordinator. Needs the extra `client`: pip install 'kernelmill[client]'."""

from __future__ import annotations

import json
import os
import pathlib
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar, Union

try:
    import grpc
    from kernelmill import wire
except ImportError as error:
    raise ImportError(f"kernelmill.Client needs grpcio and protobuf: pip install 'kernelmill[client]' ({error})") from error

from kernelmill import program
from kernelmill.errors import (Error, JobAbandoned, JobCancelled, JobFailed, NotFound, NotPermitted, Refused, RequestError,
                               TimedOut, Unreachable)
from kernelmill.messages import Failure, JobState, JobStatus, StageProgress, TaskSpan, WorkerInfo

T = TypeVar("T")

MAX_MESSAGE_BYTES = 16 << 20
KEEPALIVE_MS = 30_000
FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.2, 4.0


@dataclass(frozen=True)
class Progress:
    """Tasks of a job began or ended."""

    status: JobStatus
    # The stages whose numbers changed.
    stages: tuple[StageProgress, ...]


@dataclass(frozen=True)
class InputFailed:
    """An input could not be processed; the job goes on. A watch gives a job's first hundred failures; report() returns all."""

    status: JobStatus
    failure: Failure


@dataclass(frozen=True)
class Lost:
    """The coordinator does not answer; the watch resumes when it does."""

    status: JobStatus | None
    error: Error


@dataclass(frozen=True)
class Ended:
    """The job ended, as `status.state` says. The last event."""

    status: JobStatus


Event = Union[Progress, InputFailed, Lost, Ended]


@dataclass(frozen=True)
class Unmatched:
    """A part of a job that matches nothing, such as an include; docs/dataset.md lists the kinds."""

    what: str
    where: str
    source: str
    asked: str
    message: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """Everything that a coordinator knows about a job."""

    status: JobStatus
    # All failures; `status` has only the first ones.
    failures: tuple[Failure, ...]
    # Counts of tasks, files and kernels, sorted by name.
    counters: dict[str, int]
    # Parts of the job that match nothing; they are no failures.
    unmatched: tuple[Unmatched, ...]


class _Token(grpc.AuthMetadataPlugin):
    """Adds the token of a file to each call; reads the file again when it changes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._token = ""
        self._lock = threading.Lock()
        self._read()

    def _read(self) -> None:
        found = os.stat(self._path)
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if stamp != self._stamp:
            self._token = pathlib.Path(self._path).read_text(encoding="utf-8").strip()
            self._stamp = stamp

    def __call__(self, context: Any, callback: Any) -> None:
        with self._lock:
            try:
                self._read()
            except OSError:
                pass  # the token from the last successful read remains valid
            callback((("authorization", f"Bearer {self._token}"),), None)


def _read(name: str, path: str | os.PathLike[str]) -> bytes:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise RequestError(f"{name}: {path}: {error.strerror}") from error


def _from_status(call: Any) -> Error:
    """Converts a gRPC error to a kernelmill.Error."""
    code, message = call.code(), call.details() or ""
    text = message or code.name
    if code == grpc.StatusCode.NOT_FOUND:
        return NotFound(text, code.name)
    if code == grpc.StatusCode.PERMISSION_DENIED:
        return NotPermitted(text, code.name)
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAUTHENTICATED):
        return Unreachable(f"{code.name}: {message}")
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return TimedOut(text)
    if code == grpc.StatusCode.RESOURCE_EXHAUSTED:
        return Refused(text)
    if code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ALREADY_EXISTS,
                grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.UNIMPLEMENTED):
        return RequestError(text, code.name)
    return Error(f"{code.name}: {message}")


def has_ended(status: JobStatus) -> bool:
    return status.state not in (JobState.UNSPECIFIED, JobState.RUNNING)


class Client:
    """A connection to a coordinator, opened at the first call. Thread-safe. Close it, or use it with `with`.

    address: the coordinator, host:port.
    store: the content store, host:port; export() alone needs it.
    tls_ca, tls_cert, tls_key, token_file: PEM files and a token file, like the program's flags of these names. If one is
        None, the client uses the environment variable that the program reads. It reads certificates once, and the token
        again when its file changes.
    timeout: seconds that a call may take; a watch may take as long as the job.
    reconnect_seconds: for how long the client retries while the coordinator does not answer.

    Every call may raise Unreachable, TimedOut, NotPermitted and RequestError.
    """

    def __init__(self, address: str | None = None, *, store: str | None = None, tls_ca: str | os.PathLike[str] | None = None,
                 tls_cert: str | os.PathLike[str] | None = None, tls_key: str | os.PathLike[str] | None = None,
                 token_file: str | os.PathLike[str] | None = None, timeout: float = 60, reconnect_seconds: float = 60) -> None:
        def given(value: str | os.PathLike[str] | None, variable: str, default: str = "") -> str:
            return os.fspath(value) if value is not None else os.environ.get(variable) or default

        self.address = given(address, "KERNELMILL_COORDINATOR", "127.0.0.1:7070")
        self.store = given(store, "KERNELMILL_STORE", "127.0.0.1:7071")
        self.timeout = timeout
        self.reconnect_seconds = reconnect_seconds
        self._identity = {"--tls-ca": given(tls_ca, "KERNELMILL_TLS_CA"), "--tls-cert": given(tls_cert, "KERNELMILL_TLS_CERT"),
                          "--tls-key": given(tls_key, "KERNELMILL_TLS_KEY"),
                          "--token-file": given(token_file, "KERNELMILL_TOKEN_FILE")}
        self._closed = threading.Event()
        self._channel = self._connect()
        # Without this, a program that exits during a call stops gRPC's thread in the middle of the call.
        weakref.finalize(self, self._channel.close)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.address!r})"

    def close(self) -> None:
        """Ends all calls and watches. The client cannot be used afterwards."""
        self._closed.set()
        self._channel.close()

    # ---------------------------------------------------------------- jobs

    def submit(self, job: program.Job, *, priority: int = 0, no_cache: bool = False, request_id: str | None = None) -> str:
        """Submits a job and returns its name; the job is durable when this returns. A job is a mapping with a job file's
        keys, a job file's text, or its path. `request_id` names the submission: resubmitting with the same id returns the
        existing job. RequestError: the job is wrong; the message says where. Refused: too many jobs have not ended."""
        file, text = program.job_argument(job)
        spec = wire.spec_of_json(program.run(["check", file], text=text, fails=(1,)).output)
        response = self._call("Submit", spec=spec, request_id=request_id or uuid.uuid4().hex, priority=priority,
                              no_cache=no_cache)
        return str(response.job)

    def status(self, job: str) -> JobStatus:
        """Returns the current status of a job. NotFound."""
        return wire.typed(self._call("GetJob", job=job), JobStatus)

    def jobs(self) -> list[JobStatus]:
        """Returns all jobs, newest first, without their failures and counters."""
        return [wire.typed(status, JobStatus) for status in self._call("ListJobs").jobs]

    def workers(self) -> list[WorkerInfo]:
        """Returns the workers that contacted the coordinator recently."""
        return [wire.typed(worker, WorkerInfo) for worker in self._call("ListWorkers").workers]

    def failures(self, job: str) -> Iterator[Failure]:
        """Iterates over the inputs that failed; fetches a page at a time. NotFound."""
        return (failure for failure in self._listed(job) if not _is_unmatched(failure))

    def _listed(self, job: str) -> Iterator[Failure]:
        """Iterates over the failures and, in their form, what matches nothing."""
        token = ""
        while True:
            page = self._call("ListFailures", job=job, page_token=token)
            for failure in page.failures:
                yield wire.typed(failure, Failure)
            token = page.next_page_token
            if not token:
                return

    def report(self, job: str) -> Report:
        """Returns a job's ledger in numbers, and every input that failed. NotFound."""
        status = self.status(job)
        listed = status.failures
        if len(listed) >= _LISTED:
            listed = tuple(self._listed(job))
        failures = tuple(failure for failure in listed if not _is_unmatched(failure))
        unmatched = tuple(_unmatched(failure) for failure in listed if _is_unmatched(failure))
        return Report(status, failures, {counter.name: counter.value for counter in status.counters}, unmatched)

    def timeline(self, job: str) -> Iterator[TaskSpan]:
        """Iterates over the times at which each task waited, ran and ended, in the order of creation. NotFound."""
        call = self._stream("Timeline", None, job=job)
        try:
            for part in call:
                for span in part.spans:
                    yield wire.typed(span, TaskSpan)
        except grpc.RpcError as error:
            raise _from_status(error) from error
        finally:
            call.cancel()

    def cancel(self, job: str) -> JobStatus:
        """Cancels a job; has no effect on a job that has ended. NotFound."""
        return wire.typed(self._call("Cancel", job=job), JobStatus)

    def retry(self, job: str, *, no_cache: bool = False) -> JobStatus:
        """Runs an ended job again under its name; repeats only the work that failed. NotFound."""
        return wire.typed(self._call("Retry", job=job, no_cache=no_cache), JobStatus)

    def delete(self, job: str) -> None:
        """Deletes a job that has ended, and lets the store drop its dataset. NotFound. RequestError: the job is running."""
        self._call("Delete", job=job)

    # ---------------------------------------------------------------- watching

    def watch(self, job: str, *, timeout: float | None = None) -> Iterator[Event]:
        """Follows a job to its end: yields its current status, then every change; the last event is Ended. Continues after a
        restart of the coordinator. NotFound. Unreachable: no answer for reconnect_seconds. TimedOut: `timeout` seconds passed."""
        until = None if timeout is None else time.monotonic() + timeout
        last: JobStatus | None = None
        heard, attempt, lost = time.monotonic(), 0, False
        while True:
            error: Error = Unreachable("the coordinator ended the watch")
            call = self._stream("Watch", until, job=job)
            try:
                for message in call:
                    status = wire.typed(message, JobStatus)
                    heard, attempt, lost = time.monotonic(), 0, False
                    yield from _events(last, status)
                    last = status
                    if has_ended(status):
                        return
            except grpc.RpcError as failed:
                error = _from_status(failed)
            finally:
                call.cancel()
            if isinstance(error, TimedOut) and until is not None and time.monotonic() >= until:
                raise TimedOut(f"job {job} has not ended after {timeout} seconds")
            if not isinstance(error, (Unreachable, TimedOut)) or time.monotonic() > heard + self.reconnect_seconds:
                raise error
            if not lost:
                lost = True
                yield Lost(last, error)
            self._pause(attempt, until, error)
            attempt += 1

    def wait(self, job: str, *, timeout: float | None = None) -> JobStatus:
        """Waits for a job's dataset; the status that it returns lists inputs that failed. JobFailed, JobCancelled, JobAbandoned:
        the job ended without a dataset. TimedOut: after `timeout` seconds."""
        for event in self.watch(job, timeout=timeout):
            if isinstance(event, Ended):
                if event.status.state == JobState.DONE:
                    return event.status
                kinds = {JobState.CANCELLED: JobCancelled, JobState.ABANDONED: JobAbandoned}
                raise kinds.get(event.status.state, JobFailed)(event.status)
        raise Error("a watch ended without its last event")

    def export(self, job: str, out: str | os.PathLike[str], *, timeout: float | None = None) -> program.Exported:
        """Writes a job's dataset to the folder `out` with the program that the wheel carries. NotFound. RequestError: the job
        has no dataset, or `out` is a folder with other files."""
        arguments: list[str | os.PathLike[str]] = ["export", job, "--out", out, "--coordinator", self.address,
                                                   "--store", self.store]
        for flag, value in self._identity.items():
            if value:
                arguments += [flag, value]
        return program.exported(program.run(arguments, timeout=timeout, fails=(1,)), out)

    # ---------------------------------------------------------------- calls

    def _connect(self) -> grpc.Channel:
        options = [("grpc.keepalive_time_ms", KEEPALIVE_MS), ("grpc.max_reconnect_backoff_ms", 2000),
                   ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES), ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
                   ("grpc.enable_retries", 0)]
        authority, certificate, key, token = self._identity.values()
        if not (authority or certificate or key):
            if token:
                raise RequestError("token_file needs TLS: tls_ca")
            return grpc.insecure_channel(self.address, options)
        if not authority:
            raise RequestError("tls_ca is missing")
        if bool(certificate) != bool(key):
            raise RequestError("tls_cert and tls_key go together")
        credentials = grpc.ssl_channel_credentials(_read("tls_ca", authority), _read("tls_key", key) if key else None,
                                                   _read("tls_cert", certificate) if certificate else None)
        if token:
            _read("token_file", token)
            call = grpc.metadata_call_credentials(_Token(token))
            credentials = grpc.composite_channel_credentials(credentials, call)
        return grpc.secure_channel(self.address, credentials, options)

    def _request(self, name: str, values: dict[str, Any]) -> tuple[str, Any, Callable[[Any], bytes], Callable[[bytes], Any]]:
        if self._closed.is_set():
            raise RequestError("the client is closed", "FAILED_PRECONDITION")
        method = wire.method(name)
        request = wire.message_class(method.input_type.name)(**values)
        answer = wire.message_class(method.output_type.name)
        return f"/{wire.PACKAGE}.Crawl/{name}", request, lambda message: bytes(message.SerializeToString()), answer.FromString

    def _call(self, name: str, **values: Any) -> Any:
        """Makes a call that is safe to repeat, and retries it; returns the answer or raises a kernelmill.Error."""
        path, request, serialize, parse = self._request(name, values)
        if request.ByteSize() > MAX_MESSAGE_BYTES:
            raise RequestError(f"the job has {request.ByteSize()} bytes; {MAX_MESSAGE_BYTES} are what one may have")
        call = self._channel.unary_unary(path, request_serializer=serialize, response_deserializer=parse)
        until = time.monotonic() + self.reconnect_seconds
        attempt = 0
        while True:
            try:
                return call(request, timeout=self.timeout)
            except grpc.RpcError as failed:
                error = _from_status(failed)
                if name == "Delete" and attempt > 0 and isinstance(error, NotFound):
                    return None  # an earlier attempt deleted the job, and its answer was lost
                if failed.code() != grpc.StatusCode.UNAVAILABLE or time.monotonic() >= until:
                    raise error from failed
            except ValueError as closed:  # gRPC raises it for a closed channel
                raise Unreachable("the client was closed") from closed
            self._pause(attempt, until, error)
            attempt += 1

    def _stream(self, name: str, until: float | None, **values: Any) -> Any:
        path, request, serialize, parse = self._request(name, values)
        call = self._channel.unary_stream(path, request_serializer=serialize, response_deserializer=parse)
        try:
            return call(request, timeout=None if until is None else max(0.0, until - time.monotonic()))
        except ValueError as closed:
            raise Unreachable("the client was closed") from closed

    def _pause(self, attempt: int, until: float | None, error: Error) -> None:
        """Waits before the next attempt, at most until `until`. Raises the error if the client is closed meanwhile."""
        pause = min(MAX_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** min(attempt, 10))
        if until is not None:
            pause = min(pause, max(0.0, until - time.monotonic()))
        if self._closed.wait(pause):
            raise error


# A status lists no more failures.
_LISTED = 100


def _is_unmatched(failure: Failure) -> bool:
    """Returns true if a failure is the form in which the manifest stage reports what matches nothing."""
    return failure.stage == "manifest" and failure.path.startswith(b"unmatched.")


def _unmatched(failure: Failure) -> Unmatched:
    """Reads the entry that is a failure's message."""
    entry = json.loads(failure.message)
    words = {key: str(entry.get(key, "")) for key in ("what", "where", "source", "asked", "message")}
    return Unmatched(**words, paths=tuple(str(path) for path in entry.get("paths", [])))


def _events(last: JobStatus | None, status: JobStatus) -> Iterator[Event]:
    """Yields the events that lead from the last status to this one."""
    before = {} if last is None else {stage.stage: stage for stage in last.stages}
    changed = tuple(stage for stage in status.stages if before.get(stage.stage) != stage)
    if changed or last is None:
        yield Progress(status, changed)
    known = set() if last is None else set(last.failures)
    for failure in status.failures:
        if failure not in known and not _is_unmatched(failure):
            yield InputFailed(status, failure)
    if has_ended(status):
        yield Ended(status)
