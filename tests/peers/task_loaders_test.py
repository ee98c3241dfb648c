"""Exported tasks, loaded by the programs that they are for. Each part is skipped unless a variable names what it needs:

  KERNELMILL_TRACE_PYTHON       a Python with flashinfer-bench, torch and Triton
  KERNELMILL_KERNELBENCH        the folder src of a checkout of KernelBench, for the Python with torch that runs this test
  KERNELMILL_VERIFIERS_PYTHON   a Python with verifiers (0.4 also with uv), numpy and Triton
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "execution"))
import environment  # noqa: E402

environment.need("recording")
import harness  # noqa: E402
import task_data  # noqa: E402
from kernelmill.tasks import export  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
needs_trace = unittest.skipUnless(os.environ.get("KERNELMILL_TRACE_PYTHON"), "no flashinfer-bench: KERNELMILL_TRACE_PYTHON")
needs_bench = unittest.skipUnless(os.environ.get("KERNELMILL_KERNELBENCH"), "no KernelBench: KERNELMILL_KERNELBENCH")
needs_verifiers = unittest.skipUnless(os.environ.get("KERNELMILL_VERIFIERS_PYTHON"), "no verifiers: KERNELMILL_VERIFIERS_PYTHON")


def setUpModule():
    global work, dataset, evidence
    work = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    dataset, evidence = task_data.make(work, speed=True)


def run(python, script, *arguments):
    paths = os.pathsep.join(filter(None, [str(harness.ROOT / "python"), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": paths, "KERNELMILL_PROGRAM": str(harness.BIN / "kernelmill")}
    done = subprocess.run([python, HERE / script, *arguments], env=env, capture_output=True, text=True, timeout=560, check=False)
    if done.returncode:
        raise AssertionError(done.stderr[-4000:])
    return json.loads(done.stdout.splitlines()[-1])


class Loaded(unittest.TestCase):
    def export(self, form):
        out = work / form
        return export.export(dataset, export.Settings(form, out, evidence=str(evidence))), out

    @needs_trace
    def test_flashinfer_bench_loads_builds_and_runs_all(self):
        summary, out = self.export("flashinfer-trace")
        found = run(os.environ["KERNELMILL_TRACE_PYTHON"], "trace_loader.py", out)
        self.assertEqual(found["failed"], [])
        self.assertEqual((found["definitions"], found["workloads"], found["traces"], found["passed"]),
                         (summary.files["definitions"], summary.cases, 3, summary.cases))

    @needs_bench
    def test_kernelbench_loads_and_checks_all(self):
        summary, out = self.export("kernelbench")
        found = run(sys.executable, "kernelbench_loader.py", out, os.environ["KERNELMILL_KERNELBENCH"])
        self.assertEqual(found["failed"], [])
        self.assertEqual((found["problems"], found["models"], found["passed"], found["static"]), (summary.exported,) * 4)

    @needs_verifiers
    def test_verifiers_rewards_right_answers_alone(self):
        summary, out = self.export("verifiers")
        models = ("right", "wrong", "zeros", "patch", "talk", "thinking")
        rewards = run(os.environ["KERNELMILL_VERIFIERS_PYTHON"], "verifiers_rollouts.py", out, *models)["rewards"]
        self.assertEqual({model: [each["reward"] for each in rewards[model]] for model in models},
                         {model: [float(model == "right")] * summary.exported for model in models})
        self.assertEqual([each["cases_met"] for each in rewards["right"]], [1.0] * summary.exported)
        self.assertEqual([each["honest"] for each in rewards["patch"]], [0.0] * summary.exported)


if __name__ == "__main__":
    unittest.main()
