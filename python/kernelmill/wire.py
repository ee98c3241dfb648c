"""Makes and reads the coordinator's messages without generated code: protobuf builds their classes from the descriptors that
the wheel carries (crawl.binpb, built from proto/kernelmill/v1 with the wheel), and typed() converts an answer to a
dataclass of messages.py. Any protobuf from 4.25 on works."""

from __future__ import annotations

import enum
import functools
import json
import pathlib
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import DecodeError, Message

from kernelmill.errors import RequestError

DESCRIPTORS = pathlib.Path(__file__).resolve().parent / "crawl.binpb"
PACKAGE = "kernelmill.v1"
M = TypeVar("M")


@functools.cache
def _pool() -> descriptor_pool.DescriptorPool:
    """Returns a separate pool: another package's build.bazel.remote.execution.v2 is larger than our subset."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes()).file:
        pool.Add(file)
    return pool


@functools.cache
def message_class(name: str) -> Any:
    """Returns the class of kernelmill.v1's message `name`."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


@functools.cache
def method(name: str) -> Any:
    """Returns the descriptor of a method of kernelmill.v1.Crawl."""
    return _pool().FindServiceByName(f"{PACKAGE}.Crawl").methods_by_name[name]


def _prefix(enum_type: Any) -> str:
    """Returns "KERNEL_ROLE_" for KernelRole: the names of an enum's values begin with it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", enum_type.name).upper() + "_"


def _protobuf_json(value: Mapping[str, Any], descriptor: Any) -> dict[str, Any]:
    """Converts an object with the words of job files to protobuf's JSON, which has the long names of enums. Without nulls."""
    made: dict[str, Any] = {}
    for name, item in value.items():
        field = descriptor.fields_by_name[name]
        items = item if isinstance(item, list) else [item]
        if field.message_type is not None:
            items = [_protobuf_json(one, field.message_type) for one in items if one is not None]
        elif field.enum_type is not None:
            items = [_prefix(field.enum_type) + word.upper() for word in items if word]
        if isinstance(item, list):
            made[name] = items
        elif item is not None and items:
            made[name] = items[0]
    return made


def spec_of_json(text: str) -> Message:
    """Parses what `kernelmill check --json` prints to a JobSpec."""
    made = message_class("JobSpec")
    try:
        value = json.loads(text)
        del value["type"]
        spec: Message = json_format.ParseDict(_protobuf_json(value, made.DESCRIPTOR), made(), descriptor_pool=_pool())
    except (json_format.ParseError, DecodeError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise RequestError(f"the program and this module do not agree on a job: {error}") from error
    return spec


def _word(value: int, field: Any, words: type[enum.Enum]) -> enum.Enum:
    """Converts an enum's value to its member in messages.py; `unspecified` if messages.py does not know the value."""
    known = field.enum_type.values_by_number.get(value)
    for word in words:
        if known is not None and known.name.endswith(f"_{word.name}"):
            return word
    return words("unspecified")


@functools.cache
def _plan(made: Any) -> list[tuple[str, str, Any, bool]]:
    """Returns a tuple for each field: its attribute, its name, the class of its values, and True if it is repeated."""
    hints = typing.get_type_hints(made)
    plan = []
    for field in fields(made):
        hint = hints[field.name]
        many = typing.get_origin(hint) is tuple
        if many:
            hint = typing.get_args(hint)[0]
        elif typing.get_origin(hint) in (typing.Union, types.UnionType):
            [hint] = [a for a in typing.get_args(hint) if a is not type(None)]
        plan.append((field.name, field.name.rstrip("_"), hint, many))
    return plan


def typed(message: Any, made: type[M]) -> M:
    """Converts a message to `made`, its dataclass in messages.py."""
    values: dict[str, Any] = {}
    for attribute, name, hint, many in _plan(typing.cast(Any, made)):
        value = getattr(message, name)
        if is_dataclass(hint):
            inner = typing.cast(type[Any], hint)
            if many:
                value = tuple(typed(v, inner) for v in value)
            else:
                value = typed(value, inner) if message.HasField(name) else None
        elif isinstance(hint, type) and issubclass(hint, enum.Enum):
            value = _word(value, message.DESCRIPTOR.fields_by_name[name], hint)
        elif many:
            value = tuple(value)
        values[attribute] = value
    return made(**values)
