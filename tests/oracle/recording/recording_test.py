"""The parts of `recording` that need no test of a repository and no GPU."""

import contextlib
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "execution")]
import environment  # noqa: E402

environment.need("execution")
import machine  # noqa: E402
import results  # noqa: E402
import scorer  # noqa: E402
import tasks  # noqa: E402
from kernelmill.execution.case import Case  # noqa: E402
from kernelmill.execution.evidence import Evidence  # noqa: E402


def add_case(evidence, module, count, ragged=False):
    """Adds a case that reads so many random bytes, and writes one."""
    storages = [{"bytes": count, "sha256": evidence.put(random.Random(count).randbytes(count))}, {"bytes": 1, "recipe": {"kind": "poison"}}]
    arguments = [{"name": name, "tensor": {"storage": place, "dtype": "int8", "offset": 0, "shape": [size], "strides": [1]}}
                 for place, (name, size) in enumerate((("x", count), ("out", 1)))]
    case = Case.make(module_sha256=module * 64, kernel="kernel", arguments=arguments, storages=storages, grid=[1, 1, 1], options={},
                     environment={}, outputs=[{"storage": 1, "sha256": evidence.put(b"1")}], ragged=ragged, tolerance={},
                     origin={"recorded": {}}).check()
    evidence.add(case.row)
    return case.id


class Recording(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_the_file_that_adds_most_kernels_comes_first_and_one_that_adds_none_in_the_second_turn(self):
        files = {"a.py": {"1": False}, "b.py": {"1": False, "2": True}, "c.py": {"3": True}}
        made = tasks.make_tasks("owner/name", self.work, files, known={"3"})
        self.assertEqual([(task["tests"], task["turn"], task["new"]) for task in made], [(["b.py"], 0, 2), (["a.py", "c.py"], 1, 0)])

    def test_a_task_is_full_by_its_cost(self):
        files = {f"{number}.py": {f"{number}.{each}": True for each in range(5)} for number in range(3)}
        made = tasks.make_tasks("owner/name", self.work, files, known=())
        self.assertEqual([task["tests"] for task in made], [["0.py"], ["1.py"], ["2.py"]])

    def test_the_smallest_case_of_each_kernel_comes_first_then_a_ragged_one(self):
        evidence = Evidence(self.work / "evidence.jsonl")
        large, small, ragged = add_case(evidence, "a", 9000), add_case(evidence, "a", 10), add_case(evidence, "a", 2000, ragged=True)
        other = add_case(evidence, "b", 20)
        kernels = results.group_cases(evidence)
        self.assertEqual([row["id"] for row in results.choose(evidence, kernels, {"b" * 64}, 1 << 20)], [other, small, ragged, large])
        self.assertEqual([row["id"] for row in results.choose(evidence, kernels, set(), 6000)], [small, other, ragged])

    def test_parts_come_back_as_one_evidence_file(self):
        evidence = Evidence(self.work / "recorded/evidence.jsonl")
        ids = {add_case(evidence, "a", 5000), add_case(evidence, "b", 5000)}
        evidence.save()
        size = results.write_parts(self.work / "out", "recorded", self.work / "recorded", 4000)
        self.assertEqual(len(list((self.work / "out").iterdir())), -(-size // 4000))
        with contextlib.redirect_stdout(io.StringIO()):
            results.merge(self.work / "all/evidence.jsonl", [self.work / "out"])
        merged = Evidence(self.work / "all/evidence.jsonl")
        self.assertEqual({case.id for case in merged.cases()}, ids)
        for case in merged.cases():
            self.assertEqual(len(merged.get(case.storages[0]["sha256"])), 5000)

    def test_small_kernels_go_to_the_interpreter_once_and_others_to_the_gpus(self):
        rows = [{"grid": [2, 1, 1], "storages": [{"bytes": 8}]}]
        kernels = {(digit * 64, "kernel"): rows for digit in "1234e"} | {("2" * 64, "large"): [{"grid": [1000, 1, 1], "storages": []}]}
        options = types.SimpleNamespace(device="cuda:90", share=0.5, gpu_workers=7, interpreter_workers=8)
        with mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "3,5"}):
            parts = scorer.divide(kernels, options, tried={("4" * 64, "kernel")})
        found = {name: (gpu, workers, [place[0][0] + place[1][0] for place in places]) for name, (gpu, workers, places) in parts.items()}
        self.assertEqual(found, {"gpu-0": ("3", 7, ["2l", "ek"]), "gpu-1": ("5", 7, ["4k"]),
                                 "cpu-0": (None, 4, ["1k", "3k"]), "cpu-1": (None, 4, ["2k"])})

    def test_a_killed_process_takes_along_what_left_its_session(self):
        code = "import subprocess, sys; subprocess.Popen(['sleep', '600'], start_new_session=True); sys.stdin.read()"
        mark = f"{machine.MARK}={os.getpid()}"
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                                   env={**os.environ, machine.MARK: str(os.getpid())})
        process.mark = mark.encode()
        while not self.sleepers(mark):
            pass
        machine.kill([process])
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"")  # it ends once no process holds the pipe
        process.stdout.close()

    @staticmethod
    def sleepers(mark):
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes().split(b"\0") and (entry / "comm").read_text() == "sleep\n":
                    found.append(entry.name)
        return found

    def test_stand_ins_are_imported_and_decorate(self):
        code = ("import absent.part\nfrom absent import Base, mark\nclass Own(Base): pass\n@mark\ndef one(): return 1\n"
                "@mark.other(2)\ndef two(): return 2\nOwn(3)\nprint(one(), two(), absent.Base is not None)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(HERE / "site"), "RECORDING_STAND_INS": "absent"})
        self.assertEqual(done.stdout, "1 2 True\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
