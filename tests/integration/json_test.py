"""Holds docs/reference/json.md to the output of every command with --json: each line is of a type that the page lists, and has its
fields, each of its type."""

import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import harness
import kernel_texts

PAGE = harness.ROOT / "docs/reference/json.md"
HEAD = "import triton\nimport triton.language as tl\n\n\n"
# A kernel whose docstring has all the words of its body: `review` flags it.
LOADS = [f"v{i} = tl.load(x_ptr + {i})" for i in range(40)]
ALIKE = (HEAD + '@triton.jit\ndef alike(x_ptr, y_ptr):\n    """' + " ".join(LOADS) + '"""\n' + "".join(f"    {load}\n" for load in LOADS))
# A host function that launches no kernel: a finding of `evaluate`.
UNLAUNCHED = "\n\ndef scale(x):\n    return x * 2\n"
PLAIN = {"text": str, "number": (int, float), "boolean": bool, "numbers": dict, "row": object}
# Printed where a toolchain or Triton is: tests/packages/python_test.py, compile_test.py, tests/execution/answers_test.py.
ELSEWHERE = {"published", "compilers", "compiled", "runs", "run", "speed"}
# Its fields are those of a job file.
OPEN = {"job_file"}


def read_page():
    """Returns {type: {field: (its type, True if it may be missing)}}."""
    types = {}
    for section in re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, text = section.partition("\n")
        rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ?([^|]*)\|$", text.split("\n## ")[0], re.MULTILINE)
        types[name.strip()] = {field: (re.sub(r"\[(\w+)\]\(#\w+\)", r"\1", kind.strip()), said.startswith("if "))
                               for field, kind, said in rows}
    return types


class Checker:
    def __init__(self):
        self.types, self.seen, self.problems = read_page(), set(), set()

    def line(self, value, where):
        if not isinstance(value, dict) or value.get("type") not in self.types:
            self.problems.add(f"{where}: no such type: {str(value)[:200]}")
            return
        name = value["type"]
        self.seen.add(name)
        if name not in OPEN:
            self.fields({key: item for key, item in value.items() if key != "type"}, name, where)

    def fields(self, value, name, where):
        fields = self.types[name]
        self.seen.add(name)
        for key in value.keys() - fields.keys():
            self.problems.add(f"{where}: {name} has {key}, which the page lacks")
        for key, (kind, may_be_missing) in fields.items():
            if key in value:
                self.value(value[key], kind, f"{where}: {name}.{key}")
            elif not may_be_missing:
                self.problems.add(f"{where}: {name} lacks {key}")

    def value(self, value, kind, where):
        if kind.endswith("?"):
            return None if value is None else self.value(value, kind[:-1], where)
        if kind.endswith("[]"):
            return [self.value(one, kind[:-2], where) for one in value] if isinstance(value, list) else self.problems.add(f"{where}: no list")
        if kind in self.types:
            return self.fields(value, kind, where)
        wrong = not isinstance(value, PLAIN[kind]) or kind == "number" and isinstance(value, bool)
        if kind == "numbers":
            wrong = wrong or not all(isinstance(one, int) for one in value.values())
        if wrong:
            self.problems.add(f"{where}: {value!r} is no {kind}")
        return None


def check_evaluation(checker, printed, samples):
    """Checks what `evaluate --json` prints, and the lines of its samples.jsonl."""
    checker.fields(json.loads(printed), "evaluation", "evaluate")
    for line in samples.splitlines():
        checker.fields(json.loads(line), "sample", "samples.jsonl")


