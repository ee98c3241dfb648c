"""The kernels of a dataset, or of a bundle, that can be run."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass

from kernelmill.errors import DatasetError
from kernelmill.execution.case import Row

FILE = "kernels.jsonl"
# The fields that running and recording use.
KEYS = ("repository", "commit", "path", "qualname", "name", "first_line", "last_line", "sha256", "source", "module", "dsl", "role", "id")


@dataclass(frozen=True)
class KernelRow:
    """A launched Triton kernel."""

    row: Row

    @property
    def module(self) -> str:
        return str(self.row["module"])

    @property
    def module_sha256(self) -> str:
        return hashlib.sha256(self.module.encode()).hexdigest()

    @property
    def name(self) -> str:
        return str(self.row["qualname"])


def read_kernels(folder: str | os.PathLike[str]) -> Iterator[KernelRow]:
    """DatasetError: the folder has no kernels.jsonl, or it is damaged."""
    file = pathlib.Path(folder) / FILE
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row = {key: value for key, value in json.loads(line).items() if key in KEYS}
                    if row["dsl"] == "triton" and row["role"] == "kernel" and row["module"]:
                        yield KernelRow(row)
                except (ValueError, KeyError, AttributeError) as error:
                    raise DatasetError(f"{file}:{number}: {error}") from error
    except OSError as error:
        raise DatasetError(f"{file}: {error.strerror}") from error
