"""Publishes versions of a dataset to a folder (file:) or an object store (s3://, gs://). The layout is the same in both:

    latest.json         the PUBLICATION.json of the newest version; a version is published once this names it
    v2/PUBLICATION.json and the files of the version, under the paths that they have in the dataset's folder
    v2/PUBLISHING.json  only while v2 is being uploaded: the PUBLICATION.json that it will get

The basic idea: no file of a published version changes, and only latest.json is replaced, by a conditional write. An interrupted
upload leaves PUBLISHING.json and whole files, since a write of one file or object is atomic. The next run continues if it publishes
the same files. If not, the other run may be at work, so this one is refused unless it is told to discard that. A file whose digest
the version before has is copied there and not uploaded."""

from __future__ import annotations

import fcntl
import hashlib
import os
import pathlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from kernelmill.errors import RequestError
from kernelmill.publication import MANIFEST, File, Publication

LATEST = "latest.json"
CLAIM = "PUBLISHING.json"
_THREADS = 8
# Called with the number of files that are there, and of all files of the run.
Progress = Callable[[int, int], None]
CHANGED = "{}: another publisher changed it meanwhile; publish again"


@dataclass(frozen=True)
class Moved:
    """How much of a version was uploaded, and how much the destination had."""

    uploaded_files: int = 0
    uploaded_bytes: int = 0
    reused_files: int = 0
    reused_bytes: int = 0


def count(uploaded: Iterable[File], reused: Iterable[File]) -> Moved:
    up, there = list(uploaded), list(reused)
    return Moved(len(up), sum(file.size for file in up), len(there), sum(file.size for file in there))


class Destination(Protocol):
    """A place that versions are published to. Its errors are kernelmill.Error."""

    def latest(self) -> Publication | None:
        """Returns the newest published version, or None."""

    def download(self, publication: Publication, path: str, to: pathlib.Path) -> None:
        """Writes a file of a published version below the folder `to`, under its path."""

    def publish(self, publication: Publication, paths: Mapping[str, pathlib.Path], previous: Publication | None,
                progress: Progress) -> Moved:
        """Uploads the files that `previous` lacks, and then makes the publication the newest version. RequestError: another
        version was published meanwhile."""

    def finish(self, publication: Publication) -> None:
        """Completes what an interrupted run left to do for the newest version."""

    def delete_others(self, kept: Publication) -> None:
        """Deletes all versions except the newest, `kept`, with all their texts."""

    def url(self, version: str) -> str:
        """Returns where a reader finds the version."""


class Store(Protocol):
    """Files by key. Each write is atomic."""

    def read(self, key: str) -> tuple[bytes, str] | None:
        """Returns the content, and a tag that changes with it."""

    def write(self, key: str, content: bytes, tag: str | None) -> None:
        """Writes if the key still has this tag; None: if it does not exist. RequestError: its content changed."""

    def list(self, prefix: str) -> dict[str, int]:
        """Returns the sizes below a folder, by key."""

    def upload(self, key: str, path: pathlib.Path) -> None: ...

    def copy(self, source: str, key: str) -> bool:
        """Copies within the store. False: the store cannot copy this one."""

    def download(self, key: str, to: pathlib.Path) -> None: ...

    def delete(self, keys: Iterable[str]) -> None: ...

    def url(self, key: str) -> str: ...


