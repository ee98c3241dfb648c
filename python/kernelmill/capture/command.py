"""The command `kernelmill capture`: captures models, each in a process of its own. The program calls command() with the options; on a
machine that has only this package, `python3 -m kernelmill.capture.command` takes them as flags."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import argparse
import functools
import json
import os
import pathlib
import re
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from kernelmill.capture import check, debug_folder, models, pretended, processes, tracing
from kernelmill.errors import Error, RequestError

FAILED, WRONG = 1, 2  # exit codes, as the program's
LEAST_DIVIDED = 20  # with fewer sources, shares are missed
MANIFEST, SUMMARY, JOB = "manifest.json", "captures.json", "job.yaml"


def capture(options: dict[str, Any]) -> int:
    """Runs `kernelmill capture`. Exit code 1: nothing was captured, or a check found a difference."""
    out = pathlib.Path(options["out"])
    if options["check"]:
        return check_all(out, options)
    if options["from"]:
        debug_folder.convert(pathlib.Path(options["from"]), out)
    else:
        _capture_models(out, options)
    summary = summarize(out)
    (out / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n")
    write_job(out, options["license"])
    print(json.dumps(summary["counts"]) if options["json"] else summary_text(summary))
    return 0 if summary["counts"]["graphs"] else FAILED


def _capture_models(out: pathlib.Path, options: dict[str, Any]) -> None:
    specs = [*options["model"], *(read_list(options["list"]) if options["list"] else [])]
    if not specs:
        raise RequestError("name models as LIBRARY:NAME, or a file of such names with --list")
    if any(spec.startswith(("checkout:", "file:")) for spec in specs) and not options["unsafe_no_container"]:
        _check_container()
    device = options["device"] or ("cuda" if os.path.exists("/dev/nvidia0") else "h100")
    if device != "cuda" and device not in pretended.DEVICES:
        raise RequestError(f"--device must be one of cuda, {', '.join(pretended.DEVICES)}: {device}")
    if device == "cuda":
        _leave_cuda_alone()
    asked = variants(options, device)
    works = {}
    names, problems = models.list_models(specs)
    for problem in problems:
        print(f"kernelmill capture: {problem}", file=sys.stderr)
    for name in names:
        folder = out / name.library / re.sub(r"[^\w.-]", "_", name.model)
        done = read_manifest(folder)["variants"]
        for variant in asked:
            sizes = models.Sizes(options["batch"], options["length"], variant.training)
            # Variants of a model run at the same time: a log for each.
            work = processes.Work(f"{name.library}:{name.model} {variant.name}", folder / f"log_{variant.name}.txt",
                                  functools.partial(_on_one_thread, functools.partial(tracing.capture, name, variant, sizes, device, folder)))
            if not is_done(done.get(variant.name), options["seconds"]):
                works[work] = (name, variant)
    asked_works = list(works)[:options["most"] or None]
    if asked_works:
        _import_once({works[work][0].library for work in asked_works})
    shown = Progress(len(asked_works))
    for work, result in processes.run(asked_works, bounds(options)):
        name, variant = works[work]
        write_manifest(work.log.parent, name, variant, result)
        graphs = result.get("graphs", [])
        shown.show(work.label, result, f"{len(graphs)} graphs, {sum(each['kernels'] for each in graphs)} kernels" if graphs else "")


def is_done(result: dict[str, Any] | None, seconds: int) -> bool:
    """Says whether a result is final: one that a bound of time ended is tried again if the bound has grown."""
    return result is not None and not (result.get("reason") == "limit_seconds" and int(result["seconds"]) < seconds)


def check_all(out: pathlib.Path, options: dict[str, Any]) -> int:
    """Checks the captures of a folder that have no check on this machine's GPU, the smallest first: a deadline leaves the slowest, which
    are counted as not_checked."""
    folders = sorted(check.list_graphs(out), key=lambda folder: (folder / tracing.CODE).stat().st_size)
    if not folders:
        raise RequestError(f"{out} has no capture")
    _leave_cuda_alone()
    _import_once(set())
    works = {}
    for folder in folders:
        if not check.is_checked(folder):
            action = functools.partial(_on_one_thread, functools.partial(check.check_graph, folder))
            works[processes.Work(str(folder.relative_to(out)), folder / "check.txt", action)] = folder
    shown = Progress(len(works))
    for work, result in processes.run(list(works), bounds(options)):
        if result["status"] == "failed":
            result = check.add_check(works[work], {"status": "error", "device": check.UNNAMED, "message": f"{result['reason']}: {result['message']}"})
        shown.show(work.label, result, "")
    for folder in folders:
        if not check.is_checked(folder):
            check.add_check(folder, {"status": "not_run", "device": None, "message": "the deadline of kernelmill capture --check came before"})
    counts = Counter(check.read_status(folder) for folder in folders)
    print(json.dumps(counts) if options["json"] else ", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    return FAILED if counts["different"] or counts["error"] else 0


def bounds(options: dict[str, Any]) -> processes.Bounds:
    """Returns the bounds that options give."""
    return processes.Bounds(options["workers"], options["seconds"], options["memory"] << 30, options["deadline"])


def read_list(path: str) -> list[str]:
    """Returns the models that a file names, one a line; # begins a comment."""
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}") from error
    return [text for line in lines if (text := line.partition("#")[0].strip())]


