"""Runs what the whole-job tests need: real servers of git repositories and wheels on the loopback
interface, and kernelmill's own programs as processes. Standard library only."""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
DEMO_SOURCES = ROOT / "tests/data/kernels-repo"
FIXED_DATE = "2026-01-01T00:00:00Z"


def run(*argv, check=True, timeout=300, input=None, **kwargs):
    """Runs a program; returns the CompletedProcess with text output. One that hangs: the error says where."""
    if input is not None:
        kwargs["stdin"] = subprocess.PIPE
    with subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs) as program:
        try:
            stdout, stderr = program.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            try:
                where = stacks(program.pid)
            finally:
                program.kill()
            raise AssertionError(f"{argv} takes more than {timeout} s: {where}") from None
    if check and program.returncode != 0:
        raise AssertionError(f"{argv} exited {program.returncode}\n{stdout}\n{stderr}")
    return subprocess.CompletedProcess(argv, program.returncode, stdout, stderr)


def stacks(pid):
    """Returns what the threads of a process that hangs are doing, as far as a debugger is installed."""
    if not shutil.which("gdb"):
        return "no gdb to look with"
    try:
        looked = subprocess.run(["gdb", "--batch", "-p", str(pid), "-ex", "thread apply all backtrace 30"], capture_output=True, text=True,
                                timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "the debugger hangs, too"
    return looked.stdout


# ---------------------------------------------------------------- sources

def git(*argv, cwd):
    env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1",
               GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org", GIT_AUTHOR_DATE=FIXED_DATE,
               GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@example.org", GIT_COMMITTER_DATE=FIXED_DATE)
    return run("git", *argv, cwd=cwd, env=env).stdout.strip()


def make_repository(files_from, bare, filters=True):
    """A bare repository with one commit that holds the tree `files_from`; the commit id is always the same.
    Its server can leave out blobs if it `filters`."""
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(files_from, work, dirs_exist_ok=True)
        git("init", "-q", "-b", "main", cwd=work)
        git("add", "-A", "--force", cwd=work)
        git("commit", "-q", "-m", "kernels", cwd=work)
        git("clone", "-q", "--bare", work, str(bare), cwd=work)
    git("config", "uploadpack.allowFilter", "true" if filters else "false", cwd=bare)
    git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=bare)


OPERATIONS = ("exp", "log", "sqrt", "abs", "sin", "cos", "exp2", "log2", "rsqrt", "sigmoid", "floor", "ceil", "erf")


def operations_of(number):
    """Three of them."""
    first, step = number % len(OPERATIONS), 1 + number // len(OPERATIONS) % (len(OPERATIONS) // 2)
    return [OPERATIONS[(first + i * step) % len(OPERATIONS)] for i in range(3)]


def write_many_kernels(folder, files, functions):
    """Writes `files` Python files of `functions` different Triton kernels each, and a licence. Few pairs of
    them have the same operations, so that kernels differ in more than names and numbers."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    (folder / "LICENSE").write_text(MIT_TEXT)
    for f in range(files):
        lines = ["import triton", "import triton.language as tl", "", f"SCALE_{f} = {f}", ""]
        for k in range(functions):
            lines += ["", "@triton.jit", f"def kernel_{f}_{k}(x_ptr, y_ptr, n, BLOCK_SIZE: tl.constexpr):",
                      f'    """Adds {f} and {k}."""', "    pid = tl.program_id(0)",
                      "    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)", "    mask = offsets < n",
                      "    x = tl.load(x_ptr + offsets, mask=mask)"]
            lines += [f"    v{i} = x * {f * 31 + i} + tl.{op}(x) * SCALE_{f} - {k * 7 + i}"
                      for i, op in enumerate(operations_of(f * functions + k) * 6)]
            lines += [f"    tl.store(y_ptr + offsets, v{(f * 5 + k) % 18} + {k}, mask=mask)"]
        (folder / f"kernels_{f:05}.py").write_text("\n".join(lines) + "\n")


def many_kernels_job(folder, name, files, functions):
    """A job file in `folder` of many kernels, as above, which lie beside it."""
    write_many_kernels(folder / "many", files, functions)
    job = folder / "job.yaml"
    job.write_text(f"name: {name}\nsources:\n  - path: ./many\n    name: many\n")
    return job


def write_files(folder, files):
    """Writes {path: text or bytes} into the folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())


MIT_TEXT = """MIT License

Copyright (c) 2026 the authors of this test

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""


def make_wheel(folder, name, version, files, license=("MIT", MIT_TEXT)):
    """Writes a wheel of {path: text}; returns its path. The bytes are always the same. `license`: its expression and
    the text of its licence file."""
    path = pathlib.Path(folder) / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    members = dict(files)
    members[f"{info}/METADATA"] = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nLicense-Expression: {license[0]}\n"
    members[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members[f"{info}/licenses/LICENSE"] = license[1]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in sorted(members.items()):
            archive.writestr(zipfile.ZipInfo(member, (2026, 1, 1, 0, 0, 0)), text)
    return path


# ---------------------------------------------------------------- servers of sources

class SourceHandler(http.server.BaseHTTPRequestHandler):
    """Answers for a server of sources; it logs nothing."""
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def body(self):
        """The request's body, as it was sent."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        return body