class Tree:
    """A Destination in a Store."""

    def __init__(self, store: Store, discard: bool) -> None:
        self._store, self._discard = store, discard
        self._tag: str | None = None

    def latest(self) -> Publication | None:
        found = self._store.read(LATEST)
        self._tag = found[1] if found else None
        return Publication.from_bytes(found[0], self._store.url(LATEST)) if found else None

    def download(self, publication: Publication, path: str, to: pathlib.Path) -> None:
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        self._store.download(f"{publication.version}/{path}", to / path)

    def publish(self, publication: Publication, paths: Mapping[str, pathlib.Path], previous: Publication | None,
                progress: Progress) -> Moved:
        folder = publication.version
        present = self._claim(publication)
        todo = [file for file in publication.files if present.get(f"{folder}/{file.path}") != file.size]
        before = {file.sha256: f"{previous.version}/{file.path}" for file in previous.files} if previous else {}

        def put(file: File) -> bool:
            key = f"{folder}/{file.path}"
            if file.sha256 in before and self._store.copy(before[file.sha256], key):
                return False
            self._store.upload(key, paths[file.path])
            return True

        moved = {}
        with ThreadPoolExecutor(_THREADS) as threads:
            for file, up in zip(todo, threads.map(put, todo)):
                moved[file] = up
                progress(len(moved), len(todo))
        self._end(publication)
        return count([file for file, up in moved.items() if up], [file for file in publication.files if not moved.get(file)])

    def _claim(self, publication: Publication) -> dict[str, int]:
        """Returns the files of this version that an interrupted run uploaded. RequestError: the folder is not this run's."""
        folder, content = publication.version, publication.to_bytes()
        claim = self._store.read(f"{folder}/{CLAIM}")
        present = self._store.list(folder)
        if claim and claim[0] == content:
            return present
        if present and not claim:
            raise RequestError(f"{self.url(folder)} has files that kernelmill did not publish: set --tag")
        if claim and not self._discard:
            raise RequestError(f"{self.url(folder)} has an unfinished upload of other files: publish these, or --discard it")
        # The claim is replaced last, so that an interrupted run can be repeated.
        self._store.delete(key for key in present if key != f"{folder}/{CLAIM}")
        self._store.write(f"{folder}/{CLAIM}", content, claim[1] if claim else None)
        return {}

    def _end(self, publication: Publication) -> None:
        folder, content = publication.version, publication.to_bytes()
        made = self._store.read(f"{folder}/{MANIFEST}")
        if made is None or made[0] != content:
            self._store.write(f"{folder}/{MANIFEST}", content, made[1] if made else None)
        self._store.write(LATEST, content, self._tag)
        self.finish(publication)

    def finish(self, publication: Publication) -> None:
        self._store.delete([f"{publication.version}/{CLAIM}"])

    def delete_others(self, kept: Publication) -> None:
        keys = self._store.list("")
        for version in {key.split("/")[0] for key in keys if key.count("/") == 1 and key.endswith((f"/{MANIFEST}", f"/{CLAIM}"))}:
            if version != kept.version:
                # The manifest goes last, so that an interrupted run can be repeated.
                files = [key for key in keys if key.startswith(f"{version}/")]
                self._store.delete(key for key in files if key != f"{version}/{MANIFEST}")
                self._store.delete(key for key in files if key == f"{version}/{MANIFEST}")

    def url(self, version: str) -> str:
        return self._store.url(version)


class Folder:
    """A Store in a folder. A file is written beside its place and then renamed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def _path(self, key: str) -> pathlib.Path:
        return self._folder / key

    def _replace(self, key: str, fill: Callable[[pathlib.Path], object]) -> None:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        # An interrupted run may have left it. The next run of this version writes the same file, or deletes the folder's files.
        new = path.with_name(f".{path.name}.publishing")
        new.unlink(missing_ok=True)
        fill(new)
        with open(new, "rb") as file:
            os.fsync(file.fileno())
        os.replace(new, path)

    def read(self, key: str) -> tuple[bytes, str] | None:
        try:
            content = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        return content, hashlib.sha256(content).hexdigest()

    def write(self, key: str, content: bytes, tag: str | None) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = self.read(key)
            if (found[1] if found else None) != tag:
                raise RequestError(CHANGED.format(self.url(key)), "ABORTED")
            self._replace(key, lambda new: new.write_bytes(content))
        finally:
            os.close(lock)

    def list(self, prefix: str) -> dict[str, int]:
        return {path.relative_to(self._folder).as_posix(): path.stat().st_size
                for path in self._path(prefix).rglob("*") if path.is_file()}

    def upload(self, key: str, path: pathlib.Path) -> None:
        self._replace(key, lambda new: shutil.copyfile(path, new))

    def copy(self, source: str, key: str) -> bool:
        """Links: the files of a published version never change."""
        try:
            self._replace(key, lambda new: os.link(self._path(source), new))
        except OSError:
            self._replace(key, lambda new: shutil.copyfile(self._path(source), new))
        return True

    def download(self, key: str, to: pathlib.Path) -> None:
        shutil.copyfile(self._path(key), to)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            path = self._path(key)
            path.unlink(missing_ok=True)
            # Folders that are empty now.
            for parent in path.relative_to(self._folder).parents:
                try:
                    if parent != pathlib.Path("."):
                        (self._folder / parent).rmdir()
                except OSError:
                    break

    def url(self, key: str) -> str:
        return f"file:{self._path(key)}"
