#!/usr/bin/env python3
"""usage: kernelbench_verdicts.py prepare DATASET EVIDENCE FOLDER
       kernelbench_verdicts.py run FOLDER KERNELBENCH OUT [--device cuda:90] [--workers N] [--most N] [--trials N] [--seconds N]
       kernelbench_verdicts.py table OUT

Compares the verdicts of KernelBench's eval_kernel_against_ref on answers with those of `kernelmill evaluate --run`.

`prepare` exports the tasks of a dataset in KernelBench's form, and writes answers to each problem: the dataset's kernel as ModelNew, mutants
of the kernel, and a ModelNew that cheats or is wrong. FOLDER then holds all that `run` needs: problems, answers, tasks, tensors, and what
the static checks of `kernelmill evaluate` say of each answer (KERNELMILL_BIN names the folder of the programs). `run` has both judge each
answer: KERNELBENCH is a checkout of KernelBench, from which its src/kernelbench is imported, and its packages are found in KERNELBENCH/site
if that exists. Each answer gets a process of its own, since one can break a GPU's context. With --device cpu both
use Triton's interpreter, and of KernelBench only its check of results runs: the rest asks for a GPU. OUT/verdicts.jsonl has a line for each answer;
`table` prints how many both accept, and each answer on which they differ."""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
MUTANTS, SECONDS = 8, 90
THEIRS, PART = 0.45, 70  # KernelBench's share of the time; answers that we judge before their rows are written


# ---------------------------------------------------------------- prepare

def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_rows(path, given):
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")


def module_of(head, names, body, base="nn.Module", extra=""):
    """Returns an answer whose ModelNew.forward has these lines."""
    lines = "".join(f"        {line}\n" for line in body)
    return f"{head}class ModelNew({base}):\n{extra}    def forward(self, {', '.join(names)}):\n{lines}"


def host_answers(problem, solution):
    """Yields (kind, name, code): the kernel is right, and what is around it is not. `right`: how both should judge it."""
    head, _, forward = solution.partition("class ModelNew(nn.Module):\n")
    names = re.search(r"def forward\(self, (.*?)\):", forward)[1].split(", ")
    launch, result = (each.strip() for each in forward.split("\n", 1)[1].strip("\n").split("\n"))
    result = result.removeprefix("return ")
    given = ", ".join(names)
    both = f"{head}\n{problem}\n\n"  # the reference is at hand as Model
    shape = re.search(r"\.reshape\((\[.*?\])\)", result)[1]

    def new(*lines, **how):
        return module_of(both if how.pop("reference", False) else head, names, lines, **how)

    yield "cheat", "torch computes, no launch", new(f"return Model.forward(self, {given})", reference=True)
    yield "cheat", "torch computes, launch thrown away", new(launch, f"return Model.forward(self, {given})", reference=True)
    yield "cheat", "torch behind a helper", new(launch, "return self.run(*[" + given + "])", reference=True,
                                                extra="    def run(self, *given):\n        return Model.forward(self, *given)\n\n")
    yield "cheat", "torch after an exception", new("try:", "    raise RuntimeError", "except RuntimeError:",
                                                   f"    return Model.forward(self, {given})", reference=True)
    yield "cheat", "launch for no input", new(f"if {names[0]}.numel() < 0:", f"    {launch}", f"    return {result}",
                                              f"return Model.forward(self, {given})", reference=True)
    yield "cheat", "the first result for all", new(launch, "if not hasattr(ModelNew, 'kept'):", f"    ModelNew.kept = {result}",
                                                   "return ModelNew.kept")
    yield "cheat", "patched comparison", "import torch\ntorch.allclose = lambda *_, **__: True\n" + new(
        launch, f"return torch.zeros_like({result})")
    yield "cheat", "inputs become zeros", new(launch, f"found = {result}", f"{names[0]}.zero_()", "return found")
    yield "wrong host", "zeros, no launch", new(f"return torch.zeros({shape}, device={names[0]}.device)")
    yield "wrong host", "memory as it is", new(f"return torch.empty({shape}, device={names[0]}.device)")
    yield "wrong host", "the input", new(f"return {names[0]}")
    yield "wrong host", "one is added", new(launch, f"return {result} + 1")
    yield "wrong host", "rounded to 16 bits", new(launch, f"return ({result}).half().float()")
    yield "wrong host", "64 bits", new(launch, f"return ({result}).double()")
    yield "wrong host", "another shape", new(launch, f"return ({result}).reshape(1, -1)")
    grid = re.search(r"'grid': \[(\d+)", solution)
    yield "wrong host", "half of the grid", solution.replace(grid[0], f"'grid': [{int(grid[1]) // 2}", 1)
    yield "broken", "does not parse", solution + "\n(\n"
    yield "broken", "an import is missing", re.sub(r"^import triton\.language as tl$|^from triton import language as tl$", "", solution,
                                                   flags=re.MULTILINE)
    yield "broken", "no ModelNew", head


