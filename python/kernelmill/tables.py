"""Reads tables of rows, a row at a time: JSON lines by the standard library, Parquet by pyarrow."""

from __future__ import annotations

import json
import pathlib
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar

from kernelmill.errors import DatasetError

R = TypeVar("R")
Convert = Callable[[Any], Any]
Row = dict[str, Any]
_BATCH = 1000


def _as_is(value: Any) -> Any:
    return value


def _converter(annotation: Any) -> Convert:
    """Returns the function that converts a JSON value to the annotation's type."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        [some] = [a for a in typing.get_args(annotation) if a is not type(None)]
        convert = _converter(some)
        return convert if convert is _as_is else lambda value: None if value is None else convert(value)
    if origin is tuple:
        each = _converter(typing.get_args(annotation)[0])
        return tuple if each is _as_is else lambda value: tuple(map(each, value))
    return row_maker(annotation) if is_dataclass(annotation) else _as_is


_makers: dict[type, Convert] = {}


def row_maker(row: Any) -> Convert:
    """Returns the function that makes a `row` from a JSON object. It ignores unknown fields, which a newer kernelmill wrote.
    KeyError: a field is missing."""
    if row in _makers:
        return _makers[row]
    hints = typing.get_type_hints(row)
    plan = [(field.name, field.name.rstrip("_"), _converter(hints[field.name])) for field in fields(row)]

    def make(value: Any) -> Any:
        made = object.__new__(row)
        # The dataclass is frozen, so its fields are set through __dict__.
        made.__dict__.update({name: convert(value[key]) for name, key, convert in plan})
        return made

    return _makers.setdefault(row, make)


class Lines:
    """A file of JSON lines; one without rows need not exist. A place is the offset of a line."""

    def __init__(self, path: pathlib.Path, empty: bool = False) -> None:
        self.path = path
        self._empty = empty

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Iterates over the rows with the name of their place, for errors."""
        for number, (_, line) in enumerate(self._lines(), 1):
            yield f"{self.path}:{number}", self._parse(line, number)

    def count(self) -> int:
        return sum(1 for _ in self._lines())

    def ids(self) -> Iterator[tuple[str, Any]]:
        """Iterates over the ids of the rows, and their places."""
        for number, (offset, line) in enumerate(self._lines(), 1):
            yield str(self._parse(line, number).get("id")), offset

    def at(self, place: Any) -> Row:
        with open(self.path, "rb") as lines:
            lines.seek(place)
            return self._parse(lines.readline(), f"offset {place}")

    def _parse(self, line: bytes, number: int | str) -> Row:
        try:
            row: Row = json.loads(line)
        except ValueError as error:
            raise DatasetError(f"{self.path}:{number}: {error}") from error
        return row

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        offset = 0
        if self._empty and not self.path.exists():
            return
        try:
            with open(self.path, "rb") as lines:
                for line in lines:
                    yield offset, line
                    offset += len(line)
        except OSError as error:
            raise DatasetError(f"{self.path}: {error.strerror}") from error


class Parquet:
    """The same rows as Parquet, by split. A place is a file, a row group and a row. Needs pyarrow."""

    def __init__(self, folder: pathlib.Path) -> None:
        order = {"train": 0, "validation": 1, "test": 2}
        self.files = sorted(folder.glob("*.parquet"), key=lambda path: (order.get(path.name.split("-")[0], 3), path.name))
        self._folder = folder

    def need_files(self) -> list[pathlib.Path]:
        """Returns the files. DatasetError: the folder has no files."""
        if not self.files:
            raise DatasetError(f"{self._folder} has no Parquet files")
        return self.files

    def rows(self) -> Iterator[tuple[str, Row]]:
        for path, file in self._open():
            number = 0
            for batch in file.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}:{number}", row

    def count(self) -> int:
        return sum(file.metadata.num_rows for _, file in self._open())

    def ids(self) -> Iterator[tuple[str, Any]]:
        for path, file in self._open():
            for group in range(file.num_row_groups):
                for row, found in enumerate(file.read_row_group(group, columns=["id"]).column("id").to_pylist()):
                    yield found, (path, group, row)

    def at(self, place: Any) -> Row:
        path, group, row = place
        found: Row = _parquet().ParquetFile(path).read_row_group(group).slice(row, 1).to_pylist()[0]
        return found

    def table(self, columns: Sequence[str] | None) -> Any:
        """Returns the rows as a table of pyarrow."""
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pyarrow.concat_tables([_parquet().read_table(path, columns=columns) for path in self.files])

    def _open(self) -> Iterator[tuple[pathlib.Path, Any]]:
        for path in self.files:
            yield path, _parquet().ParquetFile(path)


