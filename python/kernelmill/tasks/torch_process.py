"""The process that runs references: imports torch once, then forks a confined child for each job, as the zygote of kernels does.

Reads jobs and writes answers, as lines of JSON: {"module", "function", "calls": [{parameter: argument}], "seconds", "memory"}, then a list with a
row for each call: {"outputs": [tensor]} or {"error"}. A tensor is {"dtype", "shape", "data"}, its elements in order as base64; any
other argument is {"value"}. A child's answer is untrusted: what a reference says is compared with what the kernel did."""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any

from kernelmill.execution import confinement, devices, harness, pretend
from kernelmill.execution.zygote import clean, failure

ANSWER_BYTES = 256 << 20


def argument(row: dict[str, Any]) -> Any:
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if "value" in row:
        return row["value"]
    data = bytearray(base64.b64decode(row["data"]))
    flat = torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)
    return flat.view(getattr(torch, row["dtype"])).reshape(row["shape"])


def flatten(value: Any) -> list[Any]:
    """Returns the tensors of a result, in order."""
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [each for part in value for each in flatten(part)]
    return []


def tensor(value: Any) -> dict[str, Any]:
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

    flat = value.detach().cpu().contiguous()
    data = flat.reshape(-1).view(torch.uint8).numpy().tobytes()
    return {"dtype": str(flat.dtype).removeprefix("torch."), "shape": list(flat.shape), "data": base64.b64encode(data).decode()}


def work(channel: Any, job: dict[str, Any]) -> None:
    """In the child: loads the module, and makes the calls."""
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with
    pretend.install()
    torch.manual_seed(0)
    try:
        function = devices.load(job["module"], os.getcwd(), 0)[job["function"]]
    except BaseException as error:  # pylint: disable=broad-except
        for _ in job["calls"]:
            channel.answer(failure("import", error))
        return
    for call in job["calls"]:
        try:
            with torch.no_grad():
                result = function(**{name: argument(row) for name, row in call.items()})
            channel.answer(json.dumps({"outputs": [tensor(each) for each in flatten(result)]}).encode())
        except BaseException as error:  # pylint: disable=broad-except
            channel.answer(failure("launch", error))


def run(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs a job. Returns a row for each of its calls."""
    from kernelmill_harness import sandbox  # type: ignore[import-not-found, import-untyped, unused-ignore]

    seconds = 20 + job["seconds"] * len(job["calls"])
    layer = sandbox.Layer(seconds=seconds, cpu_seconds=seconds, memory_bytes=job["memory"], answer_bytes=ANSWER_BYTES)
    rows: list[dict[str, Any]] = []
    with sandbox.Child(lambda channel: work(channel, job), layer) as child:
        for place, _ in enumerate(job["calls"]):
            outcome = child.answer(job["seconds"] + (0 if place else 20))
            if outcome.kind != "ok":
                said = outcome.data.decode("utf-8", "replace") or outcome.words[-300:]
                return rows + [{"error": clean(f"{outcome.kind}: {said}")}] * (len(job["calls"]) - place)
            rows.append(_row(outcome.data))
    return rows


def _row(data: bytes) -> dict[str, Any]:
    try:
        said = json.loads(data)
        if "error" in said:
            return {"error": clean(said["error"])}
        return {"outputs": [{"dtype": str(each["dtype"]), "shape": [int(size) for size in each["shape"]], "data": str(each["data"])}
                            for each in said["outputs"]]}
    except (ValueError, KeyError, TypeError, RecursionError, MemoryError):
        return {"error": "garbled"}


def main() -> None:
    options = json.loads(sys.argv[1])
    harness.install()
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import torch.nn.functional  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from kernelmill_harness import sandbox  # type: ignore[import-not-found, import-untyped, unused-ignore]

    torch.set_num_threads(1)
    torch.ones(1).half()  # it reads files of the system before the first number of 16 bits
    if options["confined"]:
        confinement.confine(os.environ["KERNELMILL_SCRATCH"], False)
        sandbox.protect_zygote()
    sandbox.stand_in_for(options["parent"])
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    answers.write(json.dumps({"torch": torch.__version__}).encode() + b"\n")
    answers.flush()
    for line in jobs:
        answers.write(json.dumps(run(json.loads(line))).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
