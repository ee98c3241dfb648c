"""Has Triton's interpreter treat floating-point arguments, variables of loops, libdevice and inline assembly as a GPU does: the former are
numbers of 32 bits, with the methods of tensors (Triton passes them as Python's numbers), and libdevice's functions and PTX are computed by
numpy (Triton refuses them)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements, libdevice, narrow_floats, ptx
from kernelmill.execution.elements import Array


def correct(bounded: bool = True) -> None:
    """`bounded`: a load outside the storages of a launch's tensors is an error, which names what it is: "out of bounds"."""
    import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from triton.runtime import interpreter  # type: ignore[import-not-found, import-untyped, unused-ignore]

    convert = interpreter._implicit_cvt

    def converted(argument: Any) -> Any:
        if isinstance(argument, float):
            return tl.tensor(interpreter.TensorHandle(numpy.array([argument], numpy.float32), tl.float32), tl.float32)
        return convert(argument)

    interpreter._implicit_cvt = converted
    # All tensors are on the processor: nothing is copied, and whatever has an address may be an argument.
    interpreter.InterpreterBuilder.get_bf16 = lambda _self, value: interpreter.TensorHandle(
        elements.encode(numpy.array([value]), "bfloat16").view(numpy.uint16), tl.bfloat16)  # Triton 3.5 has none
    memory = Memory(interpreter)
    interpreter.GridExecutor._init_args_hst = lambda _self, arguments, keywords: memory.begin(arguments, keywords)
    interpreter.GridExecutor._restore_args_dev = lambda *_: None
    tl.dtype.value = property(lambda self: self)  # a constexpr that is a type
    _index_tensors(interpreter)
    _patch_language_once(interpreter, tl)
    narrow_floats.install(interpreter, tl)
    _join_tensors(interpreter, tl)
    _have_libdevice(interpreter)
    _have_inline_assembly(interpreter)
    if bounded:
        memory.guard()


