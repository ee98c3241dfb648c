"""An evidence file: observations of kernels as JSON lines, sorted, and a folder with the bytes of tensors beside it.

A job reads no file above 16 MiB. So the rows that exceed PART_BYTES are in further files: evidence.jsonl, evidence-0001.jsonl, ..., each
sorted, and one behind the other. All of them are one evidence file, under the first one's name."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from kernelmill.errors import DatasetError
from kernelmill.execution.case import Case, Row, canonical

PART_BYTES = 8 << 20
TYPES = ("case", "result", "adequacy", "recording", "speed", "change")


def key(row: Row) -> tuple[str, ...]:
    """Returns what a row is an observation of. A later observation of the same thing replaces it."""
    kind = str(row["type"])
    if kind == "case":
        return (kind, row["module_sha256"], row["kernel"], row["id"])
    if kind == "result":
        return (kind, row["module_sha256"], row["case"], row["device"], canonical(row["toolchain"]), canonical(row["environment"]))
    if kind == "recording":
        return (kind, row["repository"], row["commit"], row["part"], row["device"], canonical(row["toolchain"]),
                json.dumps(row.get("arguments", [])))
    if kind == "change":
        sides = (row["before"], row["after"])
        return (kind, *(each[name] for each in sides for name in ("module_sha256", "kernel")), row["case"], row["device"],
                canonical(row["toolchain"]), str(row["hardware"]))
    return (kind, row["module_sha256"], row["kernel"], str(row.get("case", "")), row["device"], canonical(row.get("toolchain", {})),
            str(row.get("hardware", "")))


class Evidence:
    """The rows of a file. Not for several threads. DatasetError: the file is damaged."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = pathlib.Path(file)
        self.folder = self.file.with_suffix("")
        self._rows: dict[tuple[str, ...], Row] = {}
        for part in self.files():
            self.add_file(part)

    def _part(self, number: int) -> pathlib.Path:
        return self.file if number == 0 else self.file.with_name(f"{self.file.stem}-{number:04}{self.file.suffix}")

    def files(self) -> list[pathlib.Path]:
        """Returns the files that exist, which are numbered without a gap."""
        files: list[pathlib.Path] = []
        while self._part(len(files)).exists():
            files.append(self._part(len(files)))
        return files

    def add_file(self, file: pathlib.Path) -> None:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row = json.loads(line)
                    if row["type"] not in TYPES:
                        raise ValueError(f"unknown type {row['type']}")
                    if row["type"] == "case":
                        Case(row).check()
                    self.add(row)
                except (ValueError, KeyError, TypeError, DatasetError) as error:
                    raise DatasetError(f"{file}:{number}: {error}") from error

    def add(self, row: Row) -> None:
        self._rows[key(row)] = row

    def has(self, row: Row) -> bool:
        return key(row) in self._rows

    def find(self, row: Row) -> Row | None:
        """Returns the observation of the same thing."""
        return self._rows.get(key(row))

    def rows(self, kind: str) -> Iterator[Row]:
        return (self._rows[each] for each in sorted(self._rows) if each[0] == kind)

    def cases(self) -> list[Case]:
        return [Case(row) for row in self.rows("case")]

    def put(self, data: bytes) -> str:
        """Keeps bytes. Returns their SHA-256."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.folder / digest
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(path, data)
        return digest

    def get(self, digest: str) -> bytes:
        """DatasetError: the bytes are missing or damaged."""
        path = self.folder / digest
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DatasetError(f"{path}: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise DatasetError(f"{path} is damaged: its SHA-256 does not match")
        return data

    def merge(self, other: Evidence) -> None:
        """Adds the rows of another file, and the tensors that its cases name."""
        for row in other._rows.values():
            self.add(row)
            if row["type"] == "case":
                for digest in tensors_of(row):
                    self.put(other.get(digest))

    def save(self) -> None:
        """Replaces the files, the last one first: a row that moves to a later file is there before it leaves its own."""
        texts: list[list[str]] = [[]]
        size = 0
        for each in sorted(self._rows):
            line = canonical(self._rows[each]) + "\n"
            if size and size + len(line.encode()) > PART_BYTES:
                texts.append([])
                size = 0
            texts[-1].append(line)
            size += len(line.encode())
        self.file.parent.mkdir(parents=True, exist_ok=True)
        stale = self.files()[len(texts):]
        for number in reversed(range(len(texts))):
            _replace(self._part(number), "".join(texts[number]).encode())
        for part in reversed(stale):
            part.unlink()


def tensors_of(row: dict[str, Any]) -> list[str]:
    """Returns the SHA-256 of all bytes that a case names."""
    return [each["sha256"] for each in (*row["storages"], *row["outputs"]) if "sha256" in each]


def _replace(path: pathlib.Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".tmp-", delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
