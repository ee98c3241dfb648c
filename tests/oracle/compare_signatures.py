#!/usr/bin/env python3
"""Compares signatures that were inferred with those that Triton saw while the repository's own tests ran on a GPU.

usage: compare_signatures.py KERNELS.jsonl RECORDED.jsonl... [--compile] [--target cuda:90] [--jobs N] [--show N]
KERNELS.jsonl is an export's of a job with `compile`; RECORDED.jsonl is what recorded_signatures.py wrote. A kernel is found by its function's
name and path, and where a file has several of that name by its line. Prints how many kernels have a result whose types are those of one of the real
signatures, as they are and with floating types taken as one. A number that was 1 or a pointer that was None is compiled in by Triton as a
value: it agrees with any integer, or any pointer.
--compile compiles each kernel's module with each of its real signatures, by the Triton of the Python that runs this (a toolchain's:
TOOLCHAIN/bin/python3), and prints what is refused: a kernel's own signature is no reason to.
Exit status: 0 nothing was refused, 1 something was, 2 wrong usage.

--compile RUNS CODE THAT STRANGERS WROTE. It is a developer's tool, for a machine that may be thrown away. Limits on time and files keep an
accident small; they do not stop an attacker.
"""
import argparse
import ast
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import signal
import sys
import tempfile
import types

SECONDS, BYTES_OF_FILES = 120, 256 << 20
HARNESS = pathlib.Path(__file__).resolve().parents[2] / "services/compiler/adapters/toolchain/python"
FLOATS = re.compile(r"^(\*?)(fp16|bf16|fp32)$")


def rows_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def kernel_of(record, kernels):
    """Returns the kernel of a recorded signature; None if no kernel fits, or more than one."""
    found = [k for k in kernels.get(record["function"], []) if record["path"].endswith("/" + k["path"])]
    if len(found) > 1:
        found = [k for k in found if k["first_line"] <= record["line"] <= k["last_line"]]
    return found[0] if len(found) == 1 else None


def agrees(inferred, real, value, loose):
    """Checks whether the inferred type of an argument is the real one. `value`: the text of the value that Triton compiled in."""
    if real == "constexpr":
        if inferred is None or value is None:
            return True
        return inferred.startswith(("i", "u")) if value == "1" else value == "None" and inferred.startswith("*")
    if inferred is None:
        return False
    if loose:
        inferred, real = (FLOATS.sub(r"\1float", each) for each in (inferred, real))
    return inferred == real


def same(signature, record, loose):
    inferred = {argument["name"]: argument["type"] for argument in signature["arguments"]}
    constexprs = {each["name"] for each in signature["constexprs"]}
    return all(agrees(None if name in constexprs else inferred.get(name), real, record["constexprs"].get(name), loose)
               for name, real in record["signature"].items())


def compare(pairs, show):
    """pairs: [(kernel, its records)]. Prints how often an inferred signature is a real one."""
    sums, wrong = collections.Counter(), collections.Counter()
    for kernel, records in pairs:
        signatures = kernel["compile"]["signatures"]
        ok = {r["signature"] for r in kernel["compile"]["results"] if r["status"] == "ok"}
        signatures = [signatures[i] for i in sorted(i for i in ok if i is not None)] or signatures
        if not signatures:
            sums["none inferred"] += 1
            continue
        sums["compared"] += 1
        exact = any(same(s, r, False) for s in signatures for r in records)
        loose = exact or any(same(s, r, True) for s in signatures for r in records)
        sums["exact"] += exact
        sums["loose"] += loose
        types_ = {a["name"]: a for a in signatures[0]["arguments"]}
        for name, argument in types_.items():
            real = [r for r in records if name in r["signature"]]
            if not real:
                continue
            sums["arguments"] += 1
            good = any(agrees(argument["type"], r["signature"][name], r["constexprs"].get(name), True) for r in real)
            sums["arguments loose"] += good
            if not good:
                wrong[f"{argument['type']} ({argument['rule']}), really {real[0]['signature'][name]}: {name} of {kernel['name']}"] += 1
    print(f"kernels with a real signature {len(pairs)}, none inferred {sums['none inferred']}, compared {sums['compared']}")
    print(f"  the whole signature is a real one: {sums['exact']}; with floating types as one: {sums['loose']}")
    print(f"  arguments of the first: {sums['arguments']}, of the real type, floating ones as one: {sums['arguments loose']}")
    for what, _ in wrong.most_common(show):
        print("    " + what)


