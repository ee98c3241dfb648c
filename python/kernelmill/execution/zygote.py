"""The process that runs modules: imports Triton once, then forks a confined child for each job.

Reads jobs and writes answers, as lines of JSON: {"modules", "kernel", "launches": [{"module": place in modules, "case", "places"}],
"seconds", "memory", "host", "reference", "timed", "stop"}, then a list with a row for each launch: {"ttir", "times"} or {"error", "stage"}. The
modules of a job are one module and its mutants, in one process: a GPU's context takes longer than a launch. `host` calls a function or a
model of the module instead; its rows have {"results", "launched", "inverted"}. `reference` calls a function of torch, compiled or not. `timed` is ""
(no), "too" (after a launch that is judged), or "alone": then the child asks before it is timed, and this process holds the lock of all
timers meanwhile. With "stop", the launches after one that ended the process have no rows.

With "decorated", a case names its kernel: "launched" has the rules of its decorators hold, "listed" makes no launch and tells their
configurations. `timed` may be "brief" there. One child serves all such jobs in a row that have the same modules, and lives on after an
answer: such modules are compared with each other, and nothing scores them.

This process never runs a module, and all children of a job are dead before its answer. A child's answer is untrusted: it can only end
in `error`, `ttir`, `times`, and of a host function `results` and `launched`. The judge reads results from the arena alone."""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import io
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from kernelmill.execution import confinement, devices, elements, harness, interpreter, pretend, timing
from kernelmill.execution.arena import Arena, Place
from kernelmill.execution.own_launches import OwnLaunches

MESSAGE_BYTES = 500
FRAMES = 6  # places in the traceback of a reference: torch's compiler may be what fails
LOADED = b"{}"  # a child's first answer: the first module is loaded
SESSION_SECONDS = 1200
START_SECONDS = 60  # to load a module, and a GPU's context
LOAD_SECONDS = 10   # to load a module on a processor, if a launch has less
READY = b"ready"    # an answer: the child waits to be timed
# Errors after which no launch of the process can succeed.
BROKEN = re.compile("illegal memory access|misaligned address|unspecified launch failure|device-side assert|CUDA error")
WARM = """
import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]

@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
"""


