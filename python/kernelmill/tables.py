"""Reads files of rows, a row at a time."""

from __future__ import annotations

import json
import pathlib
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar

from kernelmill.errors import DatasetError

R = TypeVar("R")
Convert = Callable[[Any], Any]


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


class Table(Generic[R]):
    """The rows of one file of a dataset, in the file's order. Each iteration reads the file again, a row at a time, and never
    holds the whole file. DatasetError: the file is missing, or a row is invalid."""

    def __init__(self, path: pathlib.Path, row: type[R]) -> None:
        self.path = path
        self.row = row
        self._length: int | None = None

    def __repr__(self) -> str:
        return f"Table({str(self.path)!r}, {self.row.__name__})"

    def raw(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dictionaries, with every field of the file."""
        for _, value in self._values():
            yield value

    def __iter__(self) -> Iterator[R]:
        make = row_maker(self.row)
        for number, value in self._values():
            try:
                made: R = make(value)
            except (KeyError, TypeError) as error:
                what = f"has no {error}" if isinstance(error, KeyError) else f"is no {self.row.__name__}: {error}"
                raise DatasetError(f"{self.path}:{number}: the row {what}") from error
            yield made

    def __len__(self) -> int:
        if self._length is None:
            self._length = sum(1 for _ in self._lines())
        return self._length

    def _values(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in enumerate(self._lines(), 1):
            try:
                value = json.loads(line)
            except ValueError as error:
                raise DatasetError(f"{self.path}:{number}: {error}") from error
            yield number, value

    def _lines(self) -> Iterator[bytes]:
        try:
            with open(self.path, "rb") as lines:
                yield from lines
        except OSError as error:
            raise DatasetError(f"{self.path}: {error.strerror}") from error