def variants(options: dict[str, Any], device: str) -> list[tracing.Variant]:
    """Returns the variants that options ask for. RequestError: the device cannot do one."""
    if options["autotune"] and device != "cuda":
        raise RequestError("--autotune measures kernels, and so needs a GPU")
    modes = {"inference": [False], "training": [True], "both": [False, True]}
    if options["mode"] not in modes:
        raise RequestError(f"--mode must be one of {', '.join(modes)}: {options['mode']}")
    return [tracing.Variant(training, options["dynamic"], options["autotune"], options["dtype"]) for training in modes[options["mode"]]]


def read_manifest(folder: pathlib.Path) -> dict[str, Any]:
    """Returns a model's manifest; an empty one if it has none."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        return manifest
    except (OSError, ValueError):
        return {"variants": {}}


def write_manifest(folder: pathlib.Path, name: models.Name, variant: tracing.Variant, result: dict[str, Any]) -> None:
    """Adds a result to the manifest of its model, which is replaced at once."""
    manifest = {"format": tracing.FORMAT, "library": name.library, "model": name.model,
                "variants": {**read_manifest(folder)["variants"], variant.name: result}}
    temporary = folder / (MANIFEST + ".new")
    temporary.write_text(json.dumps(manifest, indent=1) + "\n")
    temporary.replace(folder / MANIFEST)


def _check_container() -> None:
    from kernelmill.execution import recording

    recording.check_container()


def _leave_cuda_alone() -> None:
    """Has a look at the devices not begin CUDA: a process that has begun it cannot fork others that use it."""
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"


def _import_once(libraries: set[str]) -> None:
    """Imports what the processes need before they are forked: each would otherwise take seconds for it."""
    import torch
    import torch._inductor.compile_fx  # noqa: F401

    torch.set_num_threads(1)
    for library in libraries & {"timm", "torchvision", "transformers"}:
        __import__(library)


def _on_one_thread(action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Runs an action in a process that was forked. PyTorch's pool of threads does not outlive a fork: the first call that sets the number
    of threads makes a new one, and a second call meanwhile finds none and aborts. Autograd's threads, one for each GPU, begin with that
    call, all at once, so that it is made here first."""
    import torch

    torch.set_num_threads(1)
    return action()


class Progress:
    """Shows each piece of work on stderr as it ends."""

    def __init__(self, total: int):
        self.total = total
        self.statuses: Counter[str] = Counter()

    def show(self, label: str, result: dict[str, Any], what: str) -> None:
        self.statuses[result["status"]] += 1
        what = what or ": ".join(filter(None, (result.get("reason", ""), result.get("message", ""))))[:120]
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        print(f"{self.statuses.total()}/{self.total} {label}: {result['status']}{': ' * bool(what)}{what}; {result.get('seconds', 0)} s "
              f"({counts})", file=sys.stderr, flush=True)


