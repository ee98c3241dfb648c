"""Folders and files that strangers write to, as their children end. See scratch.h."""

import os
import shutil
import stat


def nameless_file(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(path)
    return fd


def clear_folder(path):
    """Removes a folder that a stranger wrote to, when nobody writes to it any more. Never follows links; folders
    without rights get them back; no depth of folders needs more than a few descriptors."""
    # Folders that lie deeper are moved up, one level a round, and found by the next round.
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
                # Under a name that the stranger cannot have taken before.
                os.rename(below.path, os.path.join(path, os.urandom(16).hex()))
                moved = True
            else:
                os.unlink(below.path)
        os.rmdir(entry.path)
    return moved
