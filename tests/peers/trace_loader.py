"""usage: trace_loader.py FOLDER

Loads a FlashInfer-Trace dataset by flashinfer-bench: every definition, solution, workload and trace by its TraceSet, every reference and
solution by its builders, every input by its generator. Runs both on a processor (TRITON_INTERPRET=1) and compares them as its evaluator
does, so no GPU is needed. Prints a JSON object with counts."""

import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TRITON_INTERPRET", "1")
os.environ.setdefault("FIB_CACHE_PATH", tempfile.mkdtemp())
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import torch  # noqa: E402
from flashinfer_bench.bench.config import BenchmarkConfig  # noqa: E402
from flashinfer_bench.bench.utils import compute_error_stats, gen_inputs, load_safetensors  # noqa: E402
from flashinfer_bench.compile.registry import BuilderRegistry  # noqa: E402
from flashinfer_bench.data.trace_set import TraceSet  # noqa: E402


def tensors(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def judge(found, expected, config):
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return "shape or type"
    return "values" if compute_error_stats(found, expected, config)[2] else ""


def resolve(definition):
    config = BenchmarkConfig()
    if hasattr(config, "resolve_eval_config"):
        return config.resolve_eval_config(definition)
    return config


def correct_interpreter():
    """Has the interpreter treat numbers as a GPU does."""
    from kernelmill.execution import interpreter

    interpreter.correct()


def main(folder):
    correct_interpreter()
    root = pathlib.Path(folder)
    traces = TraceSet.from_path(str(root))
    registry = BuilderRegistry.get_instance()
    counts = {"definitions": len(traces.definitions), "solutions": sum(map(len, traces.solutions.values())),
              "workloads": sum(map(len, traces.workloads.values())), "traces": sum(map(len, traces.traces.values())), "passed": 0,
              "failed": []}
    for name, definition in traces.definitions.items():
        reference = registry.build_reference(definition)
        solutions = [registry.build(definition, each) for each in traces.solutions.get(name, [])] or [reference]
        for each in traces.workloads[name]:
            loaded = load_safetensors(definition, each.workload, root)
            inputs = gen_inputs(definition, each.workload, "cpu", loaded)
            given = inputs.values() if isinstance(inputs, dict) else inputs
            with torch.no_grad():
                expected = tensors(reference(*[value.clone() if torch.is_tensor(value) else value for value in given]))
                found = tensors(solutions[0](*given))
            problems = [problem for one, other in zip(found, expected, strict=True)
                        if (problem := judge(one, other.to(one.dtype).reshape(one.shape), resolve(definition)))]
            counts["passed"] += not problems
            counts["failed"] += [f"{name} {each.workload.uuid}: {problem}" for problem in problems]
    print(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1])
