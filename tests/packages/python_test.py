"""The wheel's module, installed: what it reads of a dataset, and what it does with a cluster of real processes. The parts
that need gRPC, mypy or Jupyter are skipped where they are not installed (tests/packages/install_python.sh)."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import dev_test  # noqa: E402
import harness  # noqa: E402
import trusted_cluster  # noqa: E402

WITH_GRPC = pathlib.Path(os.environ.get("KERNELMILL_WITH_GRPC", harness.ROOT / "build/peers/python"))
needs_grpc = unittest.skipUnless((WITH_GRPC / ".requirements").is_file(), "no gRPC: tests/packages/install_python.sh")
JOB = f"""name: module
sources:
  - path: {harness.DEMO_SOURCES}
    name: demo
"""


class Installed:
    """The wheel in a clean virtual environment, and a dataset that its program made. KERNELMILL_WHEEL: one that is there."""

    def __init__(self, work):
        self.work = pathlib.Path(work)
        wheel = os.environ.get("KERNELMILL_WHEEL")
        if not wheel:
            harness.run(harness.ROOT / "deploy/packages/build_wheel.sh", self.work / "wheel",
                        env=dict(os.environ, KERNELMILL_BIN=str(harness.BIN)))
            [wheel] = (self.work / "wheel").iterdir()
        harness.run(sys.executable, "-m", "venv", self.work / "clean")
        self.clean = self.work / "clean/bin/python"
        harness.run(self.clean, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel)
        module = next((self.work / "clean/lib").glob("python*/site-packages"))
        # Another one that has the same module, and gRPC beside it.
        harness.run(sys.executable, "-m", "venv", "--without-pip", self.work / "full")
        self.full = self.work / "full/bin/python"
        (next((self.work / "full/lib").glob("python*/site-packages")) / "all.pth").write_text(f"{module}\n{WITH_GRPC.resolve()}\n")
        self.out = self.work / "out"
        self.crawled = harness.run(self.clean, "-I", "-c", textwrap.dedent(f"""
            import kernelmill
            made = kernelmill.crawl({JOB!r}, out={str(self.out)!r}, data={str(self.work / 'data')!r})
            print(made.complete, made.dataset)""")).stdout.split()


def setUpModule():
    global installed
    installed = Installed(unittest.enterModuleContext(tempfile.TemporaryDirectory()))


class Module(unittest.TestCase):
    """The base of the tests of an installed module."""

    @classmethod
    def setUpClass(cls):
        cls.work = installed.work / cls.__name__
        cls.work.mkdir()
        cls.clean, cls.full, cls.out, cls.crawled = installed.clean, installed.full, installed.out, installed.crawled

    @classmethod
    def python(cls, code, check=True, grpc=False, **environment):
        """Runs code with the wheel's module; with `grpc` also with gRPC's."""
        if not grpc:
            return harness.run(cls.clean, "-I", "-c", textwrap.dedent(code), check=check)
        return harness.run(cls.full, "-c", textwrap.dedent(code), check=check, env={**os.environ, **environment})


class Load(Module):
    def test_a_crawl_from_python_is_the_program_s(self):
        self.assertEqual(self.crawled, ["True", harness.dataset_digest(self.out)])

    def test_typed_rows_have_all_that_the_files_have(self):
        done = self.python(f"""
            import dataclasses, json, kernelmill
            dataset = kernelmill.load({str(self.out)!r})
            for name in ("kernels", "ledger", "notices", "pairs", "fim", "instruct", "files", "ir", "tasks"):
                table = getattr(dataset, name)
                rows = [dataclasses.asdict(row) for row in table]
                assert json.loads(json.dumps(rows)) == list(table.raw()), name
                assert len(rows) == len(table), name
                print(name, len(table))
            print(dataset.digest, dataset.name, dataset.report["kernels"]["kept"])""")
        lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
        for name in ("kernels", "ledger", "notices", "fim", "instruct"):
            self.assertEqual(int(lines[name]), len((self.out / f"{name}.jsonl").read_text().splitlines()))
            self.assertGreater(int(lines[name]), 0)
        self.assertEqual(lines[harness.dataset_digest(self.out)], f"module {lines['kernels']}")

    def test_the_servers_are_commands_too(self):
        for server in ("store", "runner"):
            done = harness.run(self.clean.parent / f"kernelmill-{server}", "--version")
            self.assertIn(f"kernelmill-{server} ", done.stdout)

    def test_the_installed_program_runs_a_cluster_and_has_its_manual(self):
        environment = self.clean.parents[1]
        self.assertIn("kernelmill", (environment / "share/man/man1/kernelmill.1").read_text())
        self.assertTrue((environment / "share/bash-completion/completions/kernelmill").is_file())
        log, first = self.work / "dev.log", dev_test.free_ports()
        with log.open("w") as out:
            dev = subprocess.Popen([self.clean.parent / "kernelmill", "dev", "--data", self.work / "cluster", "--first-port", str(first),
                                    "--page-port", "0", "--allow-local", harness.DEMO_SOURCES], stdout=out, stderr=out)
        try:
            harness.wait_until(lambda: "The cluster runs" in log.read_text() or dev.poll() is not None, "the cluster", 60)
            job = self.work / "dev.yaml"
            job.write_text(JOB)
            harness.run(self.clean.parent / "kernelmill", "submit", job, "--wait", "--out", self.work / "of-cluster",
                        "--coordinator", f"127.0.0.1:{first}", "--store", f"127.0.0.1:{first + 1}", timeout=300)
        finally:
            dev.send_signal(signal.SIGINT)
            self.assertEqual(dev.wait(60), 0, log.read_text())
        self.assertEqual(harness.dataset_digest(self.work / "of-cluster"), harness.dataset_digest(self.out))

    def test_the_program_publishes_by_the_module_that_is_installed_with_it(self):
        kernelmill = self.clean.parent / "kernelmill"
        done = harness.run(kernelmill, "publish", self.out, f"file:{self.work / 'published'}", "--json")
        self.assertEqual(json.loads(done.stdout)["version"], "v1")
        [kept] = self.python(f"""
            import kernelmill
            published = {str(self.work / 'published/v1')!r}
            print(kernelmill.load(published).report["kernels"]["kept"])
            try:
                list(kernelmill.load(published))
            except kernelmill.DatasetError as error:
                assert "pip install 'kernelmill[pandas]'" in str(error), error""").stdout.split()
        self.assertEqual(int(kept), len((self.out / "kernels.jsonl").read_text().splitlines()))
        done = harness.run(kernelmill, "publish", self.out, "s3://bucket/folder", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("pip install 'kernelmill[s3]'", done.stderr)

    def test_nested_fields_are_types(self):
        done = self.python(f"""
            import kernelmill
            kernel = next(iter(kernelmill.load({str(self.out)!r}).kernels))
            print(type(kernel).__name__, type(kernel.license).__name__, kernel.license.expression, type(kernel.tags).__name__)
            try:
                kernel.name = "x"
            except Exception as error:
                print(type(error).__name__)""")
        self.assertEqual(done.stdout.split(), ["Kernel", "License", "MIT", "tuple", "FrozenInstanceError"])

    def test_a_file_is_read_as_one_goes_through_it(self):
        large = self.work / "large"
        large.mkdir()
        for name in ("report.json", "kernels.jsonl"):
            (large / name).write_text((self.out / name).read_text())
        with open(large / "kernels.jsonl", "a", encoding="utf-8") as rows:
            rows.write("{}\n")
        done = self.python(f"""
            import kernelmill
            rows = iter(kernelmill.load({str(large)!r}).kernels)
            next(rows)  # well before the row that is none
            try:
                list(rows)
            except kernelmill.DatasetError as error:
                print(error)""")
        count = len((large / "kernels.jsonl").read_text().splitlines())
        self.assertIn(f"kernels.jsonl:{count}: the row has no 'id'", done.stdout)

    def test_what_is_no_dataset_says_so(self):
        done = self.python(f"""
            import kernelmill
            for folder in ({str(self.work)!r}, "/nonexistent"):
                try:
                    kernelmill.load(folder)
                except kernelmill.DatasetError as error:
                    print(error)""")
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertIn("is no dataset", done.stdout)

    def test_a_job_that_is_wrong_says_where(self):
        done = self.python("""
            import kernelmill
            for job in ({"name": "x", "sources": [{"gti": "y"}]}, "name: x\\nsources:\\n  - gti: y\\n", "/nonexistent.yaml"):
                try:
                    kernelmill.check(job)
                except kernelmill.RequestError as error:
                    print(type(error).__name__, error)""")
        first, second, third = done.stdout.splitlines()
        self.assertRegex(first, "RequestError standard input:1.*gti")
        self.assertRegex(second, "RequestError standard input:3.*gti")
        self.assertRegex(third, "NotFound .*/nonexistent.yaml")

    def test_a_job_of_every_form_is_the_same_job(self):
        file = self.work / "job.yaml"
        file.write_text(JOB)
        job = {"name": "module", "sources": [{"path": harness.DEMO_SOURCES.as_posix(), "name": "demo"}]}
        done = self.python(f"""
            import kernelmill, pathlib
            one, two, three = map(kernelmill.check, ({job!r}, {JOB!r}, pathlib.Path({str(file)!r})))
            assert one == two == three, (one, two, three)
            print(one["sources"][0]["name"])""")
        self.assertEqual(done.stdout, "demo\n")

    def test_without_grpc_the_client_says_what_it_needs(self):
        done = self.python("import kernelmill; kernelmill.load; kernelmill.Client", check=False)
        self.assertIn("pip install 'kernelmill[client]'", done.stderr)


@needs_grpc
class Client(Module):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = cls.enterClassContext(harness.Cluster(cls.work / "cluster"))
        cls.cluster.start_workers()

    def client(self, code, **more):
        """Runs code that has `client`."""
        coordinator, store = self.cluster.coordinator.port, self.cluster.store.port
        head = textwrap.dedent(f"""
            import dataclasses, json, pathlib, sys, threading, time
            import kernelmill
            from kernelmill import JobState
            client = kernelmill.Client("127.0.0.1:{coordinator}", store="127.0.0.1:{store}")
            JOB, WORK = {JOB!r}, pathlib.Path({str(self.work)!r})
            """)
        return self.python(head + textwrap.dedent(code), grpc=True, **more).stdout

    def test_a_job_is_submitted_watched_reported_and_exported(self):
        out = self.work / "exported"
        printed = self.client(f"""
            with client:
                job = client.submit(JOB, request_id="once")
                assert client.submit(JOB, request_id="once") == job
                events = list(client.watch(job, timeout=120))
                assert isinstance(events[-1], kernelmill.Ended) and events[-1].status.state is JobState.DONE
                assert any(isinstance(e, kernelmill.Progress) and e.stages for e in events)
                assert client.wait(job) == client.status(job)
                report = client.report(job)
                [listed] = [j for j in client.jobs() if j.job == job]
                assert listed.name == "module"
                assert {{s.outcome for s in client.timeline(job)}} <= {{"done", "cached"}}
                made = client.export(job, {str(out)!r})
                print(json.dumps([made.dataset, made.complete, report.counters["dataset.kept"], len(made.load().kernels)]))
            try:
                client.jobs()
            except kernelmill.RequestError as error:
                print(error)""")
        result, closed = printed.splitlines()
        dataset, complete, kept, rows = json.loads(result)
        self.assertEqual((dataset, complete), (harness.dataset_digest(self.out), True))
        self.assertEqual(kept, rows)
        self.assertEqual(closed, "the client is closed")
        self.assertEqual((out / "kernels.jsonl").read_bytes(), (self.out / "kernels.jsonl").read_bytes())

    def test_statuses_are_those_that_the_program_prints(self):
        printed = self.client("""
            job = client.submit(JOB)
            client.wait(job)
            print(json.dumps(dataclasses.asdict(client.status(job)), default=lambda v: v.value if hasattr(v, "value") else v.hex()))""")
        ours = json.loads(printed)
        theirs = json.loads(self.cluster.client("report", ours["job"], "--json").stdout)
        for name, value in ours.items():
            with self.subTest(name):
                if name == "counters":
                    self.assertEqual({v["name"]: v["value"] for v in value}, theirs[name])
                elif name == "dataset":
                    self.assertEqual(f"{value['hash']}/{value['size_bytes']}", theirs[name])
                elif isinstance(value, list):
                    self.assertEqual([v.get("stage") for v in value], [v.get("stage") for v in theirs[name]])
                else:
                    self.assertEqual(value, theirs[name])

    def test_a_job_without_a_dataset_raises_with_its_status(self):
        printed = self.client("""
            job = client.submit({"name": "gone", "sources": [{"path": "/nonexistent/folder", "name": "gone"}]})
            events = list(client.watch(job, timeout=120))
            [failed] = [e.failure for e in events if isinstance(e, kernelmill.InputFailed)]
            print(failed.source, failed.code)
            report = client.report(job)
            assert report.failures == (failed,)
            made = client.export(job, WORK / "gone")
            print(made.complete, len(made.load().kernels))
            assert client.retry(job).runs == 2
            client.wait(job, timeout=120)
            client.delete(job)
            try:
                client.status(job)
            except kernelmill.NotFound as error:
                print("gone:", error.code)""")
        lines = printed.splitlines()
        self.assertEqual(lines[0], "gone NOT_FOUND")
        self.assertEqual(lines[1:], ["False 0", "gone: NOT_FOUND"])

    def test_a_job_that_is_cancelled_ends_its_watch(self):
        printed = self.client("""
            job = client.submit({"name": "slow", "sources": [{"git": "http://127.0.0.1:9/nobody.git"}]})
            threading.Timer(0.3, lambda: client.cancel(job)).start()
            try:
                client.wait(job, timeout=60)
            except kernelmill.JobCancelled as error:
                print(error.status.state.value, isinstance(error, kernelmill.JobFailed))""")
        self.assertEqual(printed, "cancelled True\n")

    def test_wrong_requests_have_their_types(self):
        printed = self.client("""
            for call in (lambda: client.status("none"), lambda: list(client.watch("none")), lambda: client.cancel("none"),
                         lambda: client.submit("name: x\\nsources: []\\n"), lambda: client.export("none", "/tmp/never")):
                try:
                    call()
                except kernelmill.RequestError as error:
                    print(type(error).__name__, error.code)""")
        self.assertEqual(printed.splitlines(), ["NotFound NOT_FOUND"] * 3 + ["RequestError INVALID_ARGUMENT", "NotFound NOT_FOUND"])

    def test_a_coordinator_that_is_away_is_unreachable_and_a_watch_outlives_its_restart(self):
        with harness.Cluster(self.work / "restarted") as cluster:
            port = cluster.coordinator.port
            code = f"""
                import kernelmill, threading
                client = kernelmill.Client("127.0.0.1:{port}", reconnect_seconds=30)
                job = client.submit({JOB!r})
                lost = []
                print(job, flush=True)
                for event in client.watch(job, timeout=120):
                    if isinstance(event, kernelmill.Lost):
                        lost.append(event)
                        print("lost", flush=True)
                print(len(lost), event.status.state.value, flush=True)
                client.close()"""
            # Its output is its own: who runs this test does not wait for a watcher that does not end.
            watcher = subprocess.Popen([self.full, "-c", textwrap.dedent(code)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
            self.addCleanup(watcher.stdout.close)
            self.addCleanup(watcher.wait)
            self.addCleanup(watcher.kill)
            self.assertTrue(watcher.stdout.readline().strip())
            cluster.coordinator.kill()
            cluster.coordinator.popen.wait()
            self.assertEqual(watcher.stdout.readline(), "lost\n")
            again = harness.Process.__new__(harness.Process)
            again.__dict__.update(cluster.coordinator.__dict__)
            again.popen = subprocess.Popen(cluster.coordinator.popen.args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            cluster.processes.append(again)
            cluster.start_workers()
            self.assertEqual(watcher.stdout.readline(), "1 done\n")
            again.stop()
        printed = self.python(f"""
            import kernelmill
            try:
                kernelmill.Client("127.0.0.1:{port}", reconnect_seconds=0.5).jobs()
            except kernelmill.Unreachable as error:
                print(type(error).__name__)""", grpc=True).stdout
        self.assertEqual(printed, "Unreachable\n")

    def test_a_watch_ends_when_its_time_is_up_or_the_client_is_closed(self):
        with harness.Cluster(self.work / "idle") as cluster:  # no worker: the job never ends
            printed = self.python(f"""
                import kernelmill, threading
                client = kernelmill.Client("127.0.0.1:{cluster.coordinator.port}")
                job = client.submit({JOB!r})
                try:
                    client.wait(job, timeout=0.5)
                except kernelmill.TimedOut as error:
                    print(error)
                threading.Timer(0.5, client.close).start()
                try:
                    client.wait(job)
                except kernelmill.Error as error:
                    print(type(error).__name__)""", grpc=True).stdout
        self.assertRegex(printed, r"^job \S+ has not ended after 0.5 seconds\n\w+\n$")


@needs_grpc
class Identity(Module):
    def test_certificates_and_tokens_are_the_program_s(self):
        certificates = self.work / "certificates"
        harness.run(trusted_cluster.CERTS, certificates)
        with trusted_cluster.TrustedCluster(self.work / "trusted", certificates) as cluster:
            cluster.start_workers()
            files = {name: str(certificates / file) for name, file in
                     (("tls_ca", "ca.crt"), ("tls_cert", "client.crt"), ("tls_key", "client.key"))}
            address = f"'127.0.0.1:{cluster.coordinator.port}', store='127.0.0.1:{cluster.store.port}', reconnect_seconds=1"
            printed = self.python(f"""
                import kernelmill
                files = {files!r}
                with kernelmill.Client({address}, **files) as client:
                    job = client.submit({JOB!r})
                    client.wait(job, timeout=120)
                    print(client.export(job, {str(self.work / 'trusted-out')!r}).dataset)
                for identity in ({{"tls_ca": files["tls_ca"]}}, {{}}):
                    try:
                        kernelmill.Client({address}, **identity).jobs()
                    except (kernelmill.Unreachable, kernelmill.NotPermitted) as error:
                        print(type(error).__name__)
                for identity in ({{"token_file": "/nonexistent"}}, {{"tls_cert": files["tls_cert"]}}, {{"tls_ca": "/nonexistent"}}):
                    try:
                        kernelmill.Client({address}, **identity)
                    except kernelmill.RequestError as error:
                        print(error)""", grpc=True).stdout.splitlines()
        self.assertEqual(printed[0], harness.dataset_digest(self.out))
        self.assertEqual(printed[1:3], ["Unreachable", "Unreachable"])
        self.assertEqual(printed[3:], ["token_file needs TLS: tls_ca", "tls_ca is missing", "tls_ca: /nonexistent: No such file or directory"])


@needs_grpc
class Types(Module):
    def mypy(self, *argv):
        return harness.run(self.full, "-m", "mypy", "--strict", "--cache-dir", self.work / "mypy", *argv, check=False)

    def test_the_module_is_strictly_typed(self):
        # kernelmill/harness is no package: the compiler's own files, which run in its sandbox.
        config = self.work / "mypy.ini"
        config.write_text("[mypy]\n[mypy-kernelmill.harness.*]\nignore_errors = True\n[mypy-kernelmill_harness.*]\n"
                          "ignore_missing_imports = True\n")
        done = self.mypy("--config-file", config, "-p", "kernelmill")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_types_reach_those_who_use_it(self):
        user = self.work / "user.py"
        user.write_text(textwrap.dedent("""
            import kernelmill
            for kernel in kernelmill.load("out").kernels:
                reveal_type(kernel.license.expression)
                kernel.nothing
            for event in kernelmill.Client("a:1").watch("j"):
                if isinstance(event, kernelmill.InputFailed):
                    reveal_type(event.failure.path)
            """))
        done = self.mypy(user)
        self.assertIn('Revealed type is "str"', done.stdout.replace("builtins.", ""))
        self.assertIn('Revealed type is "bytes"', done.stdout.replace("builtins.", ""))
        self.assertIn('"Kernel" has no attribute "nothing"', done.stdout)

    def test_messages_are_in_step_with_the_proto(self):
        harness.run(self.full, harness.ROOT / "python/generate.py", "--check")


@needs_grpc
class Notebook(Module):
    def test_the_example_runs_from_its_first_cell_to_its_last(self):
        out = self.work / "dataset"
        done = self.python(f"""
            import nbclient, nbformat
            notebook = nbformat.read({str(harness.ROOT / 'examples/dataset.ipynb')!r}, as_version=4)
            nbformat.validate(notebook)
            assert not any(cell.get("outputs") for cell in notebook.cells)  # none of somebody's machine is kept
            nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
            print("".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", [])))""",
            grpc=True, REPOSITORY=str(harness.DEMO_SOURCES), OUT=str(out), IPYTHONDIR=str(self.work / "ipython"),
            JUPYTER_PATH=str(WITH_GRPC / "share/jupyter"), JUPYTER_RUNTIME_DIR=str(self.work / "jupyter"))
        self.assertRegex(done.stdout, r"\n[1-9]\d* of \d+ kernels\n")
        self.assertIn("--- assistant", done.stdout)
        rows = (self.work / "dataset.train.jsonl").read_text().splitlines()
        self.assertGreater(len(rows), 0)
        self.assertEqual([m["role"] for m in json.loads(rows[0])["messages"]][-2:], ["user", "assistant"])