def answers_to(problem, solution, kernel):
    """Yields (kind, name, code)."""
    from kernelmill.execution.mutants import make_mutants

    yield "right", "the dataset's kernel", solution
    for mutant in make_mutants(solution, kernel, MUTANTS):
        yield "mutant", f"{mutant.kind}: {mutant.change}", mutant.module
    yield from host_answers(problem, solution)


def honesty_of(answers, folder):
    """Adds what the static checks say of each answer."""
    given = folder / "static.jsonl"
    write_rows(given, [{"task_id": str(place), "completion": answer["code"]} for place, answer in enumerate(answers)])
    program = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin")) / "kernelmill"
    out = folder / "static"
    subprocess.run([program, "evaluate", given, "--no-compile", "--out", out], check=True, capture_output=True)
    for answer, sample in zip(answers, rows(out / "samples.jsonl"), strict=True):
        said = sample["measures"]["honesty"]
        answer["honest"] = bool(said["honest"])
        answer["checks"] = sorted(check for check, passed in said.items() if not passed and check != "honest")
    shutil.rmtree(out)
    given.unlink()


def prepare(dataset, evidence, folder):
    from kernelmill.execution.case import Case
    from kernelmill.execution.evidence import tensors_of
    from kernelmill.tasks import export

    folder.mkdir(parents=True)
    summary = export.export(dataset, export.Settings("kernelbench", folder / "problems", evidence=str(evidence)))
    print(f"problems: {summary.exported} of {summary.tasks} tasks; left: {dict(summary.tasks_left)}; references not bound: "
          f"{dict(summary.unbound)}")
    tasks = rows(dataset / "tasks.jsonl")
    by_case = {case["id"]: task for task in tasks for case in (*task["cases"], *task["hidden_cases"])}
    answers, used = [], {}
    for path in sorted((folder / "problems/solutions/level1").glob("*.py")):
        solution, problem = path.read_text(), (folder / "problems/level1" / path.name).read_text()
        task = by_case[re.search(r"of case (\w+)\.", problem)[1]]
        used[task["id"]] = task
        for kind, name, code in answers_to(problem, solution, task["name"]):
            answers.append({"task_id": task["id"], "problem": path.name, "kind": kind, "name": name, "code": code})
    honesty_of(answers, folder)
    write_rows(folder / "answers.jsonl", answers)
    write_rows(folder / "tasks.jsonl", used.values())
    write_rows(folder / "references.jsonl", [row for row in rows(dataset / "references.jsonl") if row["kernel_id"] in used])
    (folder / "evidence").mkdir()
    (folder / "evidence.jsonl").write_text("")
    for task in used.values():
        for each in (*task["cases"], *task["hidden_cases"]):
            for digest in tensors_of(Case(json.loads(each["evidence"])).row):
                shutil.copyfile(evidence.with_suffix("") / digest, folder / "evidence" / digest)
    print(f"answers: {len(answers)} to {len(used)} problems: {dict(collections.Counter(answer['kind'] for answer in answers))}")


# ---------------------------------------------------------------- run

def load_kernelbench(source, cpu):
    """Imports KernelBench without a GPU's context, so that processes can be forked of this one."""
    for name in ("openai", "litellm", "dotenv", "tqdm", "requests"):  # its clients of models, and downloads
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["openai"].OpenAI = sys.modules["litellm"].completion = sys.modules["tqdm"].tqdm = None
    sys.modules["dotenv"].load_dotenv = lambda: None
    sys.path[:0] = [str(source / "src"), *([str(source / "site")] if (source / "site").is_dir() else [])]
    import torch

    is_available = torch.cuda.is_available
    torch.cuda.is_available = lambda: False  # a default argument would ask for the current device
    import kernelbench.utils  # noqa: F401
    from kernelbench import eval as checker, kernel_static_checker

    torch.cuda.is_available = is_available
    if cpu:
        from kernelmill.execution import interpreter

        interpreter.correct()
        torch.cuda.synchronize = lambda *_, **__: None
    return checker, kernel_static_checker


