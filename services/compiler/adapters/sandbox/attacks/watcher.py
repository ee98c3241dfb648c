"""Exceeds bounds that only the watcher checks: it ends the whole confined process."""
import os
import threading
import time


def overrun_disk():
    def fill(thread):
        for number in range(40):
            file = os.open(f"large-{thread}-{number}", os.O_RDWR | os.O_CREAT)
            os.posix_fallocate(file, 0, 60 << 20)
            os.close(file)
    for thread in range(15):
        threading.Thread(target=fill, args=(thread,)).start()
    fill(15)
    time.sleep(1000)


def overrun_many_files():
    for number in range(5000):
        open(str(number), "w").close()
    time.sleep(1000)


def overrun_deep_folders():
    for _ in range(100):
        os.mkdir("deep")
        os.chdir("deep")
    time.sleep(1000)


def overrun_threads_after_the_first_has_ended():
    """/proc shows such a process as a zombie."""
    threading.stack_size(1 << 16)

    def start():
        for _ in range(1000):
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    threading.Timer(0.1, start).start()
    call(60, 0)
