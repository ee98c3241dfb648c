"""Reads and changes files of others. The victim's folder and files are open to all users."""
import os


def refused_reading():
    open(VICTIM["file"]).read()


def refused_listing():
    os.listdir(VICTIM["folder"])


def refused_writing():
    open(VICTIM["file"], "a").write("poisoned")


def refused_truncating():
    all_refused(lambda: os.truncate(VICTIM["file"], 0), lambda: os.open(VICTIM["file"], os.O_RDONLY | os.O_TRUNC),
                lambda: os.open(VICTIM["file"], os.O_ACCMODE | os.O_TRUNC), lambda: open(VICTIM["file"], "w"))


def refused_making():
    all_refused(lambda: open(VICTIM["folder"] + "/new", "w"), lambda: os.mkdir(VICTIM["folder"] + "/new"),
                lambda: os.symlink("/", VICTIM["folder"] + "/new"), lambda: os.mkfifo(VICTIM["folder"] + "/new"))


def refused_removing():
    all_refused(lambda: os.remove(VICTIM["file"]), lambda: os.rename(VICTIM["file"], VICTIM["file"] + ".gone"))


def refused_linking_in():
    """A hard link in its own folder to a file outside."""
    os.symlink(VICTIM["file"], "link")
    all_refused(lambda: open("link").read(), lambda: open("link", "a"))


def refused_hard_link():
    try:
        os.link(VICTIM["file"], "hard")
    except OSError as error:  # another file system, as Landlock sees it
        raise PermissionError(*error.args) from None