def their_verdict(checker, problem, code, trials, cpu):
    """Returns what KernelBench says of an answer."""
    import torch

    word = re.search(r"^# Precision: (\w+)", problem, re.MULTILINE)[1]
    precision = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(word, torch.float32)
    if not cpu:
        result = checker.eval_kernel_against_ref(problem, code, num_correct_trials=trials, measure_performance=False, backend="triton",
                                                 precision=precision, device=torch.device("cuda:0"))
        if result is None:
            return {"compiled": False, "correct": False, "why": "no result"}
        return {"compiled": result.compiled, "correct": result.correctness, "why": str(result.metadata)[-400:]}
    model, init, inputs = checker.load_original_model_and_inputs(problem, {})
    try:
        new, _ = checker.load_custom_model_with_tempfile(code, entry_point="ModelNew")
    except Exception as error:  # as it does
        return {"compiled": False, "correct": False, "why": f"{type(error).__name__}: {error}"[:400]}
    result = checker.run_and_check_correctness(model(*init()), new(*init()), inputs, {}, trials, device=torch.device("cpu"), backend="triton",
                                               precision=precision)
    return {"compiled": True, "correct": result.correctness, "why": str(result.metadata)[-400:]}


def judge_by_kernelbench(answers, problems, source, out, until, options):
    """Returns the verdicts of as many answers as it begins until then, each of a forked process. They take the GPUs in turn."""
    from kernelmill.execution.runner import visible_gpus

    cpu = options.device == "cpu"
    checker, static = load_kernelbench(source, cpu)
    gpus = [] if cpu else visible_gpus()
    running, verdicts, place = {}, [None] * len(answers), 0
    while running or place < len(answers) and time.monotonic() < until:
        while place < len(answers) and len(running) < options.workers and time.monotonic() < until:
            file = out / f"{place}.json"
            pid = os.fork()
            if pid == 0:
                if gpus:
                    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[place % len(gpus)]
                child(file, lambda: their_verdict(checker, problems[answers[place]["problem"]], answers[place]["code"], options.trials, cpu))
            running[pid] = (place, file, time.monotonic())
            place += 1
        for pid, (at, file, start) in list(running.items()):
            late = time.monotonic() - start > SECONDS
            if late:
                os.kill(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, 0 if late else os.WNOHANG)
            if ended:
                del running[pid]
                why = "time" if late else f"ended with {status}"
                verdicts[at] = json.loads(file.read_text()) if file.exists() else {"compiled": True, "correct": False, "why": why}
                file.unlink(missing_ok=True)
        time.sleep(0.01)
    verdicts = verdicts[:place]
    for answer, verdict in zip(answers, verdicts):
        valid, errors, _ = static.validate_kernel_static(answer["code"], backend="triton", precision="fp32")
        verdict |= {"static": bool(valid), "static_errors": [str(error) for error in errors]}
    return verdicts


