"""Looks for a way out of the process: the machine's files, other processes, more rights. Never run without a sandbox."""
import ctypes
import os
import signal
import subprocess
import sys


def refused_machine_files():
    all_refused(*[lambda path=path: open(path).read() for path in (
        "/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/var/log/dpkg.log", "/sys/kernel/profiling", "/dev/mem")
        if os.path.exists(path)])


def refused_proc():
    parent = os.getppid()
    all_refused(*[lambda path=path: open(path, "rb").read(1) for path in (
        "/proc/self/mem", "/proc/self/maps", "/proc/self/environ", f"/proc/{parent}/mem", f"/proc/{parent}/environ",
        f"/proc/{parent}/fd/3", f"/proc/{parent}/fd/4", f"/proc/{parent}/root/etc/passwd", f"/proc/{parent}/cwd/x", "/proc/1/environ", f"/proc/{VICTIM['process']}/environ", "/proc/cpuinfo", "/proc/net/tcp")],
                lambda: os.listdir("/proc"), lambda: os.listdir(f"/proc/{parent}/fd"))


def contained_asking_for_files_by_name():
    """Landlock does not cover it: docs/trust.md says what is seen."""
    os.stat("/proc/1")
    if os.stat(VICTIM["file"]).st_size == 0 or not os.access(VICTIM["folder"], os.F_OK):
        raise AssertionError("the page is wrong")
    for link in (f"/proc/{VICTIM['process']}/exe", f"/proc/{os.getppid()}/cwd", "/proc/1/root"):
        try:
            raise AssertionError(f"escaped: {os.readlink(link)}")
        except PermissionError:
            pass


def refused_other_scratch_folders():
    """Folders of other compilers and other kernels."""
    above = os.path.dirname(os.getcwd())
    all_refused(lambda: os.listdir(os.path.dirname(above)), lambda: open(above + "/left-behind", "w"),
                lambda: os.mkdir(above + "/kernel-"), lambda: os.rename(os.getcwd(), above + "/moved"))


def refused_toolchain():
    """The next kernel loads it."""
    folder = os.path.dirname(os.__file__)
    here = os.path.dirname(os.path.dirname(sys.executable))
    all_refused(*[lambda path=path: open(path, "a") for path in (
        folder + "/json/__init__.py", folder + "/sitecustomize.py", here + "/sitecustomize.py", sys.executable)],
                *[lambda module=module: open(module.__file__, "ab") for name, module in list(sys.modules.items())
                  if name in ("triton", "numpy", "json.decoder")])


def refused_shared_memory():
    all_refused(lambda: open("/dev/shm/left-behind", "w"), lambda: open("/tmp/left-behind", "w"),
                lambda: os.memfd_create("left"), lambda: call(29, 4242, 4096, 0o1666), lambda: call(68, 4242, 0o1666))


def refused_fork():
    all_refused(os.fork, lambda: os.posix_spawn("/bin/true", ["true"], {}), lambda: call(57), lambda: call(58),
                lambda: call(56, 0x11, 0, 0, 0, 0))


def refused_a_thread_that_is_waited_for():
    """A process that waits for a vfork looks as if it waits for the disk, and not asleep."""
    call(56, 0x100 | 0x200 | 0x400 | 0x800 | 0x4000 | 0x10000, 0, 0, 0, 0)


def refused_fork_bomb():
    while True:
        os.fork()


def refused_programs():
    all_refused(lambda: os.execv("/bin/sh", ["sh", "-c", "id"]), lambda: subprocess.run(["/bin/sh", "-c", "id"]),
                lambda: subprocess.run([sys.executable, "-c", ""]),
                lambda: os.execv("/lib64/ld-linux-x86-64.so.2", ["ld", "/bin/true"]))


def refused_signals():
    all_refused(*[lambda pid=pid: os.kill(pid, signal.SIGKILL) for pid in (os.getppid(), VICTIM["process"], -os.getppid(), 0, -1, 1)],
                lambda: os.killpg(os.getpgid(os.getppid()), signal.SIGKILL), lambda: call(200, os.getppid(), 9),
                lambda: call(234, os.getppid(), os.getppid(), 9), lambda: call(129, os.getppid(), 9, ctypes.create_string_buffer(128)))


def refused_signal_of_a_descriptor():
    """Linux would send the signal for it."""
    import fcntl
    read, _ = os.pipe()
    all_refused(lambda: fcntl.fcntl(read, fcntl.F_SETOWN, os.getppid()), lambda: fcntl.fcntl(read, 10, signal.SIGKILL))