def harness():
    """Imports the harness's modules: they replace absent packages and the device."""
    package = types.ModuleType("kernelmill_harness")
    package.__path__ = [str(HARNESS)]
    sys.modules[package.__name__] = package
    from kernelmill_harness import absent, device, torch_names
    return absent, device, torch_names


def value_of(text, namespace):
    import triton
    if text in ("nan", "inf", "-inf"):
        return float(text)
    return eval(text, {"triton": triton, "tl": triton.language, **namespace})  # pylint: disable=eval-used


def type_of(text):
    """As Triton has it; of a tuple of arguments a tuple of types."""
    return ast.literal_eval(text) if text.startswith("(") else text


def compile_here(kernel, record, target):
    """Why the compiler refuses the kernel with its real signature, or nothing."""
    import linecache

    import triton
    from triton.compiler import ASTSource
    absent, device, torch_names = harness()
    absent.install(kernel["module"], torch_names.names(target))
    device.pretend(target)
    linecache.cache["kernel.py"] = (len(kernel["module"]), None, kernel["module"].splitlines(True), "kernel.py")
    module = types.ModuleType("kernel")
    module.__file__ = "kernel.py"
    sys.modules["kernel"] = module
    exec(compile(kernel["module"], "kernel.py", "exec"), module.__dict__)  # pylint: disable=exec-used
    function = module.__dict__[kernel["name"]]
    while not isinstance(function, triton.runtime.jit.JITFunction):
        function = function.fn
    values = {name: value_of(text, module.__dict__) for name, text in record["constexprs"].items()}
    places = {name: i for i, name in enumerate(function.arg_names)}
    divisible = {(places[name],): [["tt.divisibility", 16]] for name, text in record["attrs"].items()
                 if name in places and "divisibility" in text}
    signature = {name: type_of(record["signature"][name]) for name in function.arg_names}
    source = ASTSource(function, signature, {(places[name],): value for name, value in values.items()}, divisible)
    triton.compile(source, target=device.gpu_target(target), options=record["options"])
    return ""


def compile_in_child(work):
    """The same in a process of its own."""
    kernel, record, target = work
    with tempfile.TemporaryDirectory() as folder:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.chdir(folder)
            os.environ.update(TRITON_CACHE_DIR=folder, HOME=folder, TMPDIR=folder)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(nowhere, fd)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES_OF_FILES, BYTES_OF_FILES))
            signal.alarm(4 * SECONDS)
            try:
                answer = compile_here(kernel, record, target)
            except BaseException as error:  # pylint: disable=broad-except
                answer = f"{type(error).__name__}: {error}"
            os.write(writer, answer.encode("utf-8", "replace")[:4000] + b"\0")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            said = answers.read()
        status = os.waitpid(child, 0)[1]
    return said[:-1].decode(errors="replace") if said.endswith(b"\0") else f"ended early, wait status {status}"


def compile_all(pairs, target, jobs, show):
    """Compiles all pairs, prints the refusals, and returns whether there are no refusals."""
    work = [(kernel, record, target) for kernel, records in pairs for record in records]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        answers = list(pool.map(compile_in_child, work, chunksize=4))
    refused = [(w, a) for w, a in zip(work, answers) if a]
    kernels = {(w[0]["path"], w[0]["name"]) for w, _ in refused}
    print(f"{len(work)} real signatures of {len(pairs)} kernels compiled for {target}: {len(refused)} refused, of {len(kernels)} kernels")
    for (kernel, _, _), answer in refused[:show]:
        lines = [line for line in answer.splitlines() if line.strip()]
        print(f"    {kernel['path']}:{kernel['first_line']} {kernel['name']}: {lines[0][:100]} ... {lines[-1][:200]}")
    return not refused


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels")
    parser.add_argument("recorded", nargs="+")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", type=int, default=40)
    arguments = parser.parse_args()
    kernels = collections.defaultdict(list)
    for row in rows_of(arguments.kernels):
        if row.get("compile") is not None and not row["compile"].get("not_attempted"):
            kernels[row["name"]].append(row)
    records = {}
    for path in arguments.recorded:
        for record in rows_of(path):
            kernel = kernel_of(record, kernels)
            if kernel is not None:
                records.setdefault((kernel["repository"], kernel["path"], kernel["first_line"]), (kernel, []))[1].append(record)
    pairs = [(kernel, [json.loads(text) for text in sorted({json.dumps(r, sort_keys=True) for r in found})])
             for _, (kernel, found) in sorted(records.items(), key=lambda entry: entry[0])]
    compare(pairs, arguments.show)
    return 0 if not arguments.compile or compile_all(pairs, arguments.target, arguments.jobs, arguments.show) else 1


if __name__ == "__main__":
    sys.exit(main())