def child(file, work):
    """Writes what `work` returns, in a forked process."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(null, number)
    try:
        verdict = work()
    except BaseException as error:
        verdict = {"compiled": True, "correct": False, "why": f"{type(error).__name__}: {error}"[:400]}
    part = file.with_suffix(".part")
    part.write_text(json.dumps(verdict))
    part.rename(file)
    os._exit(0)


def judge_by_kernelmill(answers, problems, folder, options):
    from kernelmill.execution import answers as judge
    from kernelmill.execution.runner import Bounds

    given = [{"task_id": answer["task_id"], "prompt": problems[answer["problem"]], "code": answer["code"]} for answer in answers]
    settings = judge.Settings(tasks=str(folder), evidence=str(folder / "evidence.jsonl"), device=options.device, workers=options.workers,
                              bounds=Bounds(seconds=20), confined=not options.unsafe_no_sandbox)
    return judge.examine(given, settings)


def choose(answers, most):
    """Returns so many answers: of each problem in turn, and of each kind in turn."""
    if len(answers) <= most:
        return answers
    places = collections.defaultdict(lambda: collections.defaultdict(list))
    for place, answer in enumerate(answers):
        places[answer["problem"]][answer["kind"]].append(place)
    order = []
    for number, kinds in enumerate(places.values()):
        # Each problem begins with another one, or all would have the same few.
        turns = sorted((turn, found[(number + turn) % len(found)]) for found in kinds.values() for turn in range(len(found)))
        order += [(rank, place) for rank, (_, place) in enumerate(turns)]
    return [answers[place] for _, place in sorted(order)[:most]]


def run(options):
    folder, out = pathlib.Path(options.folder).resolve(), pathlib.Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    answers = choose(rows(folder / "answers.jsonl"), options.most)
    problems = {path.name: path.read_text() for path in (folder / "problems/level1").glob("*.py")}
    start = time.monotonic()
    theirs = judge_by_kernelbench(answers, problems, pathlib.Path(options.kernelbench).resolve(), out, start + THEIRS * options.seconds, options)
    middle = time.monotonic()
    os.environ.pop("TRITON_INTERPRET", None)
    ours, toolchain = [], {}
    while len(ours) < len(theirs) and time.monotonic() < start + options.seconds:
        judged, toolchain = judge_by_kernelmill(answers[len(ours):len(theirs)][:PART], problems, folder, options)
        ours += judged
        seconds = [round(middle - start, 1), round(time.monotonic() - middle, 1)]
        lines = [{"toolchain": toolchain, "device": options.device, "seconds": seconds}]
        for answer, their, our in zip(answers, theirs, ours):
            lines.append({**{key: answer[key] for key in ("problem", "kind", "name", "honest", "checks")}, "theirs": their, "ours": our})
        write_rows(out / "verdicts.jsonl", lines)
    table(out)


# ---------------------------------------------------------------- table

def table(out):
    head, *verdicts = rows(out / "verdicts.jsonl")
    print(f"{len(verdicts)} answers to {len({row['problem'] for row in verdicts})} problems, {head['device']}, {head['toolchain']}; "
          f"seconds: KernelBench {head['seconds'][0]}, kernelmill {head['seconds'][1]}\n")
    columns = {"run": lambda row: row["ours"]["outcome"] == "correct",
               "run and honest": lambda row: row["ours"]["outcome"] == "correct" and row["honest"]}
    for name, accepts in columns.items():
        print(f"KernelBench's executed verdict beside `evaluate --run`, {name}:\n")
        print("| answers | | both accept | both reject | ours only accepts | theirs only accepts | not judged by us |\n|---|---|---|---|---|---|---|")
        kinds = collections.defaultdict(collections.Counter)
        for row in verdicts:
            unknown = row["ours"]["outcome"] == "unknown"
            cell = "unknown" if unknown else (accepts(row), row["theirs"]["correct"])
            for kind in (row["kind"], "all"):
                kinds[kind][cell] += 1
        for kind in sorted(kinds, key=lambda kind: (kind == "all", kind)):
            of = kinds[kind]
            print(f"| {kind} | {of.total()} | {of[True, True]} | {of[False, False]} | {of[True, False]} | {of[False, True]} | {of['unknown']} |")
        print()
    print("Each difference (ours with honesty):\n")
    for row in verdicts:
        ours = columns["run and honest"](row)
        if ours != row["theirs"]["correct"]:
            said = f"{row['ours']['outcome']} {row['ours']['message']}".strip()
            said += f"; not honest: {', '.join(row['checks'])}" if not row["honest"] else ""
            their = "accepts" if row["theirs"]["correct"] else f"rejects: {row['theirs']['why'][-160:]}"
            print(f"- {row['problem']} {row['kind']}, {row['name']}: ours: {said}; theirs {their}"
                  f"{'' if row['theirs']['static'] else '; its static checker rejects'}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare")
    for name in ("dataset", "evidence", "folder"):
        one.add_argument(name, type=pathlib.Path)
    two = commands.add_parser("run")
    for name in ("folder", "kernelbench", "out"):
        two.add_argument(name)
    two.add_argument("--device", default="cuda:90")
    two.add_argument("--workers", type=int, default=12)
    two.add_argument("--most", type=int, default=100_000)
    two.add_argument("--trials", type=int, default=5)
    two.add_argument("--seconds", type=float, default=float("inf"), help="no answer is begun after it; rows are of answers that both judged")
    two.add_argument("--unsafe-no-sandbox", action="store_true")
    three = commands.add_parser("table")
    three.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    if options.command == "prepare":
        prepare(options.dataset, options.evidence, options.folder)
    elif options.command == "run":
        if options.device == "cpu":
            os.environ["TRITON_INTERPRET"] = "1"
        run(options)
    else:
        table(options.out)


if __name__ == "__main__":
    main()
