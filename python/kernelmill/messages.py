"""The answers of a coordinator.

Made by python/generate.py of proto/kernelmill/v1/crawl.proto: change that, and run it."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class JobState(enum.Enum):
    """JobState of the coordinator; its value is the word for it."""

    UNSPECIFIED = "unspecified"
    RUNNING = "running"
    # has a dataset; `failures` may still list inputs that failed
    DONE = "done"
    # has no dataset; `failures` says why
    FAILED = "failed"
    # its embedded coordinator exited before the job ended
    ABANDONED = "abandoned"
    # cancelled by a client
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class StageProgress:
    """StageProgress of the coordinator."""

    stage: str
    # tasks known so far
    total: int
    # includes `cached`
    done: int
    # from the action cache
    cached: int
    failed: int
    running: int


@dataclass(frozen=True)
class Failure:
    """An input that could not be processed."""

    # the repository, package or path
    source: str
    stage: str
    # canonical status code name, e.g. NOT_FOUND
    code: str
    message: str
    # files lost with it, if known
    files: int
    # the file's path, if the input is a file
    path: bytes


@dataclass(frozen=True)
class Counter:
    """A counter of a stage's work; never a part of a dataset. Names are dotted, with the unit first: "files.seen",
    "files.skipped.symlink", "kernels.found", "kernels.rejected.license", "bytes.received". "sources.unfiltered" counts
    git servers that sent whole trees because they cannot filter."""

    name: str
    value: int


@dataclass(frozen=True)
class Digest:
    """Digest of the coordinator."""

    # lowercase hexadecimal
    hash: str
    # of the uncompressed content
    size_bytes: int


@dataclass(frozen=True)
class Troubled:
    """A task that will be retried after a failed attempt, or that waits for something."""

    source: str
    stage: str
    # so far
    attempts: int
    last_error: str


@dataclass(frozen=True)
class OtherVersion:
    """OtherVersion of the coordinator."""

    version: int
    workers: int


@dataclass(frozen=True)
class Unserved:
    """A stage that no connected worker can run."""

    stage: str
    version: int
    # ready tasks
    tasks: int
    # Connected workers that have the stage in other versions.
    others: tuple[OtherVersion, ...]


@dataclass(frozen=True)
class JobStatus:
    """JobStatus of the coordinator."""

    job: str
    name: str
    state: JobState
    # in the order of the data flow
    stages: tuple[StageProgress, ...]
    # the first hundred; ListFailures has all
    failures: tuple[Failure, ...]
    # summed over tasks; sorted by name
    counters: tuple[Counter, ...]
    # The DatasetManifest; set when DONE.
    dataset: Digest | None
    submitted_unix_ms: int
    ended_unix_ms: int
    priority: int
    # 1, plus 1 for each Retry
    runs: int
    # Tasks that failed and will be retried, or that wait; at most 100.
    troubled: tuple[Troubled, ...]
    no_cache: bool
    failure_count: int
    # Stages with ready tasks, but without a connected worker that can run them.
    unserved: tuple[Unserved, ...]
    # The caller that submitted the job, "client alice"; without TLS its host.
    owner: str


@dataclass(frozen=True)
class StageSupport:
    """A stage that a worker can run."""

    stage: str
    version: int


@dataclass(frozen=True)
class RunningTask:
    """RunningTask of the coordinator."""

    job: str
    task: int
    stage: str
    source: str
    # from 1
    attempt: int
    leased_unix_ms: int


@dataclass(frozen=True)
class WorkerInfo:
    """WorkerInfo of the coordinator."""

    name: str
    # from the certificate or token, "worker.w3"; empty without TLS
    caller: str
    # the version of its build
    version: str
    stages: tuple[StageSupport, ...]
    # tasks that it runs at a time
    slots: int
    running: tuple[RunningTask, ...]
    last_heard_unix_ms: int


@dataclass(frozen=True)
class TaskTiming:
    """The time that a worker spent on a task."""

    # waiting for a slot
    waited_us: int
    # looking in the action cache
    lookup_us: int
    # in the stage, with its reads and writes of blobs
    run_us: int
    # writing the result
    store_us: int


@dataclass(frozen=True)
class TaskSpan:
    """One attempt at a task."""

    task: int
    stage: str
    # empty for job-wide tasks
    source: str
    # from 1
    attempt: int
    worker: str
    # when it became ready
    ready_unix_ms: int
    # 0: not yet
    leased_unix_ms: int
    # 0: not yet
    ended_unix_ms: int
    # "done", "cached", "failed", "lost", "handed_back" or "running"; "recent": pinned from the pin history.
    outcome: str
    # measured by the worker
    timing: TaskTiming | None