class Checkout(unittest.TestCase):
    """The module in a source checkout, where the types of rows are made by a program."""

    def python(self, root, *argv):
        return subprocess.run([sys.executable, *argv], env={"PATH": os.environ["PATH"], "PYTHONPATH": str(root / "python")},
                              capture_output=True, text=True, check=False)

    def test_types_of_rows_are_made_and_without_them_the_module_says_how(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copytree(harness.ROOT / "python", root / "python", ignore=shutil.ignore_patterns("records.py", "__pycache__"))
            shutil.copytree(harness.ROOT / "docs/schema", root / "docs/schema")
            shutil.copytree(harness.ROOT / "proto", root / "proto")
            done = self.python(root, "-c", "import kernelmill; kernelmill.Kernel")
            self.assertIn("ImportError: kernelmill/records.py is missing", done.stderr)
            self.assertIn("python/generate.py", done.stderr)
            done = self.python(root, root / "python/generate.py")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.python(root, "-c", "import kernelmill; print(kernelmill.Kernel.__annotations__['target'], "
                               "kernelmill.Kernel.__annotations__['role'])")
            self.assertIn("'host']", done.stdout, done.stderr)

    def test_pip_installs_the_module_of_a_clone(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            harness.run(sys.executable, "-m", "venv", work / "venv")
            python = work / "venv/bin/python"
            harness.run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", harness.ROOT / "python")
            harness.run(python, "-I", "-c", f"""if True:
                import kernelmill, kernelmill.tokens, kernelmill.figures
                from importlib import metadata
                assert kernelmill.__file__.startswith({str(work)!r})
                assert len(kernelmill.load({str(installed.out)!r}).kernels) > 0
                assert {{"figures", "tokens", "hub", "s3", "gs", "pandas", "polars"}} <= set(metadata.metadata("kernelmill").get_all("Provides-Extra"))
                assert metadata.version("kernelmill") == {re.search(r"kernelmill VERSION ([0-9.]+)", (harness.ROOT / "CMakeLists.txt").read_text())[1]!r}
                """)
            crawl = f"import kernelmill; print(kernelmill.crawl({JOB!r}, out={str(work / 'out')!r}, data={str(work / 'data')!r}).dataset)"
            environment = {name: value for name, value in os.environ.items() if name != "KERNELMILL_PROGRAM"}
            without = {**environment, "PATH": "/usr/bin:/bin"}
            done = harness.run(python, "-I", "-c", crawl, env=without, check=False)
            self.assertRegex(done.stderr, "ProgramError: the program kernelmill is missing.*KERNELMILL_PROGRAM")
            done = harness.run(python, "-I", "-m", "kernelmill", "--version", env=without, check=False)
            self.assertRegex(done.stderr, "^kernelmill: the program kernelmill is missing")
            found = {**environment, "PATH": f"{harness.BIN}:{os.environ['PATH']}"}
            self.assertEqual(harness.run(python, "-I", "-c", crawl, env=found).stdout.strip(), harness.dataset_digest(installed.out))
            version = harness.run(harness.BIN / "kernelmill", "--version").stdout
            self.assertEqual(harness.run(python, "-I", "-m", "kernelmill", "--version", env=found).stdout, version)


if __name__ == "__main__":
    unittest.main(verbosity=2)