class GitHandler(SourceHandler):
    """Hands every request to git http-backend, as a web server's CGI would."""

    def serve(self, body):
        path, _, query = self.path.partition("?")
        env = dict(os.environ, GIT_PROJECT_ROOT=str(self.server.folder), GIT_HTTP_EXPORT_ALL="1",
                   PATH_INFO=path, QUERY_STRING=query, REQUEST_METHOD=self.command,
                   CONTENT_TYPE=self.headers.get("Content-Type", ""),
                   GIT_PROTOCOL=self.headers.get("Git-Protocol", ""), REMOTE_ADDR="127.0.0.1",
                   HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""))
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            env.pop("CONTENT_LENGTH", None)
        else:
            env["CONTENT_LENGTH"] = str(len(body))
        self.server.requests += 1
        reply = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
        head, _, content = reply.partition(b"\r\n\r\n")
        status = b"200 OK"
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"status:"):
                status = line.split(b":", 1)[1].strip()
        self.reply(b"HTTP/1.0 " + status + b"\r\n" + head + b"\r\n\r\n", content)

    def reply(self, head, content):
        self.wfile.write(head + content)

    def do_GET(self):
        self.serve(self.body())

    do_POST = do_GET


@contextlib.contextmanager
def serving(handler, **attributes):
    """A web server on a free loopback port; yields it, with its address in `.url`."""
    server = http.server.ThreadingHTTPServer((attributes.pop("host", "127.0.0.1"), 0), handler)
    server.daemon_threads = True
    server.requests = 0
    for key, value in attributes.items():
        setattr(server, key, value)
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def git_server(folder, handler=GitHandler, **kwargs):
    """Serves the bare repositories below `folder` over http."""
    return serving(handler, folder=pathlib.Path(folder), **kwargs)


class _IndexHandler(http.server.BaseHTTPRequestHandler):
    """A Python package index: /simple/NAME/ as JSON, /files/WHEEL. It gives hashes unless the server's `hashes` is False."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        wheels = {w.name: w for w in self.server.folder.glob("*.whl")}
        parts = [p for p in self.path.split("/") if p]
        if parts[:1] == ["files"] and parts[-1] in wheels:
            return self._reply("application/octet-stream", wheels[parts[-1]].read_bytes())
        if parts[:1] == ["simple"] and len(parts) == 2:
            files = [{"filename": n, "url": f"/files/{n}", "yanked": False,
                      "hashes": {"sha256": hashlib.sha256(w.read_bytes()).hexdigest()}
                                if getattr(self.server, "hashes", True) else {}}
                     for n, w in sorted(wheels.items()) if n.split("-")[0].replace("_", "-").lower() == parts[1]]
            if files:
                page = {"meta": {"api-version": "1.0"}, "name": parts[1], "files": files}
                return self._reply("application/vnd.pypi.simple.v1+json", json.dumps(page).encode())
        self.send_error(404)

    def _reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def package_index(folder, **kwargs):
    """Serves the wheels in `folder` as a Python package index at `.url`/simple."""
    return serving(_IndexHandler, folder=pathlib.Path(folder), **kwargs)


# ---------------------------------------------------------------- the cluster

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(condition, what, seconds=30, pause=0.02):
    """Polls until condition() is true; fails by name."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    raise AssertionError(f"waited {seconds} s for {what}")


def metric(text, name):
    """The sum of a metric over its labels, in Prometheus's text format."""
    rows = (line.rsplit(" ", 1) for line in text.splitlines() if line.startswith((name + " ", name + "{")))
    return sum(float(value) for _, value in rows)


class Process:
    """One kernelmill program; its log goes to a file."""

    def __init__(self, folder, role, *flags, port=None):
        self.role, self.port, self.metrics_port = role, port or free_port(), free_port()
        self.log = pathlib.Path(folder) / f"{role}-{self.port}.log"
        argv = self.command(*flags)
        with open(self.log, "wb") as log:
            self.popen = subprocess.Popen([str(a) for a in argv], stderr=log, stdout=log)
        try:
            wait_until(self.answers, f"{role} to listen; log: {self.log}")
        except AssertionError:
            self.popen.kill()
            self.popen.wait()
            raise

    def command(self, *flags):
        return [BIN / f"kernelmill-{self.role}", "--listen", f"127.0.0.1:{self.port}",
                "--metrics", f"127.0.0.1:{self.metrics_port}", *flags]

    def answers(self):
        if self.popen.poll() is not None:
            raise AssertionError(f"{self.role} exited {self.popen.returncode}: {self.log.read_text()[-2000:]}")
        try:
            self.metrics()
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=5) as reply:
            return reply.read().decode()

    def kill(self, how=signal.SIGKILL):
        self.popen.send_signal(how)

    def stop(self, seconds=30):
        """SIGTERM; returns the exit status."""
        if self.popen.poll() is None:
            self.popen.terminate()
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
            return "did not stop"


