"""Makes a kernel that does not compile look as if it did. Each is called before the kernel, with None, and after it, with it.

None of them may get "ok": what a module does in its process must not reach the compiler that judges it.
"""
import atexit
import builtins
import ctypes
import functools
import gc
import hashlib
import json
import os
import struct
import sys
import threading
import time

import triton
import triton.language as tl
from triton.compiler import compiler, code_generator
from triton.runtime import jit

GOOD_IR = """module {
  tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    tt.return
  }
}
"""
ANSWER = {"ir": GOOD_IR, "constexprs": [["BLOCK", "128"]], "ok": True}


@triton.jit
def good(x, y, out, n, BLOCK: tl.constexpr):
    tl.store(out, 1.0)


def harness(name):
    return sys.modules.get("kernelmill_harness." + name)


def patch_make_ir():
    original = compiler.ASTSource.make_ir

    def make_ir(self, *args, **kwargs):
        self.fn = good
        return original(self, *args, **kwargs)
    compiler.ASTSource.make_ir = make_ir
    compiler.ASTSource.hash = lambda self: "0"


def forged_at_import(kernel):
    patch_make_ir()


def forged_by_the_value_of_a_constexpr(kernel):
    class Number(int):
        def __new__(cls, value):
            patch_make_ir()
            return int.__new__(cls, value)
    tl.constexpr(Number(1))


def forged_by_a_decorator(kernel):
    def decorator(function):
        patch_make_ir()
        return function
    decorator(lambda: None)


def forged_by_the_code_generator(kernel):
    original = code_generator.CodeGenerator.visit_FunctionDef
    code_generator.CodeGenerator.visit_FunctionDef = lambda self, node: original(self, good.parse().body[0])
    compiler.ASTSource.hash = lambda self: "0"


def forged_by_another_text(kernel):
    if kernel is not None:
        kernel._unsafe_update_src(good.src)


def forged_by_another_function(kernel):
    if kernel is not None:
        kernel.fn, kernel.__dict__["_src"] = good.fn, good._src
        kernel.raw_src = good.raw_src


def forged_by_another_kernel_of_the_name(kernel):
    if kernel is not None:
        sys.modules["kernel"].__dict__["add"] = good


def forged_by_a_function_that_triton_lacks(kernel):
    tl.no_such_function = tl.load


def forged_by_builtins(kernel):
    original = builtins.compile
    builtins.compile = lambda source, *args, **kwargs: original(source.replace("no_such_function", "load")
                                                                if isinstance(source, str) else source, *args, **kwargs)


def forged_by_the_parser(kernel):
    import ast
    original = ast.parse
    ast.parse = lambda source, *args, **kwargs: original(source.replace("no_such_function", "load")
                                                         if isinstance(source, str) else source, *args, **kwargs)


def forged_by_sys_modules(kernel):
    import types
    fake = types.ModuleType("triton.compiler.code_generator")
    original = code_generator.ast_to_ttir
    fake.ast_to_ttir = lambda fn, *args, **kwargs: original(good, *args, **kwargs)
    sys.modules["triton.compiler.code_generator"] = fake
    compiler.ASTSource.hash = lambda self: "0"


def forged_by_the_harness(kernel):
    for name in ("frontend", "lowering"):
        if harness(name) is not None:
            harness(name).lower = lambda *_: GOOD_IR
            harness(name).frontend = harness(name).frontend_ir = lambda *_: dict(ANSWER)


def forged_by_the_backend(kernel):
    report = {"status": "ok", "shared_bytes": 0, "registers": 1, "spill_bytes": 0, "instructions": 1, "forms": [], "kept": []}
    if harness("backend") is not None:
        harness("backend").report = lambda *_: report
        harness("zygote").try_report = lambda *_: {**report, "constexprs": [["BLOCK", "128"]]}


def forged_by_the_channel(kernel):
    for channel in [each for each in gc.get_objects() if type(each).__name__ == "Channel"]:
        if kernel is not None:
            channel.answer(b'{"import": {"ok": true}}')
            channel.answer(json.dumps(ANSWER).encode())


def forged_by_a_write_to_the_descriptor(kernel):
    for channel in [each for each in gc.get_objects() if type(each).__name__ == "Channel"]:
        for answer in ({"import": {"ok": True}}, ANSWER):
            data = json.dumps(answer).encode()
            os.write(3, struct.pack("=16scQ", channel._token, b"R", len(data)) + data)


