"""Child A: loads an untrusted module and says what its kernels need of it, as plain data.

All its answers are untrusted, since the module's code runs in the same process. lowering.py believes them where they are values
that the module may choose, and takes all code from the module's text.
"""
import ast
import types

import triton
from triton.compiler.errors import CompilationError
from triton.runtime.jit import JITFunction

from kernelmill_harness import absent, device, loading, messages, plain, torch_names
from kernelmill_harness.loading import Refused


# Attributes in which wrappers keep the wrapped function: Triton's own, functools.wraps, other caches and tracers.
WRAPPED = ("fn", "__wrapped__", "jit_function", "func", "kernel")


def prepare(text, target):
    """Makes this process look to a module as the target's machine with the module's file."""
    absent.install(text, torch_names.names(target))
    device.pretend(target)
    loading.show(text)


def load(text, target):
    """Loads the module. Returns its namespace, and raises the module's exceptions."""
    prepare(text, target)
    return loading.run(text)


def unwrap(value):
    """Returns the JITFunction under autotuners, heuristics and other wrappers, or None."""
    for _ in range(20):
        if isinstance(value, JITFunction):
            return value
        if absent.is_absent(value):
            return None
        inner = None
        for name in WRAPPED:
            inner = getattr(value, name, None)
            if inner is not None:
                break
        if inner is None:
            return None
        value = inner
    return None


def find(namespace, name, gluon):
    value = namespace.get(name)
    kernel = unwrap(value)
    if kernel is None and isinstance(value, types.FunctionType):
        if gluon:
            from triton.experimental import gluon as language
            return language.jit(value)
        return triton.jit(value)
    if kernel is None:
        raise Refused("frontend", f"{name} is no kernel of the module")
    return kernel


def evaluate(constexprs, namespace):
    """Evaluates a try's expressions to {name: value}. An expression may use the values of others, as `args`, in any order:
    each round evaluates those whose inputs are known, until none is left or none can be evaluated."""
    args, left, reason = {}, list(constexprs), {}
    while left:
        failed = []
        for name, expression in left:
            try:
                value = eval(expression, dict(namespace), {"args": args})  # pylint: disable=eval-used
                args[name] = getattr(value, "value", value) if isinstance(value, triton.language.constexpr) else value
            except Exception as error:  # pylint: disable=broad-except
                failed.append((name, expression))
                reason[name] = messages.format_exception(error)
        if len(failed) == len(left):
            name, expression = failed[0]
            raise Refused("frontend", f"no value for {name} = {expression[:200]}: {reason[name]}")
        left = failed
    return args


def said(error):
    """Returns the innermost message of an error, without excerpts of the source."""
    message = ""
    for link in loading.chain(error):
        if isinstance(link, CompilationError):
            message = link.error_message or message
        else:
            message = messages.format_exception(link)
    return message or messages.format_exception(error)


class Tries:
    """Describes what each try needs of the module, as plain data."""

    def __init__(self, namespace, job):
        self._namespace, self._job = namespace, job
        self._nodes = plain.definitions(ast.parse(job["module"]))
        self._describer = None

    def describe(self, attempt):
        """Returns the kernel, the values of the constexprs, and all that the kernel's functions name."""
        kernel = find(self._namespace, self._job["function"], self._job["gluon"])
        values = evaluate(attempt["constexprs"], self._namespace)
        self._describer = describer = plain.Describer()
        data = {"kernel": describer.describe(kernel), "globals": {}, "functions": describer.rows,
                "constexprs": [[name, describer.describe(value)] for name, value in values.items()]}
        if data["kernel"][0] != "function":
            raise Refused("frontend", f"{self._job['function']} is no kernel of the module's text")
        done = 0
        while done < len(describer.rows):  # which grow
            row = describer.rows[done]
            done += 1
            for name in sorted(plain.names_used(self._nodes[(row["name"], row["line"])])):
                if name in self._namespace and name not in data["globals"]:
                    data["globals"][name] = describer.describe(self._namespace[name])
        return data

    def call(self, place, args, kwargs):
        """Calls a constexpr function of the last try. Returns its result as data."""
        build = plain.Local(self._describer.functions).build
        function = self._describer.functions[place]
        function = getattr(function, "fn", function)
        return self._describer.describe(function(*map(build, args), **{name: build(each) for name, each in kwargs.items()}))

    def answer(self, request):
        """Answers {"try": index} with what the try needs (plain.py), and {"call": [place, args, kwargs]} with the result of a constexpr
        function."""
        if "call" in request:
            return {"value": self.call(*request["call"])}
        return self.describe(self._job["tries"][request["try"]])


def main(channel, job, target):
    loading.serve(channel, lambda: load(job["module"], target), lambda namespace: Tries(namespace, job).answer)