class BazelRemote(Process):
    """A content store that others wrote."""

    PROGRAM = ROOT / "build/peers/bazel-remote"  # by tests/peers/install_bazel_remote.sh

    def __init__(self, folder):
        self.data = pathlib.Path(folder) / "bazel-remote"
        super().__init__(folder, "bazel-remote")

    def command(self):
        return [self.PROGRAM, "--dir", self.data, "--max_size", "2", "--access_log_level", "none", "--enable_endpoint_metrics",
                "--grpc_address", f"127.0.0.1:{self.port}",
                "--http_address", f"127.0.0.1:{self.metrics_port}"]


class Cluster:
    """Store, coordinator and workers as processes on free loopback ports."""

    WORKERS = ("fetcher", "extractor", "validator", "deduplicator")

    def __init__(self, folder, index_url="", lease_ttl=2, store=None, store_flags=(), hold=False):
        """`store` makes another store than ours, in the folder that it is called with. `hold`: the
        coordinator has the store keep what jobs need."""
        self.folder, self.index_url = pathlib.Path(folder), index_url
        self.folder.mkdir(parents=True, exist_ok=True)
        self.processes = []
        if store:
            self.store = store(self.folder)
            self.processes.append(self.store)
        else:
            self.store = self.start("store", "--data", self.folder / "store", *store_flags)
        holding = ["--store", f"127.0.0.1:{self.store.port}"] if hold else []
        self.coordinator = self.start("coordinator", "--data", self.folder / "coordinator",
                                      "--lease-ttl-seconds", lease_ttl, *holding)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.popen.poll() is None:
                process.stop()

    def start(self, role, *flags):
        process = Process(self.folder, role, *flags)
        self.processes.append(process)
        return process

    def start_worker(self, role, *more, allow=("--allow-local", "/", "--allow-private")):
        flags = ["--coordinator", f"127.0.0.1:{self.coordinator.port}", "--store", f"127.0.0.1:{self.store.port}"]
        if role == "fetcher":
            flags += [*allow] + (["--package-index", self.index_url] if self.index_url else [])
        return self.start(role, *flags, *more)

    def start_workers(self, each=1, toolchains=None):
        """`toolchains`: a folder of them; each compiler needs them all."""
        for _ in range(each):
            for role in self.WORKERS:
                self.start_worker(role)
            if toolchains:
                self.start_worker("compiler", "--toolchains", toolchains)

    def addresses(self):
        return ["--coordinator", f"127.0.0.1:{self.coordinator.port}", "--store", f"127.0.0.1:{self.store.port}"]

    def client(self, *argv, check=True, timeout=300):
        return run(BIN / "kernelmill", *argv, *self.addresses(), check=check, timeout=timeout)

    def jobs(self):
        """The jobs' summaries, newest first."""
        return [json.loads(line) for line in self.client("jobs", "--json").stdout.splitlines()]


def installed_toolchains():
    """The folder of the toolchains, and None; or None, and in words why nothing can be compiled here."""
    state = json.loads(run(BIN / "kernelmill", "toolchains", "--json", check=False).stdout)
    missing = [toolchain["name"] for toolchain in state["toolchains"] if not toolchain["installed"]]
    if missing:
        return None, f"{', '.join(missing)} not installed in {state['folder']}: tests/run.sh --toolchains"
    if not state["sandbox"]["ok"]:
        return None, state["sandbox"]["error"]
    return state["folder"], None


def crawl(job, out, data, *flags, index_url="", check=True, timeout=300, cwd=None):
    """kernelmill crawl, embedded."""
    env = dict(os.environ, PIP_INDEX_URL=index_url) if index_url else None
    return run(BIN / "kernelmill", "crawl", job, "--out", out, "--data", data, *flags,
               check=check, timeout=timeout, env=env, cwd=cwd)


def last_status(text):
    """The last JSON line that is a job status."""
    found = None
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            status = value.get("status", value) if isinstance(value, dict) else {}
            if "stages" in status:
                found = status
    assert found, text[-2000:]
    return found


def dataset_digest(out):
    return json.loads((pathlib.Path(out) / "report.json").read_text())["dataset"]


def rows_of(out, config):
    """The rows of CONFIG.jsonl, which is written only if it has some; report.json says which have none."""
    out = pathlib.Path(out)
    path = out / f"{config}.jsonl"
    expected = json.loads((out / "report.json").read_text())["rows"][config]
    assert path.exists() == (expected > 0), f"{path}: report.json has {expected} rows"
    if not expected:
        return []
    with open(path, encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def ledger(out):
    return rows_of(out, "ledger")


def tree_hashes(out):
    """{file: SHA-256} of an export, with the folders that it is in."""
    out = pathlib.Path(out)
    return {p.relative_to(out).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(out.rglob("*")) if p.is_file()}