def refused_leaving_its_group():
    all_refused(os.setsid, lambda: os.setpgid(0, 0), os.setpgrp)


def refused_outliving_its_parent():
    libc = ctypes.CDLL(None, use_errno=True)

    def prctl(*arguments):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    all_refused(lambda: prctl(1, 0, 0, 0, 0), lambda: prctl(4, 1, 0, 0, 0), lambda: prctl(36, 1, 0, 0, 0))


def refused_users():
    all_refused(lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.setresuid(0, 0, 0),
                lambda: os.setreuid(-1, 0), lambda: os.chown(".", 0, 0), lambda: call(126, ctypes.create_string_buffer(8), None))


def refused_set_user_programs():
    all_refused(lambda: os.execv("/usr/bin/passwd", ["passwd"]), lambda: os.execv("/bin/su", ["su"]))


def refused_more_memory():
    """Limits of itself, and of the process that forks it."""
    import resource
    for limit in ("prlimit", "setrlimit"):
        try:
            if limit == "prlimit":
                resource.prlimit(os.getppid(), resource.RLIMIT_AS, (1, 1))
            else:
                resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (PermissionError, ValueError):  # as Python has EPERM of setrlimit
            continue
        raise AssertionError("escaped by " + limit)
    raise PermissionError("both were refused")


def refused_ends_that_look_like_the_machines():
    """The harness blames the machine for a killed compiler, and would try its task again."""
    import resource

    def lower():
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        except ValueError:  # as Python has EPERM
            raise PermissionError("setrlimit") from None
    all_refused(lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: call(234, os.getpid(), os.getpid(), 9), lower,
                lambda: call(160, 0, ctypes.create_string_buffer(16)))


def refused_priorities():
    all_refused(lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19), lambda: os.nice(5),
                lambda: os.sched_setaffinity(os.getppid(), {0}))


def refused_filters():
    """Its own filter could answer in Linux's place, or trap calls of the harness."""
    all_refused(lambda: call(317, 1, 0, ctypes.create_string_buffer(16)), lambda: call(157, 22, 2, ctypes.create_string_buffer(16)),
                lambda: call(444, None, 0, 1), lambda: call(446, 0, 0))


def refused_watching():
    all_refused(lambda: call(253), lambda: call(294, 0), lambda: call(300, 0, 0))


def refused_ptrace():
    call(101, 16, os.getppid(), 0, 0)


def refused_reading_the_parents_memory():
    call(310, os.getppid(), None, 0, None, 0, 0)


def refused_the_parents_descriptors():
    call(438, 0, 4, 0)


def refused_unshare():
    call(272, 0x10000000)


def refused_mount():
    call(165, b"none", b"/tmp", b"tmpfs", 0, None)


def refused_bpf():
    call(321, 0, None, 0)


def refused_io_uring():
    call(425, 1, ctypes.create_string_buffer(256))


def refused_keys():
    call(250, 0, -3, 0)


def refused_chroot():
    call(161, b".")


def refused_calls_that_no_compiler_makes():
    """Timers, message queues, memory that no bound sees, handles of files, times and attributes of files, other processes."""
    buffer = ctypes.create_string_buffer(256)
    all_refused(*[lambda number=number, arguments=arguments: call(number, *arguments) for number, arguments in (
        (135, (0x0040000,)), (149, (buffer, 256)), (162, ()), (188, (b".", b"user.x", b"x", 1, 0)), (206, (1, buffer)), (222, (0, None, buffer)),
        (240, (b"left-behind", 0o102, 0o600, None)), (251, (1, 0, 0)), (278, (4, buffer, 1, 0)), (280, (-100, b".", None, 0)), (283, (0, 0)),
        (289, (-1, buffer, 8, 0)), (303, (-100, b".", buffer, buffer, 0)), (322, (-100, b"/bin/sh", None, None, 0)), (434, (os.getppid(), 0)), (440, (4, buffer, 1, 4, 0)), (447, (0,)))])


def refused_calls_of_32_bits():
    """The numbers of i386 mean other calls: 20 is getpid there and writev here."""
    code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    page = libc.mmap(None, 4096, 7, 0x22, -1, 0)
    ctypes.memmove(page, code, len(code))
    ctypes.CFUNCTYPE(ctypes.c_int)(page)()
    raise AssertionError("escaped")
