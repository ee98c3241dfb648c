"""Runs PTX of inline assembly on arrays, by numpy: what kernels compute with it. Memory, barriers, branches and special registers are
refused.

The basic idea: a register is an array of bits, one element for each invocation. An instruction's type says how many of them it takes, and
what they mean. Arithmetic is that of IEEE 754, rounded to the nearest as PTX has it; functions that a GPU approximates (`ex2.approx`) are
rounded to the nearest, too, so that a GPU's result is close to theirs and not equal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements
from kernelmill.execution.elements import Array

_WORD = numpy.uint64
_FLOATS = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
_SIZES = {"pred": 1, "e2m1": 4, "e4m3": 8, "e5m2": 8, "ue8m0": 8}
_E2M1 = numpy.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
_SMALLEST = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126}  # normal numbers: what is smaller is flushed
_LARGEST = {"e4m3": 448.0, "e5m2": 57344.0, "f16": 65504.0}
_APPROXIMATED: dict[str, Callable[[Array], Array]] = {
    "ex2": numpy.exp2, "lg2": numpy.log2, "rcp": numpy.reciprocal, "rsqrt": lambda x: 1 / numpy.sqrt(x), "sqrt": numpy.sqrt,
    "sin": numpy.sin, "cos": numpy.cos, "tanh": numpy.tanh}
_COMPARED: dict[str, Callable[[Array, Array], Array]] = {
    "eq": numpy.equal, "ne": lambda x, y: (x < y) | (x > y), "lt": numpy.less, "le": numpy.less_equal, "gt": numpy.greater, "ge": numpy.greater_equal}
# Modifiers that change no result here: the rounding that is always used, and parts of an approximation.
_SAME = frozenset(("rn", "approx", "full", "ftz", "lo", "noftz"))
_ROUNDED = {"rni": numpy.rint, "rzi": numpy.trunc, "rmi": numpy.floor, "rpi": numpy.ceil}
_STATEMENT = re.compile(r"(?:@(!?)(%?[\w$]+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
# How many operands an instruction reads. A conversion reads as many as its types need.
_READ = {"mov": 1, "selp": 3, "setp": 2, "add": 2, "sub": 2, "mul": 2, "div": 2, "min": 2, "max": 2, "fma": 3, "mad": 3, "abs": 1, "neg": 1,
         "and": 2, "or": 2, "xor": 2, "not": 1, "shl": 2, "shr": 2, "lop3": 4, "prmt": 3, **dict.fromkeys(_APPROXIMATED, 1)}
_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(0[0-7]*)|([1-9]\d*))U?")
_DECIMAL = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
_DECLARED = re.compile(r"(%?[\w$]+)(?:<(\d+)>)?\s*(?:,|$)")
_BITS_OF_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})")


class Unsupported(NotImplementedError):
    """The code has something that is not here. The message names it."""


def width(kind: str) -> int:
    """Returns the bits of a type, or of one of the packed types: 32 of f16x2."""
    base, _, parts = kind.partition("x")
    found = re.fullmatch(r"(?:b|u|s|f|bf)(8|16|32|64)", base)
    if base not in _SIZES and found is None:
        raise Unsupported(f"the PTX type {kind} on the interpreter")
    return (int(found[1]) if found else _SIZES[base]) * int(parts or 1)


def run(code: str, outputs: int, inputs: list[Array], count: int) -> list[Array]:
    """Runs code for `count` invocations. Its operands are $0, $1, ...: outputs, then `inputs`, bits as numpy.uint64. Returns the
    outputs. Unsupported: the code has something else than arithmetic."""
    machine = _Machine({f"${outputs + place}": each for place, each in enumerate(inputs)}, count)
    with numpy.errstate(all="ignore"):
        for predicate, negated, name, operands in _statements(code):
            machine.step(predicate, negated, name, operands)
    return [machine.registers.get(f"${place}", numpy.zeros(count, _WORD)) for place in range(outputs)]


def _statements(code: str) -> Iterator[tuple[str, bool, str, list[str]]]:
    """Yields the predicate, whether it is negated, the instruction and its operands."""
    scopes: list[set[str]] = [set()]
    text = re.sub(r"/\*.*?\*/", " ", re.sub(r"//[^\n]*", " ", code), flags=re.DOTALL)
    for part in text.split(";"):
        statement = part.strip()
        while statement and statement[0] in "{}":
            scopes = [*scopes, set()] if statement[0] == "{" else scopes[:-1]
            statement = statement[1:].lstrip()
        if statement.startswith(".reg"):
            _declare(statement, scopes)
        if not statement or statement.startswith(".reg"):
            continue
        found = _STATEMENT.fullmatch(statement)
        if found is None:
            raise Unsupported(f"the PTX {' '.join(statement.split())[:60]} on the interpreter")
        operands = [each.strip() for each in re.findall(r"\{[^}]*\}|[^,{}]+", found[4]) if each.strip()]
        yield found[2] or "", found[1] == "!", found[3], operands


def _declare(statement: str, scopes: list[set[str]]) -> None:
    """Adds the registers of a declaration to the innermost scope. Unsupported: a name means two things here."""
    for name, count in _DECLARED.findall(statement):
        names = {f"{name}{place}" for place in range(int(count))} if count else {name}
        if not scopes or any(names & scope for scope in scopes):
            raise Unsupported(f"another PTX register {name} on the interpreter")
        scopes[-1].update(names)


class _Machine:
    """The registers of invocations, and the instructions."""

    def __init__(self, registers: dict[str, Array], count: int) -> None:
        self.registers, self._count = registers, count

    def step(self, predicate: str, negated: bool, name: str, operands: list[str]) -> None:
        operation, *modifiers = name.split(".")
        handler = getattr(self, f"_do_{operation}", None)
        if operation in _APPROXIMATED:
            handler = self._approximate
        elif operation in ("add", "sub", "mul", "min", "max", "fma", "mad", "abs", "neg", "div"):
            handler = self._compute
        elif operation in ("and", "or", "xor", "not", "shl", "shr", "lop3", "prmt"):
            handler = self._combine
        if handler is None or not operands or _READ.get(operation, len(operands) - 1) != len(operands) - 1:
            raise Unsupported(f"the PTX instruction {name} on the interpreter")
        value, size = handler(name, operation, modifiers, operands[1:])
        self._write(operands[0], value & _mask(size), size, self._read(predicate, 1).astype(bool) ^ negated if predicate else None)

    def _write(self, to: str, value: Array, size: int, where: Array | None) -> None:
        if to.startswith("{"):
            parts = [each.strip() for each in to[1:-1].split(",")]
            for place, part in enumerate(parts):
                piece = size // len(parts)
                self._write(part, (value >> _WORD(place * piece)) & _mask(piece), piece, where)
            return
        if where is not None:
            value = numpy.where(where, value, self.registers.get(to, numpy.zeros(self._count, _WORD)))
        self.registers[to] = value.astype(_WORD)

    def _read(self, operand: str, size: int, kind: str = "") -> Array:
        """Returns the bits of an operand."""
        if operand.startswith("{"):
            parts = [each.strip() for each in operand[1:-1].split(",")]
            pieces = [self._read(part, size // len(parts)) << _WORD(place * (size // len(parts))) for place, part in enumerate(parts)]
            found: Array = numpy.bitwise_or.reduce(pieces)
            return found
        if operand in self.registers:
            return self.registers[operand] & _mask(size)
        bits = _literal(operand, kind, size)
        if bits is None:
            raise Unsupported(f"the PTX operand {operand} on the interpreter")
        return numpy.full(self._count, bits & ((1 << size) - 1), _WORD)

    # ------------------------------------------------------------ instructions: each returns bits, and how many

    def _do_mov(self, name: str, _operation: str, modifiers: list[str], operands: list[str]) -> tuple[Array, int]:
        size = width(_kind(name, modifiers))
        return self._read(operands[0], size, modifiers[-1]), size

    def _do_selp(self, name: str, _operation: str, modifiers: list[str], operands: list[str]) -> tuple[Array, int]:
        kind = _kind(name, modifiers)
        yes, no = (self._read(each, width(kind), kind) for each in operands[:2])
        return numpy.where(self._read(operands[2], 1).astype(bool), yes, no), width(kind)

    def _do_setp(self, name: str, _operation: str, modifiers: list[str], operands: list[str]) -> tuple[Array, int]:
        kind = _kind(name, modifiers, set(_COMPARED))
        compared = [each for each in modifiers if each in _COMPARED]
        if len(compared) != 1 or len(operands) != 2:
            raise Unsupported(f"the PTX instruction {name} on the interpreter")
        left, right = (_values(self._read(each, width(kind), kind), kind) for each in operands)
        return _COMPARED[compared[0]](left, right).astype(_WORD), 1

    def _combine(self, name: str, operation: str, modifiers: list[str], operands: list[str]) -> tuple[Array, int]:
        kind = _kind(name, modifiers)
        size = width(kind)
        if operation in ("shl", "shr"):
            return _shift(self._read(operands[0], size), self._read(operands[1], 32), kind, operation), size
        values = [self._read(each, size) for each in operands]
        if operation == "prmt":
            return _permute(*values), size
        if operation == "lop3":
            x, y, z, table = values
            return _table_of_three(x, y, z, int(table[0])), size
        if operation == "not":
            return ~values[0], size
        return {"and": numpy.bitwise_and, "or": numpy.bitwise_or, "xor": numpy.bitwise_xor}[operation](*values), size

    def _approximate(self, name: str, operation: str, modifiers: list[str], operands: list[str]) -> tuple[Array, int]:
        kind = _kind(name, modifiers, _SAME)
        return self._each_part(kind, operands, _APPROXIMATED[operation], "ftz" in modifiers), width(kind)

    def _compute(self, name: str, operation: str, modifiers: list[str], operands: list[str]) -> tuple[Array, int]:
        kind = _kind(name, modifiers, _SAME | {"NaN"})
        if kind.partition("x")[0] not in _FLOATS:
            return self._compute_integers(operation, kind, operands), width(kind)
        ftz, nan = "ftz" in modifiers, "NaN" in modifiers
        if kind == "f64" and operation in ("fma", "mad"):  # its product has more than 64 bits
            raise Unsupported(f"the PTX instruction {name} on the interpreter")
        add = numpy.add if kind == "f64" else _sum
        functions: dict[str, Callable[..., Array]] = {
            "add": add, "sub": lambda x, y: add(x, -y), "mul": numpy.multiply, "div": numpy.divide, "fma": _fused, "mad": _fused,
            "min": numpy.minimum if nan else numpy.fmin, "max": numpy.maximum if nan else numpy.fmax, "abs": numpy.abs,
            "neg": numpy.negative}
        return self._each_part(kind, operands, functions[operation], ftz), width(kind)

    def _compute_integers(self, operation: str, kind: str, operands: list[str]) -> Array:
        if "x" in kind or operation in ("fma", "div"):
            raise Unsupported(f"the PTX instruction {operation}.{kind} on the interpreter")
        bits = [self._read(each, width(kind), kind) for each in operands]
        if operation in ("min", "max"):
            values = [_values(each, kind) for each in bits]
            return (numpy.minimum if operation == "min" else numpy.maximum)(*values).astype(numpy.int64).view(_WORD)
        if operation == "abs":
            return numpy.abs(_values(bits[0], kind)).view(_WORD)
        if operation == "neg":
            return _WORD(0) - bits[0]
        if operation == "mad":
            return bits[0] * bits[1] + bits[2]
        return {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply}[operation](*bits)

    def _each_part(self, kind: str, operands: list[str], function: Callable[..., Array], ftz: bool) -> Array:
        """Applies a function to each number of a packed type."""
        base, _, parts = kind.partition("x")
        if ftz and base not in _SMALLEST:
            raise Unsupported(f"PTX's ftz for {kind} on the interpreter")
        size = width(base)
        result = numpy.zeros(self._count, _WORD)
        read = [self._read(each, width(kind), base) for each in operands]
        for place in range(int(parts or 1)):
            values = [_values((each >> _WORD(place * size)) & _mask(size), base) for each in read]
            if ftz:
                values = [_flush(each, base) for each in values]
            found = function(*values)
            if ftz:
                found = _flush(found, base)
            result |= _bits(found, base) << _WORD(place * size)
        return result

    def _do_cvt(self, name: str, _operation: str, modifiers: list[str], operands: list[str]) -> tuple[Array, int]:
        kinds = [each for each in modifiers if re.fullmatch(r"(b|u|s|f|bf)\d+(x\d)?|(e4m3|e5m2|e2m1|ue8m0)(x\d)?", each)]
        others = set(modifiers) - set(kinds)
        if len(kinds) != 2 or others - _SAME - {"satfinite", "sat", "rp", "rz", *_ROUNDED}:
            raise Unsupported(f"the PTX instruction {name} on the interpreter")
        (to, _, parts), (of, _, given) = (each.partition("x") for each in kinds)
        size = width(of)
        if given:  # a packed type to a packed one, the lower half first
            read = self._read(operands[0], width(kinds[1]))
            sources = [(read >> _WORD(place * size)) & _mask(size) for place in range(int(given))]
        else:      # the first operand becomes the upper half
            sources = [self._read(each, size, of) for each in reversed(operands)]
        if len(sources) != int(parts or 1) or given and len(operands) != 1 or of == "f64" and "ftz" in others:
            raise Unsupported(f"the PTX instruction {name} on the interpreter")
        result = numpy.zeros(self._count, _WORD)
        for place, source in enumerate(sources):
            values = _values(source, of)
            values = _flush(values, of) if "ftz" in others and of == "f32" else values
            result |= _convert(name, to, values, others) << _WORD(place * width(to))
        if to.startswith("s"):  # the sign fills a register that is wider
            return _values(result, to).view(_WORD), 64
        return result, width(kinds[0])


# ---------------------------------------------------------------- types

def _mask(size: int) -> numpy.uint64:
    return _WORD((1 << size) - 1)


def _kind(name: str, modifiers: list[str], known: frozenset[str] | set[str] = frozenset()) -> str:
    """Returns the type of an instruction, its last modifier. Unsupported: another modifier is not known."""
    if not modifiers or set(modifiers[:-1]) - known:
        raise Unsupported(f"the PTX instruction {name} on the interpreter")
    return modifiers[-1]


def _literal(text: str, kind: str, size: int) -> int | None:
    """Returns the bits of a number, or None: it is no number of this type and size."""
    if found := _BITS_OF_FLOAT.fullmatch(text):
        return int(found[1] or found[2], 16) if size == (32 if found[1] else 64) else None
    if kind in _FLOATS:
        return int(_bits(numpy.array([float(text)]), kind)[0]) if _DECIMAL.fullmatch(text) else None
    whole = _INTEGER.fullmatch(text)
    if whole is None:
        return None
    digits, base = next((digits, base) for digits, base in zip(whole.groups()[1:], (16, 2, 8, 10)) if digits)
    return int(whole[1] + digits, base)


def _values(bits: Array, kind: str) -> Array:
    """Returns numbers: float64 of floating-point types, int64 or uint64 of integers."""
    if kind == "ue8m0":
        return numpy.where(bits == 255, numpy.nan, numpy.exp2(bits.astype(numpy.float64) - 127))
    if kind == "e2m1":
        return numpy.where(bits & _WORD(8), -1.0, 1.0) * _E2M1[(bits & _WORD(7)).astype(numpy.int64)]
    size = width(kind)
    if kind in _FLOATS:
        return elements.decode(numpy.ascontiguousarray(bits.astype(f"u{size // 8}")).view(numpy.uint8), _FLOATS[kind])
    if kind.startswith("s"):
        return numpy.ascontiguousarray(bits.astype(f"u{size // 8}")).view(f"i{size // 8}").astype(numpy.int64)
    return bits


def _bits(values: Array, kind: str) -> Array:
    """Returns the bits of floating-point numbers, rounded once to the nearest, ties to even."""
    if kind == "bf16":
        values = _odd(values, values.astype(numpy.float32))
    raw = elements.encode(values, _FLOATS[kind])
    return raw.view(f"u{elements.size(_FLOATS[kind])}").astype(_WORD)


def _odd(values: Array, rounded: Array) -> Array:
    """Returns 32-bit numbers that round to fewer bits as the 64-bit ones do: an inexact one ends with a 1."""
    inexact = (rounded.astype(numpy.float64) != values) & numpy.isfinite(rounded) & (rounded.view(numpy.uint32) % 2 == 0)
    towards = numpy.where(rounded < values, numpy.inf, -numpy.inf).astype(numpy.float32)
    return numpy.where(inexact, numpy.nextafter(rounded, towards), rounded)


def _flush(values: Array, kind: str) -> Array:
    """Returns numbers with zeros for those that are below the normal ones of a type."""
    return numpy.where(numpy.abs(values) < _SMALLEST[kind], numpy.copysign(0.0, values), values)


def _sum(x: Array, y: Array) -> Array:
    """Adds, so that rounding to fewer bits gives what one rounding does: an inexact sum ends with a 1."""
    total = x + y
    back = total - x
    rest = (x - (total - back)) + (y - back)
    inexact = (rest != 0) & numpy.isfinite(total) & (total.view(numpy.uint64) % 2 == 0)
    return numpy.where(inexact, numpy.nextafter(total, numpy.where(rest > 0, numpy.inf, -numpy.inf)), total)


def _fused(x: Array, y: Array, z: Array) -> Array:
    """A product of two numbers of at most 32 bits is exact in 64."""
    return _sum(x * y, z)


def _convert(name: str, to: str, values: Array, how: set[str]) -> Array:
    rounding = next((_ROUNDED[each] for each in how if each in _ROUNDED), None)
    if to == "ue8m0":  # powers of two
        exponents = numpy.ceil(numpy.log2(values)) if "rp" in how else numpy.floor(numpy.log2(values))
        return numpy.where(values > 0, numpy.clip(exponents + 127, 0, 254), numpy.where(numpy.isnan(values), 255, 0)).astype(_WORD)
    if "rp" in how or "rz" in how or ("sat" in how and to not in _FLOATS):
        raise Unsupported(f"the PTX instruction {name} on the interpreter")
    if to == "e2m1":
        sizes = numpy.minimum(numpy.where(numpy.isnan(values), 6.0, numpy.abs(values)), 6.0)
        above = numpy.minimum(numpy.searchsorted(_E2M1, sizes), 7)
        below = numpy.maximum(above - 1, 0)
        up, down = _E2M1[above] - sizes, sizes - _E2M1[below]
        found = numpy.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
        return (found | numpy.where(numpy.signbit(values) & ~numpy.isnan(values), 8, 0)).astype(_WORD)
    if to in _FLOATS:
        if values.dtype.kind != "f" and to != "f64" and (numpy.abs(values.astype(numpy.float64)) > 2.0**53).any():
            raise Unsupported(f"the PTX instruction {name} of large numbers on the interpreter")  # it would be rounded twice
        values = values.astype(numpy.float64)
        values = numpy.clip(values, 0.0, 1.0) if "sat" in how else values
        if "satfinite" in how:
            values = numpy.clip(values, -_LARGEST.get(to, numpy.inf), _LARGEST.get(to, numpy.inf))
        return _bits(values if rounding is None else rounding(values), to)
    if values.dtype.kind == "f":
        if rounding is None:
            raise Unsupported(f"the PTX instruction {name} on the interpreter")
        low, high = (-(1 << width(to) - 1), (1 << width(to) - 1) - 1) if to.startswith("s") else (0, (1 << width(to)) - 1)
        whole = [0 if number != number else int(max(low, min(high, number))) for number in rounding(values).tolist()]
        return numpy.array([each & ((1 << 64) - 1) for each in whole], _WORD) & _mask(width(to))
    return values.astype(numpy.int64).view(_WORD) & _mask(width(to))


def _shift(value: Array, by: Array, kind: str, operation: str) -> Array:
    """Shifts by the size of the type or more leave nothing, or the sign."""
    size = width(kind)
    by = numpy.minimum(by, _WORD(63 if kind.startswith("s") else 64))
    if operation == "shr" and kind.startswith("s"):
        return (_values(value, kind) >> by.astype(numpy.int64)).view(_WORD)
    shifted = value << (by & _WORD(63)) if operation == "shl" else value >> (by & _WORD(63))
    return numpy.where(by >= _WORD(size), _WORD(0), shifted)


def _permute(low: Array, high: Array, selector: Array) -> Array:
    """Chooses four of eight bytes; the highest bit of a place asks for the byte's sign."""
    both = low | (high << _WORD(32))
    result = numpy.zeros_like(low)
    for place in range(4):
        chosen = (selector >> _WORD(4 * place)) & _WORD(15)
        byte = (both >> ((chosen & _WORD(7)) * _WORD(8))) & _WORD(255)
        sign = numpy.where(byte & _WORD(128), _WORD(255), _WORD(0))
        result |= numpy.where(chosen & _WORD(8), sign, byte) << _WORD(8 * place)
    return result


def _table_of_three(x: Array, y: Array, z: Array, table: int) -> Array:
    """Any function of three bits, by its table."""
    result = numpy.zeros_like(x)
    for place in range(8):
        if table >> place & 1:
            result |= (x if place & 4 else ~x) & (y if place & 2 else ~y) & (z if place & 1 else ~z)
    return result