def _parquet() -> Any:
    try:
        import pyarrow.parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise DatasetError("reading Parquet needs pyarrow: pip install 'kernelmill[pandas]'") from error
    return pyarrow.parquet


def open_rows(path: pathlib.Path, empty: bool = False) -> Lines | Parquet:
    """Opens CONFIG.jsonl of a dataset, or the Parquet files of a dataset that was published without JSON lines. `empty`: report.json
    says that it has no rows, so that neither is needed."""
    parquet = Parquet(path.parent / "data" / path.stem)
    return Lines(path, empty) if empty or path.exists() or not parquet.files else parquet


class Table(Generic[R]):
    """The rows of one file of a dataset, in the file's order. Each iteration reads the file again, a row at a time, and never
    holds the whole file. A published dataset without JSON lines is read from its Parquet files, by split. DatasetError: the file
    is missing, or a row is invalid."""

    def __init__(self, path: pathlib.Path, row: type[R], empty: bool = False) -> None:
        """`empty`: report.json says that the table has no rows."""
        self.path = path
        self.row = row
        self._parquet = Parquet(path.parent / "data" / path.stem)
        self._source = open_rows(path, empty)
        self._length: int | None = None
        self._places: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Table({str(self.path)!r}, {self.row.__name__})"

    def raw(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dictionaries, with every field of the file."""
        for _, value in self._source.rows():
            yield value

    def __iter__(self) -> Iterator[R]:
        for place, value in self._source.rows():
            yield self._make(value, place)

    def __len__(self) -> int:
        if self._length is None:
            self._length = self._source.count()
        return self._length

    def __getitem__(self, id: str) -> R:
        """Returns the row with this id. KeyError: the table has no such row. The first call reads the file once, and then holds
        the places of the rows, some 150 bytes each."""
        return self._make(self._source.at(self._index()[id]), id)

    def __contains__(self, id: object) -> bool:
        return id in self._index()

    def to_pandas(self, columns: Sequence[str] | None = None) -> Any:
        """Returns a pandas.DataFrame of the Parquet files, by split, with the id as its index if the rows have one. `columns` are
        the only ones that are read. Needs pandas and pyarrow."""
        has_id = "id" in _parquet().read_schema(self._parquet.need_files()[0]).names
        if columns is not None and has_id and "id" not in columns:
            columns = ["id", *columns]
        frame = self._parquet.table(columns).to_pandas()
        return frame.set_index("id") if has_id else frame

    def to_polars(self, columns: Sequence[str] | None = None) -> Any:
        """Returns a polars.DataFrame of the Parquet files, by split. `columns` are the only ones that are read. Needs polars."""
        try:
            import polars  # type: ignore[import-not-found, unused-ignore]
        except ImportError as error:
            raise DatasetError("to_polars needs polars: pip install 'kernelmill[polars]'") from error
        return polars.read_parquet(self._parquet.need_files(), columns=None if columns is None else list(columns))

    def _make(self, value: Row, place: str) -> R:
        try:
            made: R = row_maker(self.row)(value)
        except (KeyError, TypeError) as error:
            what = f"has no {error}" if isinstance(error, KeyError) else f"is no {self.row.__name__}: {error}"
            raise DatasetError(f"{place}: the row {what}") from error
        return made

    def _index(self) -> dict[str, Any]:
        if self._places is None:
            self._places = dict(self._source.ids())
        return self._places
