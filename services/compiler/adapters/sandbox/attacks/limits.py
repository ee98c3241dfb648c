"""Exceeds bounds of its process."""
import os
import signal
import threading
import time


def ended_by_a_loop():
    while True:
        pass


def ended_by_a_loop_that_ignores_signals():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        pass


def ended_asleep():
    while True:
        time.sleep(1000)


def ended_asleep_in_a_thread():
    """The interpreter never reaches its end."""
    threading.Thread(target=lambda: time.sleep(1000)).start()
    while True:
        time.sleep(1000)


def ended_asleep_under_a_name_of_brackets():
    """The watcher finds the state of a process behind its name, which ends with a bracket."""
    import ctypes
    ctypes.CDLL(None).prctl(15, b") R 1 1 1 1 (")
    time.sleep(1000)


def ended_by_memory():
    kept = []
    while True:
        kept.append(bytearray(64 << 20))


def ended_by_one_large_block():
    bytearray(1 << 45)


def ended_by_output():
    """Writes 1 GB to each descriptor that takes it."""
    block = b"x" * (1 << 20)
    for _ in range(1024):
        for number in (2, 1, 0):
            os.write(number, block)
    while True:
        time.sleep(1000)


def ended_by_a_large_file():
    with open("large", "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))


def ended_by_threads():
    try:
        while True:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    except RuntimeError:
        time.sleep(1000)


def contained_odd_names():
    """Names that the removal of the folder must handle."""
    for name in (b"\xff\xfe", b"a\nb", b"-rf", b"*", b"x" * 255):
        open(name, "w").close()
    os.symlink("/", "root")
    os.symlink("link", "link")
    for _ in range(40):
        os.mkdir("deep")
        os.chdir("deep")


def contained_sparse_file():
    with open("sparse", "wb") as file:
        file.truncate(32 << 20)