class Zygote:
    """Runs jobs on a device."""

    def __init__(self, gpu: bool, torch: bool, arena: Arena, lock: int = -1) -> None:
        self._gpu, self._torch, self._arena, self._lock = gpu, torch, arena, lock
        # Torch's libraries map 4 GiB, and use little of it.
        self._mapped = mapped_bytes() if torch else arena.size
        self._session: Session | None = None
        self._warm = b""  # an archive of what Triton builds once for a machine

    def work(self, channel: Any, job: dict[str, Any], launches: list[dict[str, Any]]) -> None:
        """In the child: makes the launches until one fails on a GPU, whose context is then broken."""
        folder = self._settle(job["modules"][0])
        timer = None
        if job["timed"]:
            timer = timing.Timer() if self._gpu else timing.WallTimer()  # before any module can change torch
        host, reference, loaded = job["host"], job["reference"], {}
        called, requests = host or reference, channel.requests()
        own = OwnLaunches()
        if host:
            own.install()
        if reference:
            importlib.import_module("torch").set_grad_enabled(False)
        waits = True  # for the first module: its launch has a clock of its own
        for place, each in enumerate(launches):
            stage = "import"
            try:
                if each["module"] not in loaded:
                    names = devices.load(job["modules"][each["module"]], folder, each["module"])
                    loaded[each["module"]] = names.get(called["function"]) if called else devices.find_kernel(names, job["kernel"])
                    if host and "inputs" in host:
                        loaded[each["module"]] = devices.Device.make_model(loaded[each["module"]])
                    own.names = names
                stage = "launch"
                function, places = loaded[each["module"]], [Place(*place) for place in each["places"]]
                if waits:
                    waits = False
                    channel.answer(LOADED)
                if job["timed"] == "alone" and timer:
                    def ask() -> None:
                        channel.answer(READY)
                        next(requests)

                    times = timer.measure(self._prepare_timed(function, each["case"], places, reference, ask))
                    channel.answer(json.dumps({"ttir": "", "times": times}).encode())
                    continue
                device = self._device(places)
                if reference:
                    device.refer(function, each["case"], reference)
                    channel.answer(json.dumps({"ttir": ""}).encode())
                elif host:
                    own.begin(host["inverts"][place])
                    results = device.call(function, each["case"], host)
                    channel.answer(json.dumps({"ttir": "", "results": results, "launched": own.count,
                                               "inverted": own.inverted}).encode())
                else:
                    ttir = device.launch(function, each["case"])
                    times = timer.measure(device.prepare(function, each["case"])) if timer else []
                    channel.answer(json.dumps({"ttir": ttir, "times": times}).encode())
            except BaseException as error:  # pylint: disable=broad-except
                if waits:
                    waits = False
                    channel.answer(LOADED)
                channel.answer(failure("match" if type(error) is devices.Unmatched else stage, error, FRAMES if reference else 0))
                if self._gpu and BROKEN.search(str(error)):
                    return

    def _settle(self, text: str) -> str:
        """In a child: prepares it for a module with such a text. Returns its folder."""
        folder = os.getcwd()
        os.environ.update(TRITON_HOME=folder, TRITON_CACHE_DIR=os.path.join(folder, "cache"))
        if self._warm:
            with tarfile.open(fileobj=io.BytesIO(self._warm)) as archive:
                archive.extractall(folder)  # ours
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with
        stand_in(text, self._gpu or self._torch)
        return folder

    def work_decorated(self, channel: Any, modules: list[str], file: str) -> None:
        """In the child of a session: works on the job in the file at each request, until a launch breaks a GPU's context."""
        folder = self._settle("\n".join(modules))
        timer = timing.Timer() if self._gpu else timing.WallTimer()  # before any module can change torch
        loaded: dict[int, dict[str, Any]] = {}
        functions: dict[tuple[int, str], devices.Version] = {}
        channel.answer(LOADED)
        requests = channel.requests()
        for _ in requests:
            with open(file, encoding="utf-8") as given:
                job = json.load(given)
            shared: tuple[list[Any], devices.Device] | None = None  # launches on the same inputs share it
            for each in job["launches"]:
                stage, place, case = "import", each["module"], each["case"]
                try:
                    if place not in loaded:
                        loaded[place] = devices.load(modules[place], folder, place)
                    key = (place, case["kernel"])
                    functions[key] = functions.get(key) or devices.Version(loaded[place], case["kernel"])
                    stage = "launch"
                    if job["decorated"] == "listed":
                        said: dict[str, Any] = {"configurations": functions[key].configurations}
                    elif job["timed"]:
                        if shared is None or shared[0] != each["places"]:
                            shared = each["places"], self._device([Place(*where) for where in each["places"]])
                        shared[1].compile(functions[key], case)
                        channel.answer(READY)
                        next(requests)
                        said = {"times": timer.measure(shared[1].prepare(functions[key], case), job["timed"] == "brief")}
                    else:
                        said = {"ttir": self._device([Place(*where) for where in each["places"]]).launch(functions[key], case)}
                    channel.answer(json.dumps(said).encode())
                except BaseException as error:  # pylint: disable=broad-except
                    channel.answer(failure(stage, error))
                    if self._gpu and BROKEN.search(str(error)):
                        return

    def _prepare_timed(self, function: Any, case: dict[str, Any], places: list[Place], reference: dict[str, Any] | None,
                       ask: Callable[[], None]) -> Callable[[], Any]:
        """Returns the launch of a kernel, or the call of a reference. All is compiled before it asks for the GPU, which it then has alone.
        Torch's compiler needs the GPU for moments."""
        if reference and reference["compiled"]:
            folder = os.path.join(os.getcwd(), "inductor")
            os.environ.update(TORCHINDUCTOR_CACHE_DIR=folder, TORCHINDUCTOR_COMPILE_THREADS="1")
            function = importlib.import_module("torch").compile(function, dynamic=False)
            call = self._device(places).prepare_reference(function, case, reference)
            call()
            ask()
            return call
        if not reference:
            self._device([]).compile(function, case)
        ask()
        device = self._device(places)
        return device.prepare_reference(function, case, reference) if reference else device.prepare(function, case)

    def _device(self, places: list[Place]) -> devices.Device:
        if self._gpu:
            return devices.Cuda(self._arena, places)

        torch = importlib.import_module("torch")
        if self._torch:
            return devices.Processor(self._arena, places, torch)
        # The stand-in.
        return devices.Cpu(self._arena, places, {name: getattr(torch, name) for name in elements.BITS})

    def run(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """Runs a job. Returns a row for each of its launches."""
        from kernelmill_harness import sandbox  # type: ignore[import-not-found, import-untyped, unused-ignore]

        rows: list[dict[str, Any]] = []
        if job["decorated"]:
            return self._run_decorated(job)
        self.end_session()
        while len(rows) < len(job["launches"]):
            left = job["launches"][len(rows):]
            with sandbox.Child(lambda channel: self.work(channel, job, left), self._layer(job, len(left))) as child:
                loaded = child.answer(self._load_seconds(job))
                if loaded.kind != "ok":
                    rows.append(answer(loaded, "while it was loaded: "))
                else:
                    rows += self._read(child, job, len(left))
            if job["stop"] and rows[-1].get("stage") == "death":
                break
        return rows

    def _run_decorated(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        while len(rows) < len(job["launches"]):
            left = job["launches"][len(rows):]
            if self._session is None or self._session.modules != job["modules"]:
                self.end_session()
                self._session = Session(self, job["modules"], self._layer({"seconds": SESSION_SECONDS, "memory": job["memory"]}, 1))
                loaded = self._session.child.answer(START_SECONDS)
                if loaded.kind != "ok":
                    rows.append(answer(loaded, "while it was started: "))
                    self.end_session()
                    if job["stop"]:
                        break
                    continue
            self._session.ask({**job, "launches": left})
            rows += self._read(self._session.child, job, len(left))
            if len(rows) < len(job["launches"]) or is_broken(rows[-1], self._gpu):
                self.end_session()
            if job["stop"] and rows[-1].get("stage") == "death":
                break
        return rows

    def end_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _read(self, child: Any, job: dict[str, Any], launches: int) -> list[dict[str, Any]]:
        """Returns the rows of launches, up to one after which the process cannot launch again."""
        rows: list[dict[str, Any]] = []
        for place in range(launches):
            # The first kernel on a GPU takes longer than the others, and so does the compilation of a reference.
            slow = not place and (self._gpu or job["reference"])
            outcome = child.answer(job["seconds"] + (START_SECONDS if slow else 0))
            window: list[float] = []
            if job["timed"] in timing.ALONE and outcome.kind == "ok" and outcome.data == READY:
                with self._alone():
                    window.append(time.monotonic())
                    child.ask(b"go")
                    outcome = child.answer(job["seconds"])
                    window.append(time.monotonic())
            rows.append({**answer(outcome), "window": window})
            if is_broken(rows[-1], self._gpu):
                break
        return rows

    def _load_seconds(self, job: dict[str, Any]) -> int:
        return START_SECONDS if self._gpu else min(START_SECONDS, max(LOAD_SECONDS, int(job["seconds"])))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Holds the lock of all timers of a GPU."""
        if self._lock >= 0:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            if self._lock >= 0:
                fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _layer(self, job: dict[str, Any], launches: int) -> Any:
        import resource

        from kernelmill_harness import sandbox  # type: ignore[import-not-found, import-untyped, unused-ignore]

        seconds = START_SECONDS + job["seconds"] * launches
        if self._gpu:  # its driver reserves more addresses than there is memory, and Triton runs ptxas and a C compiler
            return sandbox.Layer(execute=True, seconds=seconds, cpu_seconds=seconds, memory_bytes=resource.RLIM_INFINITY,
                                 file_bytes=1 << 30, open_files=4096, answer_bytes=1 << 20, devices=("/dev", "/proc"))
        return sandbox.Layer(seconds=seconds, cpu_seconds=seconds, memory_bytes=job["memory"] + self._mapped, answer_bytes=1 << 20)

    def warm_up(self, device: str) -> None:
        """Builds what Triton's launches need on this machine, so that no child has to. Ends this process if the machine has no such
        device, or no kernel runs on it."""
        from kernelmill_harness import sandbox  # type: ignore[import-not-found, import-untyped, unused-ignore]

        def build(channel: Any) -> None:
            import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

            folder = os.getcwd()
            os.environ.update(TRITON_HOME=folder, TRITON_CACHE_DIR=os.path.join(folder, "cache"))
            x = torch.zeros(16, device="cuda")
            major, minor = torch.cuda.get_device_capability()
            if device != f"cuda:{major}{minor}":
                raise RuntimeError(f"this GPU is cuda:{major}{minor}")
            devices.load(WARM, folder, 0)["kernel"][(1,)](x, x.clone(), 13, BLOCK=16)
            torch.cuda.synchronize()
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w") as archive:
                archive.add("cache", filter=lambda each: each if each.isdir() or each.name.endswith(".so") else None)
            channel.answer(out.getvalue())

        with sandbox.Child(build, self._layer({"seconds": 120}, 1)) as child:
            outcome = child.answer()
            if outcome.kind != "ok":
                words = " ".join((outcome.data.decode("utf-8", "replace") or outcome.words[-MESSAGE_BYTES:]).split())
                sys.exit(f"{outcome.kind}: {words}")
            self._warm = outcome.data


class Session:
    """A child that works on jobs of decorated kernels, one after the other. A pipe is too small for a job, which is in a file."""

    def __init__(self, zygote: Zygote, modules: list[str], layer: Any) -> None:
        from kernelmill_harness import sandbox  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self.modules = modules
        self._folder = tempfile.mkdtemp(prefix="session-", dir=os.environ["KERNELMILL_SCRATCH"])
        file = os.path.join(self._folder, "job.json")
        self._file = file
        self.child = sandbox.Child(lambda channel: zygote.work_decorated(channel, modules, file), layer, self._folder)

    def ask(self, job: dict[str, Any]) -> None:
        with open(self._file, "w", encoding="utf-8") as out:
            json.dump({**job, "modules": []}, out)
        self.child.ask(b"job")

    def close(self) -> None:
        self.child.__exit__()
        shutil.rmtree(self._folder, ignore_errors=True)


def is_broken(row: dict[str, Any], gpu: bool) -> bool:
    """Returns True for a launch after which its process cannot launch again."""
    return row.get("stage") == "death" or (gpu and BROKEN.search(row.get("error", "")) is not None)


def mapped_bytes() -> int:
    """Returns the addresses that this process has mapped, the arena among them."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def stand_in(text: str, torch: bool) -> None:
    """Has packages that are not installed be stand-ins for the module, and torch too unless it is wanted."""
    from kernelmill_harness import absent, device, torch_names  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if torch:  # its compiler imports many packages to see whether they are installed
        absent.install(text, {}, only_named=True)
        return
    absent.install(text, torch_names.names("cuda:90"))
    device.pretend("cuda:90")
    finder = sys.meta_path.pop()

    class TorchFirst:
        """Finds the stand-in before a torch that is installed."""

        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
            return finder.find_spec(name, path, target) if name.partition(".")[0] == "torch" else None

    sys.meta_path.insert(0, TorchFirst)
    sys.meta_path.append(finder)


def failure(stage: str, error: BaseException, frames: int = 0) -> bytes:
    """`frames`: so many of the innermost places of the traceback are told, too."""
    try:
        links, text = error, f"{type(error).__name__}: {error}"
        while links.__cause__ is not None:  # the compiler's innermost message tells most
            links = links.__cause__
            text = f"{type(links).__name__}: {links}"
        if frames:
            told = traceback.extract_tb(links.__traceback__)[:-frames - 1:-1]
            places = " < ".join(f"{os.path.basename(each.filename)}:{each.lineno} {each.name}" for each in told)
            text = f"{text[:MESSAGE_BYTES // 2]} at {places}"
    except BaseException:  # pylint: disable=broad-except
        text = "an exception that cannot be printed"
    return json.dumps({"stage": stage, "error": text[:MESSAGE_BYTES]}).encode()


def clean(text: object) -> str:
    """Bounds a text of a child, and takes out what differs from run to run: paths and addresses."""
    text = "".join(c if c.isprintable() else " " for c in str(text)[:4 * MESSAGE_BYTES].encode("utf-8", "replace").decode())
    text = re.sub(r"(/[\w.+-]+){2,}", lambda path: path[0].rpartition("/")[2], text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x...", text)[:MESSAGE_BYTES]


def answer(outcome: Any, when: str = "") -> dict[str, Any]:
    """Returns the row of a child's answer or end. `when`: words before the reason of an end."""
    if outcome.kind != "ok":
        words = outcome.data.decode("utf-8", "replace") or outcome.words[-MESSAGE_BYTES:]
        number = f" {outcome.number}" if outcome.number else ""
        return {"stage": "death", "error": clean(f"{when}{outcome.kind}{number}: {words}")}
    try:
        said = json.loads(outcome.data)
    except (ValueError, RecursionError, MemoryError):
        said = None
    if not isinstance(said, dict):
        return {"stage": "death", "error": "garbled"}
    if "error" in said:
        stage = said.get("stage")
        return {"stage": stage if stage in ("import", "launch", "match") else "launch", "error": clean(said["error"])}
    ttir = said.get("ttir", "")
    counts = {key: said.get(key) if type(said.get(key)) is int else 0 for key in ("launched", "inverted")}
    return {"ttir": ttir if isinstance(ttir, str) and re.fullmatch("[0-9a-f]{64}", ttir) else "", "times": timing.clean(said.get("times")),
            **counts, "shapes": clean_shapes(said.get("results")), "configurations": clean_configurations(said.get("configurations"))}


def clean_configurations(said: object) -> list[dict[str, Any]]:
    """Returns what a child says of configurations, if they can be some: {"constexprs": {name: text}, "options": {name: number}}."""
    if not isinstance(said, list) or len(said) > 4 * devices.CONFIGURATIONS or not all(_is_configuration(each) for each in said):
        return []
    return [{"constexprs": {clean(name): clean(value) for name, value in each["constexprs"].items()},
             "options": {clean(name): value for name, value in each["options"].items()}} if each else {} for each in said]


def _is_configuration(said: object) -> bool:
    if not isinstance(said, dict) or set(said) not in (set(), {"constexprs", "options"}):
        return False
    return all(isinstance(part, dict) and len(part) <= 64 for part in said.values()) and \
        all(type(value) is int for value in said.get("options", {}).values())


def clean_shapes(results: object) -> dict[str, list[int]]:
    """Returns the shapes of results by the names of outputs."""
    if not isinstance(results, list):
        return {}
    return {clean(each["name"]): [int(size) for size in each["shape"][:16]] for each in results[:64]
            if isinstance(each, dict) and "name" in each and isinstance(each.get("shape"), list) and
            all(type(size) is int for size in each["shape"])}


def main() -> None:
    options = json.loads(sys.argv[1])
    harness.install()
    gpu = bool(options["gpu"])
    import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import triton.language  # type: ignore[import-not-found, import-untyped, unused-ignore]

    versions = {"triton": triton.__version__}
    if gpu or options["torch"]:
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        versions["torch"] = str(torch.__version__)
        torch.ones(1).half()  # it reads files of the system before the first number of 16 bits
    if not gpu:
        import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

        interpreter.correct()
        versions["numpy"] = numpy.__version__
    if options["torch"]:
        pretend.install()
    from kernelmill_harness import sandbox  # type: ignore[import-not-found, import-untyped, unused-ignore]

    arena = Arena(options["size"], options["descriptor"])
    zygote = Zygote(gpu, bool(options["torch"]), arena, options["lock"])
    if options["confined"]:
        confinement.confine(os.environ["KERNELMILL_SCRATCH"], gpu)
        sandbox.protect_zygote()
    sandbox.stand_in_for(options["parent"])
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    if gpu:
        zygote.warm_up(options["device"])
    answers.write(json.dumps({"toolchain": versions}).encode() + b"\n")
    answers.flush()
    for line in jobs:
        answers.write(json.dumps(zygote.run(json.loads(line))).encode() + b"\n")
        answers.flush()
    zygote.end_session()


if __name__ == "__main__":
    main()