class Json(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.checker = Checker()
        harness.write_many_kernels(cls.folder / "many", 6, 3)
        (cls.folder / "many/alike.py").write_text(ALIKE)
        for name in ("copy", "again"):
            (cls.folder / f"many/{name}.py").write_text(HEAD + kernel_texts.SCALE_ROWS)
        cls.job = cls.write("job", '  - {path: ./many, name: many, include: ["**/*.py", "*.cu"]}\n  - {path: ./none, name: none}\n',
                            "splits: {test: 0.3}\nmix: {max_epochs: 1, phases: [{name: x, parts: [{config: kernels, epochs: 3}]}]}\n")
        cls.other = cls.write("other", "  - {path: ./many, name: many, exclude: ['again.py', 'kernels_00000.py']}\n")
        cls.refused = cls.write("refused", "  - {path: ./many, name: many}\n  - {git: 'http://127.0.0.1:1/a/b.git'}\n")
        cls.out = cls.folder / "out"

    @classmethod
    def write(cls, name, sources, more=""):
        job = cls.folder / f"{name}.yaml"
        job.write_text(f"name: {name}\nsources:\n{sources}{more}")
        return job

    def look(self, where, *texts):
        """Checks lines, and returns them."""
        lines = [json.loads(line) for text in texts for line in text.splitlines()]
        for line in lines:
            self.checker.line(line, where)
        return lines

    def run_program(self, *argv, codes=(0,)):
        """Runs a command, checks its lines, and returns its results."""
        done = harness.run(harness.BIN / "kernelmill", *argv, "--json", check=False)
        self.assertIn(done.returncode, codes, f"{argv}: {done.stdout}{done.stderr}")
        self.look(" ".join(map(str, argv[:2])), done.stderr)
        return self.look(" ".join(map(str, argv[:2])), done.stdout)

    def embedded(self):
        data = ("--data", self.folder / "data")
        [summary] = self.run_program("crawl", self.job, "--out", self.out, *data, codes=(1,))
        self.assertEqual(summary["languages"], {"triton": summary["kernels"]["kept"]})
        self.run_program("crawl", self.other, "--out", self.folder / "less", *data)
        self.replaced(data)
        self.run_program("check", self.job, codes=(1,))
        self.run_program("crawl", self.job, "--dry-run", *data, codes=(1,))
        self.run_program("init", self.folder / "new.yaml", "--folder", self.folder / "many")
        for argv in (["size"], ["prune", "--limit-bytes", "1GB"]):
            self.run_program("cache", *argv, *data)
        self.run_program("extract", self.folder / "many")
        self.run_program("validate", self.folder / "many", codes=(0, 1))
        self.run_program("toolchains", codes=(0, 1))
        self.run_program("stats", self.out)
        self.not_kept()
        self.run_program("diff", self.out, self.folder / "less", codes=(1,))
        self.run_program("similar", self.folder / "many/copy.py", "--out", self.out, *data)
        [item, *_] = self.run_program("review", self.out, "--list")
        reviews = ("--reviews", self.folder / "reviews.jsonl")
        self.run_program("review", self.out, "--accept", item["id"], "--why", "it is fine", "--who", "ann", *reviews)
        self.run_program("review", self.out, "--list", "--all", *reviews)
        self.run_program("catalog", self.out, "--out", self.folder / "site")
        self.run_program("catalog", self.out, "--wanted")
        self.run_program("show", self.out, "nothing", codes=(2,))
        name = harness.rows_of(self.out, "kernels")[0]["name"]
        part = harness.run(harness.BIN / "kernelmill", "show", self.out, name[:-1].upper(), check=False)
        self.assertRegex(part.stderr, f"; names with it: .*{name}")
        self.run_program("cache", "clear", "--yes", *data)

    def replaced(self, data):
        """A folder whose next dataset has fewer kernels, and a host that refuses."""
        folder = self.folder / "replaced"
        shutil.copytree(self.out, folder)
        [summary] = self.run_program("crawl", self.other, "--out", folder, *data)
        self.assertEqual([(lost["source"], set(lost["reasons"])) for lost in summary["lost"]], [("many", {"no longer found"})])
        [summary] = self.run_program("crawl", self.refused, "--out", self.folder / "refused", *data, codes=(1,))
        self.assertEqual(summary["time"]["retried"]["source"], "http://127.0.0.1:1/a/b.git")

    def not_kept(self):
        broken = self.folder / "broken"
        shutil.copytree(self.out, broken)
        row, *others = (broken / "kernels.jsonl").read_text().splitlines(keepends=True)
        row = json.loads(row)
        row["checks"]["compiles"] = "fail"
        row["compile"] = {"results": [{"toolchain": "triton-3.5.1", "target": "cuda:90", "status": "error", "stage": "frontend",
                                       "message": "no", "line": 3}]}
        (broken / "kernels.jsonl").write_text(json.dumps(row) + "\n" + "".join(others))
        rejected = self.run_program("rejected", broken)
        ledger = [json.loads(line) for line in (broken / "ledger.jsonl").read_text().splitlines()]
        self.assertEqual([(one["id"], one["reason"]) for one in rejected],
                         [(one["id"], one["reason"]) for one in ledger if one["fate"] != "kept"] + [(row["id"], "compiles")])

    def rows(self):
        """Commands that print something with a format of its own."""
        done = harness.run(harness.BIN / "kernelmill", "head", self.out, "-n", "3", "--json")
        self.assertEqual(done.stdout, "".join((self.out / "kernels.jsonl").read_text().splitlines(keepends=True)[:3]))
        answers = self.folder / "answers.jsonl"
        answers.write_text("".join(json.dumps({"task_id": name, "completion": code, "reference": ALIKE}) + "\n" for name, code in (
            ("a", HEAD + kernel_texts.SCALE_ROWS), ("b", "x = 1\n"), ("c", HEAD + kernel_texts.SCALE_ROWS + UNLAUNCHED))))
        # A dataset without splits: a model is trained on all of it.
        done = harness.run(harness.BIN / "kernelmill", "evaluate", answers, "--baseline", answers, "--dataset", self.folder / "less",
                           "--no-compile", "--json", "--out", self.folder / "evaluation")
        check_evaluation(self.checker, done.stdout, (self.folder / "evaluation/samples.jsonl").read_text())

    def on_cluster(self):
        backups = self.folder / "backups"
        with harness.Cluster(self.folder / "cluster", store_flags=("--backups", backups), hold=True) as cluster:
            def run(*argv, codes=(0,)):
                return self.run_program(*argv, *cluster.addresses(), codes=codes)

            def store(*argv, codes=(0,)):
                return self.run_program("store", *argv, "--store", f"127.0.0.1:{cluster.store.port}", codes=codes)

            [submitted] = run("submit", self.job)
            newer = subprocess.Popen([harness.BIN / "kernelmill-extractor-next", "--listen", "127.0.0.1:0", "--metrics", "", *cluster.addresses()],
                                     stderr=subprocess.DEVNULL)
            self.addCleanup(newer.wait)
            self.addCleanup(newer.kill)
            cluster.start_worker("fetcher")
            harness.wait_until(lambda: any(stage["others"] for stage in cluster.jobs()[0]["unserved"]), "the worker of another version")
            [unserved] = run("jobs")
            self.assertEqual((unserved["state"], unserved["unserved"][0]["stage"]), ("running", "extract"))
            job = submitted["job"]
            run("report", job)
            self.assertIn("so far     the job is running; ", cluster.client("report", job).stdout)
            cluster.start_workers()
            [summary] = run("watch", job, codes=(1,))
            self.assertEqual(summary["job"]["state"], "done")
            run("report", job)
            run("report", job, "--timeline")
            run("cancel", job)
            run("export", job, "--out", self.folder / "exported", codes=(1,))
            run("retry", job)
            run("retry", job, "--wait", codes=(1,))
            store("stat")
            run("delete", job)
            self.one_source_holds_up(cluster)
            cluster.coordinator.stop()
            store("stat")
            store("verify")
            store("backup", "monday", "--prune", "3")
            store("stat")
            store("forget", "--stage", "extract")
            store("gc", "--target-bytes", "0", "--yes", "--coordinator", "127.0.0.1:1")
            self.run_program("store", "restore", "--from", backups / "monday", "--data", self.folder / "restored")
        with harness.Cluster(self.folder / "second") as cluster:
            other = cluster.start("coordinator", "--data", self.folder / "other", "--backups", backups / "coordinator")
            for argv in (["backup", "monday"], ["backups"], ["prune", "--keep", "1"]):
                self.run_program("coordinator", *argv, "--coordinator", f"127.0.0.1:{other.port}")
            watch = self.interrupted_watch(cluster)
            self.look("watch", watch)

    def one_source_holds_up(self, cluster):
        """A repository at a server that never answers, beside one whose host refuses; the coordinator then goes away."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            job = self.write("slow", f"  - {{git: 'http://127.0.0.1:{silent.getsockname()[1]}/a/b.git'}}\n"
                             "  - {git: 'http://127.0.0.1:1/c/d.git'}\n")
            watch = subprocess.Popen([harness.BIN / "kernelmill", "submit", job, "--wait", "--json", *cluster.addresses(),
                                      "--reconnect-seconds", "5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            events = []
            for line in watch.stderr:
                events += self.look("submit --wait", line)
                if events[-1]["type"] == "waiting":
                    break
            self.assertEqual((events[-1]["stage"], events[-1]["source"].partition(":")[0]), ("pin", "http"))
            workers = self.run_program("workers", *cluster.addresses())
            self.assertEqual([task["stage"] for worker in workers for task in worker["running"]], ["pin"])
            cluster.coordinator.popen.send_signal(signal.SIGKILL)
            self.look("submit --wait", *watch.stderr)
            self.assertEqual((watch.wait(60), watch.stdout.read()), (3, ""))
            watch.stdout.close()
            watch.stderr.close()

    def interrupted_watch(self, cluster):
        watch = subprocess.Popen([harness.BIN / "kernelmill", "submit", self.job, "--wait", "--json", *cluster.addresses()],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        harness.wait_until(cluster.jobs, "the job")
        time.sleep(0.5)
        watch.send_signal(signal.SIGINT)
        out, err = watch.communicate(timeout=30)
        self.assertEqual((watch.returncode, out), (130, ""))
        self.assertEqual([json.loads(line)["type"] for line in err.splitlines()][-2:], ["interrupted", "error"])
        return err

    def test_the_page_lists_what_is_printed(self):
        self.embedded()
        self.rows()
        self.on_cluster()
        self.assertEqual(sorted(self.checker.problems), [])
        self.assertEqual(self.checker.types.keys() - self.checker.seen - ELSEWHERE, set(), "never printed here")


if __name__ == "__main__":
    unittest.main()