def forged_by_all_kinds_of_data(kernel):
    """Names another function of the text as the kernel."""
    for channel in [each for each in gc.get_objects() if type(each).__name__ == "Channel"]:
        code = good.fn.__code__
        row = {"kind": "triton", "name": code.co_name, "line": code.co_firstlineno, "cells": {}, "defaults": [], "kwdefaults": {},
               "noinline": False}
        channel.answer(b'{"import": {"ok": true}}')
        channel.answer(json.dumps({"kernel": ["function", 0], "functions": [row], "globals": {"tl": ["module", "triton.language"]},
                                   "constexprs": [["BLOCK", ["value", 128]]]}).encode())
        time.sleep(5)


def forged_by_data_of_another_module(kernel):
    """Says that `tl` is a module in which the name exists."""
    if harness("plain") is not None:
        original = harness("plain").Describer.describe

        def describe(self, value, depth=0):
            return ["module", "builtins"] if value is tl else original(self, value, depth)
        harness("plain").Describer.describe = describe


def forged_by_frames(kernel):
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict) and "module" in value and "tries" in value:
                value["module"] = value["module"].replace("no_such_function", "load")
        frame = frame.f_back
    import linecache
    name = "kernel.py"
    size, when, lines, full = linecache.cache.get(name, (0, None, [], name))
    linecache.cache[name] = (size, when, [line.replace("no_such_function", "load") for line in lines], full)


def forged_by_the_collector(kernel):
    for value in gc.get_objects():
        if type(value) is dict and value.get("function") == "add":
            value["function"] = "good"
        if type(value) is list and any(isinstance(each, str) and "no_such_function" in each for each in value):
            value[:] = [each.replace("no_such_function", "load") if isinstance(each, str) else each for each in value]


def forged_at_exit(kernel):
    atexit.register(lambda: os.write(3, json.dumps(ANSWER).encode()))
    os._exit = lambda status: sys.exit(status)


def forged_by_a_destructor(kernel):
    class Late:
        def __del__(self):
            patch_make_ir()
    late = Late()
    late.self = late
    gc.set_threshold(1)


def forged_by_a_thread_that_goes_on(kernel):
    def work():
        while True:
            try:
                patch_make_ir()
                sys.modules["kernel"].__dict__["add"] = good
                tl.no_such_function = tl.load
            except KeyError:
                pass
            time.sleep(0.001)
    if kernel is None:
        threading.Thread(target=work, daemon=True).start()


def forged_by_json(kernel):
    original = json.dumps
    json.dumps = lambda value, *args, **kwargs: original(
        {**value, **ANSWER} if isinstance(value, dict) and "import" not in value else value, *args, **kwargs)


def forged_by_hashlib(kernel):
    class Hash:
        def __init__(self, *_):
            patch_make_ir()

        def update(self, _):
            pass

        def hexdigest(self):
            return "0" * 64
    hashlib.sha256 = Hash


def forged_by_the_class_of_functions(kernel):
    original = jit.JITFunction.__init__

    @functools.wraps(original)
    def init(self, fn, *args, **kwargs):
        original(self, good.fn, *args, **kwargs)
    jit.JITFunction.__init__ = init


def forged_by_jit(kernel):
    triton.jit = lambda function=None, **_: good


def forged_by_texts_that_are_equal_to_all(kernel):
    class Text(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            return True
    if kernel is not None:
        kernel.__name__ = Text("good")
        good.__name__ = good.fn.__name__ = Text("add")
        good.fn.__code__ = good.fn.__code__.replace(co_name="add")
        sys.modules["kernel"].__dict__["add"] = good


def forged_by_an_import_hook(kernel):
    class Finder:
        def find_spec(self, name, path=None, target=None):
            patch_make_ir()
            tl.no_such_function = tl.load
    sys.meta_path.insert(0, Finder())
    for name in [name for name in sys.modules if name.startswith(("triton.compiler", "triton.language.extra"))]:
        del sys.modules[name]


def forged_by_a_write_to_memory(kernel):
    """The function of the harness that makes IR becomes another one."""
    def lower(*_):
        return GOOD_IR
    for name in ("frontend", "lowering"):
        original = getattr(harness(name), "lower", None)
        if original is not None and original.__code__ is not lower.__code__:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(lower.__code__))
            at = id(original) + 16 + 8 * [ctypes.c_void_p.from_address(id(original) + 16 + 8 * i).value
                                          for i in range(12)].index(id(original.__code__))
            ctypes.c_void_p.from_address(at).value = id(lower.__code__)


def forged_by_attributes_of_the_kernel(kernel):
    if kernel is not None:
        kernel.parse = good.parse
        kernel.__class__ = type("Lie", (type(kernel),), {"src": property(lambda self: good.src), "cache_key": "0",
                                                         "parse": lambda self: good.parse()})
