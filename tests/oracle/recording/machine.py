"""Prepares the machine for tests and kernels: packages that it lacks, and processes with bounds, which end with all that they started."""

import importlib.metadata
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import time
import zipfile

from kernelmill.execution.runner import visible_gpus

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parents[2] / "python"
START = time.monotonic()
MARK = "RECORDING_PROCESS"
# Many processes share the processors, and none may load from a network.
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "TORCHINDUCTOR_COMPILE_THREADS": "1",
               "MAX_JOBS": "2", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1",
               "HF_DATASETS_OFFLINE": "1", "WANDB_MODE": "disabled", "DO_NOT_TRACK": "1",
               "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}


def seconds():
    return time.monotonic() - START


def say(text):
    print(f"[{seconds():4.0f} s] {text}", flush=True)


def make_folder(path):
    if path.exists():
        sys.exit(f"{path} exists: remove it, or name another folder by --work")
    path.mkdir(parents=True)
    return path


def unpack(archive, folder):
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")


def is_missing(package):
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return True
    return False


def install_wheels(wheels, site):
    """Unpacks the wheels of missing packages. Others would hide the machine's own."""
    for wheel in sorted(wheels.glob("*.whl")):
        if is_missing(wheel.name.split("-")[0]):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(site)


def environment(site, paths=(), **own):
    """Returns the environment of a process. `own` names of it what else it needs."""
    path = [PYTHON, HERE / "site", site, *paths, *filter(None, [os.environ.get("PYTHONPATH")])]
    given = {**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(map(str, path)), **own}
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    return given


def find_gpus(device):
    """Returns the GPUs, as CUDA_VISIBLE_DEVICES names them; [None] for the processor."""
    if device == "cpu":
        return [None]
    return visible_gpus() or sys.exit("no GPU is visible; --device cpu uses the interpreter")


def start(command, printed, env):
    """Starts a command of kernelmill.execution, whose output goes to a file."""
    mark = f"{os.getpid()}-{printed}"
    with printed.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "kernelmill.execution.command", *map(str, command)], env={**env, MARK: mark},
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    process.mark = f"{MARK}={mark}".encode()
    return process


def kill(processes):
    """Ends processes and what they started: tests have sessions of their own, so they are found by their environment."""
    marks = {process.mark for process in processes}
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if marks & set((entry / "environ").read_bytes().split(b"\0")):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:  # it has ended, or belongs to somebody else
            pass
