"""Messages that are the same on every machine, whatever its folders are called."""
import re

MESSAGE_BYTES = 1000
IMPORT_BYTES = 400

_PATH = re.compile(r"(?:/[\w.+@~-]+)+/([\w.+@~-]+)")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_TEMPORARY = re.compile(r"\btmp[a-z0-9_]{8}\b")


def clean(text, limit=MESSAGE_BYTES):
    """`text` without folders, addresses and names of temporary files, cut to `limit` bytes of UTF-8."""
    text = _PATH.sub(r"\1", text)
    text = _ADDRESS.sub("0x", text)
    text = _TEMPORARY.sub("kernel", text)
    text = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def of_exception(error):
    """ "Type: what it says", of an exception that a stranger's code may have made."""
    try:
        said = str(error)
    except BaseException:  # pylint: disable=broad-except
        said = ""
    name = type(error).__name__
    return f"{name}: {said}" if said else name
