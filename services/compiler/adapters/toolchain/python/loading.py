"""Loads an untrusted module of Python in a confined process, and tells where its errors come from. It needs no compiler."""
import errno
import json
import linecache
import os
import sys
import types

from kernelmill_harness import absent, messages, sandbox


FILE = "kernel.py"  # not a real file: its lines are in linecache
MODULE = "kernel"


class Refused(Exception):
    """The reason why a try has no code. `reached`: the line of the kernel from which the frontend came to `line`."""

    def __init__(self, stage, message, line=0, reached=0):
        super().__init__(message)
        self.stage, self.message, self.line, self.reached = stage, message, line, reached

    def row(self):
        return {"stage": self.stage, "message": messages.clean(self.message), "line": self.line, "reached": self.reached}


def show(text):
    """Makes this process look to a module as one that has the module's file."""
    linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)


def run(text):
    """Runs the module. Returns its namespace, and raises the module's exceptions."""
    module = types.ModuleType(MODULE)
    module.__file__, module.__package__ = FILE, absent.PACKAGE
    sys.modules[MODULE] = module
    exec(compile(text, FILE, "exec"), module.__dict__)  # pylint: disable=exec-used
    return module.__dict__


def load(text):
    """Runs the module as one that has its file. Packages that it names and that are not installed get stand-ins."""
    absent.install(text, {}, only_named=True)
    show(text)
    return run(text)


def find_line(error):
    """Returns the line of the module that an exception comes from, or 0."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno or 0
    line, traceback = 0, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == FILE:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def chain(error):
    links = []
    while error is not None and len(links) < 50:
        links.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return links


def find_stage(error, stage):
    """Returns "sandbox" or "limit" if the sandbox caused the exception, and `stage` otherwise."""
    for link in chain(error):
        if isinstance(link, PermissionError) and sandbox.enforced():
            return "sandbox"
        if isinstance(link, MemoryError) or getattr(link, "errno", 0) in (errno.EFBIG, errno.EMFILE):
            return "limit"
    return stage


def serve(channel, load, begin):
    """Loads a module by load() and says if that worked. Then answers requests, all as objects of JSON, by the function that
    begin(namespace) returns."""
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with

    def say(value):
        channel.answer(json.dumps(value).encode())

    try:
        namespace = load()
    except BaseException as error:  # pylint: disable=broad-except
        say({"import": {"ok": False, "stage": find_stage(error, "import"), "line": find_line(error),
                        "error": messages.clean(messages.format_exception(error), messages.IMPORT_BYTES)}})
        return
    say({"import": {"ok": True}})
    answer = begin(namespace)
    for request in channel.requests():
        try:
            say(answer(json.loads(request)))
        except Refused as refused:
            say(refused.row())
        except BaseException as error:  # pylint: disable=broad-except
            say({"stage": find_stage(error, "frontend"), "message": messages.clean(messages.format_exception(error)),
                 "line": find_line(error)})
