"""Folders and files that untrusted code writes to. See scratch.h."""

import os
import shutil
import stat


def nameless_file(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(path)
    return fd


def is_full(folder):
    """Returns True if `folder`, on a file system that the sandbox has for itself, has no room left. Untrusted code cannot remove
    files, so that it is full still after a write that failed."""
    if os.stat(folder).st_dev == os.stat(os.path.dirname(os.environ["KERNELMILL_SCRATCH"])).st_dev:
        return False
    state = os.statvfs(folder)
    return state.f_bavail == 0 or state.f_favail == 0


def clear_folder(path):
    """Removes a folder that untrusted code wrote to, after the last writer ended. Never follows links, restores the
    permissions of folders, and needs only a few descriptors for any depth."""
    # Each round moves deeper folders up by one level, for the next round.
    while _clear_once(path):
        pass
    shutil.rmtree(path, ignore_errors=True)


def _clear_once(path):
    moved = False
    for entry in list(os.scandir(path)):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
            continue
        os.chmod(entry.path, stat.S_IRWXU)
        for below in list(os.scandir(entry.path)):
            if below.is_dir(follow_symlinks=False):
                os.chmod(below.path, stat.S_IRWXU)
                # A random name, which untrusted code cannot have taken before.
                os.rename(below.path, os.path.join(path, os.urandom(16).hex()))
                moved = True
            else:
                os.unlink(below.path)
        os.rmdir(entry.path)
    return moved
