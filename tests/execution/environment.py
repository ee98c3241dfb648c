"""Finds what the tests of python/kernelmill/execution need: numpy and Triton, and torch to record.

A script calls need() first: it starts itself again with the packages of tests/peers/install_execution.sh on its path, or exits with 77
where they are not installed."""

import importlib.util
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = {"execution": ROOT / "build/peers/execution", "recording": ROOT / "build/peers/recording"}


def need(name):
    """Has this process find the packages of a folder, or those of KERNELMILL_EXECUTION_PYTHON."""
    module = {"execution": "triton", "recording": "torch"}[name]
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/integration")]
    if importlib.util.find_spec("numpy") and importlib.util.find_spec(module):
        return
    folder, python = FOLDERS[name], os.environ.get("KERNELMILL_EXECUTION_PYTHON")
    if os.environ.get("KERNELMILL_STARTED_AGAIN") or not (python or (folder / ".requirements").is_file()):
        print(f"no {module}: tests/peers/install_execution.sh{' --torch' if name == 'recording' else ''}")
        sys.exit(77)
    env = {**os.environ, "KERNELMILL_STARTED_AGAIN": "1"}
    if not python:
        env["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.execve(python or sys.executable, [python or sys.executable, *sys.argv], env)
