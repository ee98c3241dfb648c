"""Opens a dataset that `kernelmill crawl`, `submit --out` or `export` wrote, or that was published. Needs only the standard library,
except for Parquet and pandas."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from kernelmill.errors import DatasetError
from kernelmill.records import Kernel, Tables, Task
from kernelmill.tables import Table

if typing.TYPE_CHECKING:
    from kernelmill.tasks.contents import TaskCase

R = TypeVar("R")


class Dataset(Tables):
    """An exported folder. The tables read their files during iteration:

        for kernel in kernelmill.load("out").kernels:
            print(kernel.id, kernel.license.expression)

    The dataset itself stands for its kernels: kernelmill.load("out")["11bead49525b0b6596c33d05b0dc590c"].
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(folder)
        if not (self.folder / "report.json").is_file():
            raise DatasetError(f"{self.folder} is no dataset: it has no report.json")

    def __repr__(self) -> str:
        return f"Dataset({str(self.folder)!r}, {self.digest})"

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """report.json: the totals, the policies, the failures."""
        return self._json("report.json")

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        """MANIFEST.json: the source files by category."""
        return self._json("MANIFEST.json")

    @property
    def digest(self) -> str:
        """The digest of the whole dataset, hash/size."""
        return str(self.report["dataset"])

    @property
    def name(self) -> str:
        """The name of the job."""
        return str(self.report["name"])

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __getitem__(self, id: str) -> Kernel:
        """Returns the kernel with this id. KeyError: the dataset has no such kernel."""
        return self._kernels[id]

    def __contains__(self, id: object) -> bool:
        return id in self._kernels

    def to_pandas(self, columns: Sequence[str] | None = None) -> Any:
        """Returns the kernels as a pandas.DataFrame with the id as its index. `columns` are the only ones that are read."""
        return self._kernels.to_pandas(columns)

    def to_polars(self, columns: Sequence[str] | None = None) -> Any:
        """Returns the kernels as a polars.DataFrame. `columns` are the only ones that are read."""
        return self._kernels.to_polars(columns)

    def draw_figures(self) -> list[pathlib.Path]:
        """Draws figs/*.png in the dataset's folder; returns the files. Needs matplotlib (kernelmill[figures])."""
        from kernelmill import figures

        return figures.draw(self.folder)

    def count_tokens(self, tokenizer: str | os.PathLike[str], *, pack: int = 0, end: str = "", phase: str = "") -> dict[str, Any]:
        """Counts the tokens of the rows with a tokenizer.json, and packs them into sequences of `pack` tokens, as
        `python3 -m kernelmill.tokens` does; returns tokens.json. Needs tokenizers (kernelmill[tokens])."""
        from kernelmill import tokens

        return tokens.run(self.folder, os.fspath(tokenizer), length=pack, end=end, phase=phase)

    def cases(self, task: Task | Mapping[str, Any], evidence: str | os.PathLike[str] | None = None) -> list[TaskCase]:
        """Returns the cases of a task with their bytes, those of its text first: `case.inputs()` and `case.outputs()` are arrays of
        numpy, or with form="torch" tensors. `evidence`: the evidence file beside whose folder tensors lie. Without it, expected outputs
        are computed on Triton's interpreter, and cases with other tensors by content are left out. Needs kernelmill[run]."""
        from kernelmill.tasks import expected

        return expected.cases_of(task, evidence)

    @functools.cached_property
    def _kernels(self) -> Table[Kernel]:
        """The table that keeps its index."""
        return self.kernels

    def _table(self, file: str, row: type[R]) -> Table[R]:
        rows = self.report.get("rows", {})
        return Table(self.folder / file, row, empty=rows.get(file.removesuffix(".jsonl")) == 0)

    def _json(self, file: str) -> dict[str, Any]:
        try:
            value = json.loads((self.folder / file).read_bytes())
        except (OSError, ValueError) as error:
            raise DatasetError(f"{self.folder / file}: {error}") from error
        if not isinstance(value, dict):
            raise DatasetError(f"{self.folder / file}: no object")
        return value


def load(folder: str | os.PathLike[str]) -> Dataset:
    """Opens an exported folder. DatasetError: the folder is not a dataset."""
    return Dataset(folder)