def summarize(out: pathlib.Path) -> dict[str, Any]:
    """Returns what a folder of captures has, by its manifests."""
    counts: Counter[str] = Counter(models=0, captured=0, partly=0, failed=0, graphs=0, kernels=0)
    reasons: Counter[str] = Counter()
    rows = []
    for path in sorted(out.glob(f"*/*/{MANIFEST}")):
        manifest = json.loads(path.read_text())
        counts["models"] += 1
        for variant, result in manifest["variants"].items():
            counts[result["status"]] += 1
            graphs = result.get("graphs", [])
            counts["graphs"] += len(graphs)
            counts["kernels"] += sum(graph["kernels"] for graph in graphs)
            if result["status"] == "failed":
                reasons[result["reason"]] += 1
            rows.append({"library": manifest["library"], "model": manifest["model"], "variant": variant, "status": result["status"],
                         "reason": result.get("reason"), "message": result.get("message"), "graphs": len(graphs),
                         "seconds": result.get("seconds")})
    graphs = check.list_graphs(out)
    texts, checks = (Counter(read(folder) for folder in graphs) for read in (check.read_text_status, check.read_status))
    return {"format": tracing.FORMAT, "counts": dict(counts), "reasons": dict(reasons), "texts": dict(texts), "checks": dict(checks),
            "models": rows}


def summary_text(summary: dict[str, Any]) -> str:
    """Returns a summary as lines for people."""
    counts = summary["counts"]
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(summary["reasons"].items(), key=lambda each: (-each[1], each[0])))
    return (f"{counts['models']} models: {counts['captured']} captured, {counts['partly']} partly, {counts['failed']} failed; "
            f"{counts['graphs']} graphs, {counts['kernels']} kernels" + (f"\nfailed: {reasons}" if reasons else ""))


def write_job(out: pathlib.Path, license_expression: str) -> None:
    """Writes a job that makes a dataset of the captures: a source for each model, so that splits are by model."""
    lines = ["# Makes a dataset of these captures: kernelmill crawl job.yaml --out dataset", "name: captures", "sources:"]
    sources = 0
    for path in sorted(out.glob(f"*/*/{MANIFEST}")):
        folder = path.parent
        if not any(folder.glob(f"*/{tracing.ABOUT}")):
            continue
        sources += 1
        name = folder.relative_to(out).as_posix()
        expression = license_expression or models.LICENSES.get(folder.parent.name, "")
        lines += [f"  - inductor: {json.dumps('./' + name)}", f"    name: {json.dumps(name)}",
                  f"    category: {json.dumps(folder.parent.name)}", "    keep: graphs"]
        if expression:
            lines.append(f"    license: {json.dumps(expression)}")
    if sources >= LEAST_DIVIDED:
        lines.append("splits: {validation: 0.1, test: 0.1}")
    (out / JOB).write_text("\n".join(lines) + "\n")


def command(options: str) -> int:
    """Runs the command with its options, a JSON object. Returns the exit code."""
    return _guarded(json.loads(options))


def _guarded(options: dict[str, Any]) -> int:
    try:
        return capture(options)
    except Error as error:
        message = str(error)
    except ModuleNotFoundError as error:
        message = f"{error}: capturing needs torch and Triton, and the libraries that have the models"
    print(json.dumps({"error": message}) if options["json"] else f"kernelmill capture: {message}", file=sys.stderr)
    return WRONG


FLAGS: tuple[tuple[str, type[Any], Any], ...] = (
    ("--out", str, "captures"), ("--list", str, ""), ("--from", str, ""), ("--device", str, ""), ("--mode", str, "both"),
    ("--dtype", str, "float32"), ("--license", str, ""), ("--batch", int, 2), ("--length", int, 32), ("--workers", int, 1),
    ("--seconds", int, 300), ("--memory", int, 8), ("--deadline", float, 0), ("--most", int, 0))
SWITCHES = ("--dynamic", "--autotune", "--check", "--unsafe-no-container", "--json")


def main(arguments: list[str]) -> int:
    """Runs the command with its flags."""
    parser = argparse.ArgumentParser(prog="kernelmill capture", allow_abbrev=False)
    parser.add_argument("model", nargs="*")
    for flag, kind, default in FLAGS:
        parser.add_argument(flag, type=kind, default=default)
    for flag in SWITCHES:
        parser.add_argument(flag, action="store_true")
    return _guarded(vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
