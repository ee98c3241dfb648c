"""usage: kernelbench_loader.py FOLDER KERNELBENCH_SRC

Loads problems by KernelBench's own code (its checkout's src): its dataset, its loaders, its static checker, and its checker of results
with three random draws, on the problem itself and on the dataset's kernel as ModelNew. The checker asks for a GPU to wait for; here that
call does nothing, and Triton's interpreter runs the kernels (TRITON_INTERPRET=1). Prints a JSON object with counts."""

import json
import os
import pathlib
import re
import sys
import types

os.environ.setdefault("TRITON_INTERPRET", "1")
for name in ("openai", "litellm"):  # clients of models, which its helpers import
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["openai"].OpenAI = sys.modules["litellm"].completion = None
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import torch  # noqa: E402


def correct_interpreter():
    """Has the interpreter treat numbers as a GPU does."""
    from kernelmill.execution import interpreter

    interpreter.correct()


def main(folder, source):
    correct_interpreter()
    sys.path.insert(0, source)
    from kernelbench import dataset, eval as checker, kernel_static_checker

    torch.cuda.synchronize = lambda *_, **__: None
    root = pathlib.Path(folder)
    problems = dataset.construct_kernelbench_dataset(level=1, source="local", base_path=str(root))
    counts = {"problems": len(problems), "models": 0, "solutions": 0, "passed": 0, "static": 0, "failed": []}
    for problem in problems:
        context = {}
        model, init, inputs = checker.load_original_model_and_inputs(problem.code, context)
        precision = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(re.search(r"^# Precision: (\w+)", problem.code, re.MULTILINE)[1],
                                                                        torch.float32)

        def check(new):
            result = checker.run_and_check_correctness(model(*init()), new(*init()), inputs, {}, 3, device=torch.device("cpu"),
                                                       backend="triton", precision=precision)
            if not result.correctness:
                counts["failed"].append(f"{problem.name}: {str(result.metadata)[:600]}")
            return result.correctness

        counts["models"] += check(model)
        path = root / "solutions/level1" / problem.name
        if path.exists():
            text = path.read_text()
            counts["solutions"] += 1
            valid, errors, _ = kernel_static_checker.validate_kernel_static(text, backend="triton", precision="fp32")
            counts["static"] += valid
            if not valid:
                counts["failed"].append(f"{problem.name}: static: {errors}")
            new, file = checker.load_custom_model_with_tempfile(text, entry_point="ModelNew")
            counts["passed"] += check(new)
            os.remove(file.name)
    print(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
