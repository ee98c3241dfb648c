"""The harness: loads a compiler once, then forks for each kernel. See zygote.h.

Lines of JSON: a job, then its report. The zygote reads none of them: a child has a copy of all its parent's memory, including
freed memory, and would find earlier kernels there. So the zygote forks a server for each job, which runs only our code and
the compiler's. The server's driver (triton_driver.py, nvrtc_driver.py) forks confined children for what is untrusted. Only the server
writes reports.
"""
import json
import os
import select
import traceback

from kernelmill_harness import children, sandbox


def write_object(file, value):
    file.write(json.dumps(value).encode() + b"\n")
    file.flush()


def serve(jobs, reports, driver):
    """Reads a job and writes the driver's report. Returns False at the end of the jobs."""
    job = jobs.readline()
    if not job:
        return False
    try:
        report = driver.kernel_report(json.loads(job))
    except children.MachineFault as fault:
        report = children.fault_row(fault)
    write_object(reports, report)
    return True


def apart(work):
    """Calls work() in a fork of this process. Returns True if it did."""
    parent, done = os.getpid(), False
    pid = os.fork()
    if pid != 0:
        return os.waitpid(pid, 0)[1] == 0
    try:
        sandbox.stand_in_for(parent)
        done = work()
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
    finally:
        os._exit(0 if done else 1)


def main(jobs, reports, driver):
    """Serves the jobs of a file until its end by a driver, the module of a compiler. This process must not read any byte of a job; the worker sends the first job after
    {"ready"}, and each other one after the report before it."""
    sandbox.protect_zygote()
    write_object(reports, {"ready": True})
    more = True
    while more:
        select.select([jobs], [], [])
        try:
            more = apart(lambda: serve(jobs, reports, driver))
        except OSError as error:
            write_object(reports, children.fault_row(children.MachineFault(f"fork: {error}")))
            more = False