class Memory:
    """The storages that a launch may read. A mask that is missing shows by what is read behind a tensor, also where the mask of a store
    hides what was computed of it."""

    def __init__(self, interpreter: Any) -> None:
        self._interpreter = interpreter
        self._starts: Array = numpy.zeros(0, numpy.uint64)
        self._ends: Array = numpy.zeros(0, numpy.uint64)

    def begin(self, arguments: Any, keywords: Any) -> tuple[Any, Any]:
        """Notes the storages of a launch's arguments. There is nothing to say of arguments that have an address and no storage."""
        tensors = list(addressed((*arguments, *keywords.values())))
        known = all(hasattr(each, "untyped_storage") for each in tensors)
        storages = [each.untyped_storage() for each in tensors] if known else []
        spans = sorted((each.data_ptr(), each.data_ptr() + each.nbytes()) for each in storages)
        self._starts, self._ends = (numpy.array([span[side] for span in spans], numpy.uint64) for side in (0, 1))
        return arguments, keywords

    def guard(self) -> None:
        load = self._interpreter.InterpreterBuilder.create_masked_load

        def checked(builder: Any, pointers: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            if len(self._starts):
                self._check(pointers.data[numpy.broadcast_to(mask.data, pointers.data.shape)], pointers.get_element_ty())
            return load(builder, pointers, mask, *rest, **named)

        self._interpreter.InterpreterBuilder.create_masked_load = checked

    def _check(self, addresses: Array, kind: Any) -> None:
        if not addresses.size:
            return
        size = max(1, kind.primitive_bitwidth // 8)
        places = numpy.searchsorted(self._starts, addresses, side="right")
        if (places == 0).any() or (addresses + numpy.uint64(size) > self._ends[numpy.maximum(places, 1) - 1]).any():
            raise IndexError("a load is out of bounds")


def addressed(values: Iterable[Any]) -> Iterator[Any]:
    """Yields all that has an address, also in tuples and descriptors."""
    for each in values:
        if isinstance(each, tuple):
            yield from addressed(each)
        elif hasattr(each, "data_ptr"):
            yield each
        elif hasattr(each, "base") and hasattr(each.base, "data_ptr"):
            yield each.base


def _patch_language_once(interpreter: Any, language: Any) -> None:
    """Triton looks through all of its language at each call of a function, and refuses functions that do not name the language. It is
    patched before a module is loaded, since a module may give a function of the language another name."""
    patch, is_patched = interpreter._patch_lang, False

    class Naming:
        """A function that names the language."""

        __globals__ = {"tl": language, "core": language.core}

    def patch_once(_function: Any) -> Any:
        nonlocal is_patched
        found = None if is_patched else patch(Naming)
        is_patched = found is None  # other versions of Triton return how to undo it, and undo it
        return found

    interpreter._patch_lang = patch_once
    patch_once(None)


def _index_tensors(interpreter: Any) -> None:
    """Scalars are arrays with one element. From 2.4 on, NumPy makes no number of them."""
    patch = interpreter._patch_lang_tensor

    def patch_tensor(tensor: Any, *scope: Any) -> None:
        patch(tensor, *scope)
        tensor.__index__ = lambda self: int(self.handle.data.item())

    interpreter._patch_lang_tensor = patch_tensor


def _join_tensors(interpreter: Any, language: Any) -> None:
    """Compiled, `a and b` of tensors is true where both are. Python's takes b alone, so that a kernel would write outside its tensors."""
    def as_tensor(value: ast.expr) -> ast.expr:
        if isinstance(value, ast.Starred):
            return value
        convert = ast.Attribute(ast.Name("interpreter_semantic", ast.Load()), "to_tensor", ast.Load())
        return ast.Call(convert, [value, ast.Constant(False)], [])

    class Joining(interpreter.ASTTransformer):  # type: ignore[misc, unused-ignore]
        """Makes a call of each `and`, `or` and `not`, and has a loop's variable be a tensor, as it is in compiled code."""

        def visit_Assign(self, node: ast.Assign) -> Any:
            node.value = self.visit(node.value)
            if isinstance(node.value, ast.Tuple):  # Triton does this to a value that is no tuple
                node.value.elts = [as_tensor(each) for each in node.value.elts]
            return super().visit_Assign(node)

        def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
            self.generic_visit(node)
            if node.value is not None:
                node.value = ast.Call(ast.Name("kernelmill_annotated", ast.Load()), [node.value, node.annotation], [])
            return node

        def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
            nothing = ast.arguments([], [], None, [], [], None, [])
            values: list[ast.expr] = [ast.Lambda(nothing, self.visit(each)) for each in node.values]
            name = "kernelmill_and" if isinstance(node.op, ast.And) else "kernelmill_or"
            return ast.Call(ast.Name(name, ast.Load()), values, [])

        def visit_For(self, node: ast.For) -> ast.For:
            self.generic_visit(node)
            name = node.iter.func if isinstance(node.iter, ast.Call) else None
            if isinstance(name, ast.Name) and name.id == "range" or isinstance(name, ast.Attribute) and name.attr == "range":
                node.iter = ast.Call(ast.Name("kernelmill_each", ast.Load()), [node.iter], [])
            return node

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
            node.operand = self.visit(node.operand)
            return ast.Call(ast.Name("kernelmill_not", ast.Load()), [node.operand], []) if isinstance(node.op, ast.Not) else node

    def join(decides: bool, method: str, values: tuple[Callable[[], Any], ...]) -> Any:
        joined: Any = None
        value: Any = None
        for each in values:
            value = each()
            if isinstance(value, language.tensor):
                joined = value if joined is None else getattr(joined, method)(value)
            elif bool(value) == decides:
                return value
        return value if joined is None else joined

    def annotated(value: Any, annotation: Any) -> Any:
        """Compiled, a value is a tensor unless its annotation is constexpr, by any name."""
        return value if annotation == language.constexpr else interpreter.interpreter_semantic.to_tensor(value, False)

    interpreter.kernelmill_annotated = annotated
    interpreter.kernelmill_each = lambda values: map(interpreter._implicit_cvt, values)
    interpreter.kernelmill_and = lambda *values: join(False, "logical_and", values)
    interpreter.kernelmill_or = lambda *values: join(True, "logical_or", values)
    interpreter.kernelmill_not = lambda value: value.__not__() if isinstance(value, language.tensor) else not value
    interpreter.FunctionRewriter.ast_transformer = Joining()


def _have_libdevice(interpreter: Any) -> None:
    """Lets kernels call libdevice by any of its names; on a GPU, Triton puts the target's functions in place of the general ones."""
    from triton.language import core  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from triton.language.extra import libdevice as general  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from triton.language.extra.cuda import libdevice as cuda  # type: ignore[import-not-found, import-untyped, unused-ignore]

    def create_extern_elementwise(_self: Any, _library: str, _path: str, symbol: str, arguments: list[Any], result: Any, _pure: bool
                                  ) -> Any:
        scalar = result.scalar
        values = libdevice.compute(symbol, [each.data for each in arguments])
        return interpreter.TensorHandle(values.astype(interpreter._get_np_dtype(scalar)), scalar)

    interpreter.InterpreterBuilder.create_extern_elementwise = create_extern_elementwise
    scope = [interpreter._LangPatchScope()] if hasattr(interpreter, "_LangPatchScope") else []  # Triton 3.6 notes what to undo
    interpreter._patch_builtin(cuda, interpreter.interpreter_builder, *scope)
    for name in [name for name in vars(general) if callable(getattr(cuda, name, None)) and not core.is_builtin(getattr(general, name))]:
        setattr(general, name, getattr(cuda, name))


def _have_inline_assembly(interpreter: Any) -> None:
    """An invocation of the code takes `pack` elements of each tensor. Those of less than 32 bits share registers."""
    def create_inline_asm(_self: Any, code: str, constraints: str, values: list[Any], kinds: list[Any], _pure: bool, pack: int) -> Any:
        size = max((each.data.size for each in values), default=1)
        shape = values[0].data.shape if values else ()
        count = -(-size // pack)
        inputs = [register for each in values for register in _pack(each.data, pack, count)]
        sizes = [max(1, each.scalar.primitive_bitwidth // 8) for each in kinds]
        registers = ptx.run(code, sum(pack // min(pack, max(1, 4 // each)) for each in sizes), inputs, count)
        results = []
        for kind, each in zip(kinds, sizes):
            shared = min(pack, max(1, 4 // each))
            own, registers = registers[:pack // shared], registers[pack // shared:]
            raw = numpy.stack([register >> numpy.uint64(8 * each * place) for register in own for place in range(shared)], axis=1)
            data = raw.reshape(-1)[:size].astype(f"u{each}").view(interpreter._get_np_dtype(kind.scalar)).reshape(shape)
            results.append(interpreter.TensorHandle(data, kind.scalar))
        return Results(results)

    class Results:
        """The results of an operation."""

        def __init__(self, results: list[Any]) -> None:
            self._results = results

        def get_result(self, place: int) -> Any:
            return self._results[place]

    interpreter.InterpreterBuilder.create_inline_asm = create_inline_asm


def _pack(data: Array, pack: int, count: int) -> list[Array]:
    """Returns the registers in which `pack` elements are."""
    size = data.dtype.itemsize
    raw = numpy.resize(numpy.ascontiguousarray(data).reshape(-1).view(f"u{size}"), count * pack).astype(numpy.uint64).reshape(count, pack)
    shared = min(pack, max(1, 4 // size))
    return [numpy.bitwise_or.reduce([raw[:, first + place] << numpy.uint64(8 * size * place) for place in range(shared)])
            for first in range(0, pack, shared)]
