"""Leaves something behind that the next kernel would find."""
import builtins
import gc
import os
import sys
import tempfile


def contained_in_memory():
    """Its memory is a copy, which ends with the kernel."""
    builtins.open = None
    for name, module in list(sys.modules.items()):
        if name.startswith(("triton", "json", "kernelmill_harness")):
            module.__dict__["poisoned"] = True
    sys.meta_path.insert(0, None)
    gc.disable()


def contained_environment():
    for name in ("PYTHONPATH", "LD_PRELOAD", "PATH", "HOME", "TMPDIR", "TRITON_CACHE_DIR", "TRITON_PTXAS_PATH"):
        os.environ[name] = "/poisoned"


def contained_cache():
    for folder in (os.environ.get("TRITON_CACHE_DIR"), os.path.join(os.environ["HOME"], ".triton", "cache"), tempfile.gettempdir()):
        if folder:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "add.ptx"), "w") as file:
                file.write("poisoned")


def contained_programs_to_be_found():
    os.makedirs("bin", exist_ok=True)
    for name in ("bin/ptxas", "ptxas", "kernel.mlir", "triton.py", "json.py"):
        with open(name, "w") as file:
            file.write("poisoned")


def refused_removing_files():
    with open("mine", "w") as file:
        file.write("x")
    all_refused(lambda: os.remove("mine"), lambda: os.rmdir(os.getcwd()), lambda: os.chmod("mine", 0o777))


def contained_work_folder():
    os.chdir("/")


def contained_masks_and_signals():
    import signal
    os.umask(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    signal.alarm(1)


def contained_names_for_what_is_cleared():
    """Folders in the way, whose content the removal must move."""
    for number in range(64):
        os.makedirs(f"{number}/below/deep")
        open(f".km-0-{number}", "w").close()
