"""Cleans messages, so that they are the same on every machine, whatever its folders are called."""
import os
import re

MESSAGE_BYTES = 1000
IMPORT_BYTES = 400
DIAGNOSTICS_BYTES = 64 << 10

_PATH = re.compile(r"(?:/[\w.+@~-]+)+/([\w.+@~-]+)")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_SILENT = ("PassManager::run failed", "error encountered during parsing")
_DIAGNOSTIC = re.compile(r"^(?:[^\n]*?: )?error: (.+)$", re.MULTILINE)
_TEMPORARY = re.compile(r"\btmp[a-z0-9_]{8}\b")


def clean(text, limit=MESSAGE_BYTES):
    """Returns `text` without folders, addresses and names of temporary files, cut to `limit` bytes of UTF-8."""
    text = _PATH.sub(r"\1", text)
    text = _ADDRESS.sub("0x", text)
    text = _TEMPORARY.sub("kernel", text)
    text = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def format_exception(error):
    """Returns "Type: message". Untrusted code may have made the exception, so that str() may raise."""
    try:
        said = str(error)
    except BaseException:  # pylint: disable=broad-except
        said = ""
    name = type(error).__name__
    return f"{name}: {said}" if said else name


def diagnostics_end():
    """Returns the end of the output on descriptor 2, which is a file of each child."""
    try:
        return os.fstat(2).st_size
    except OSError:
        return 0


def diagnostic(message, begin=0):
    """Returns MLIR's own error if an exception's `message` says only that something failed. MLIR writes it to descriptor 2,
    from `begin` on. It contains no lines, since the IR has none, so that it is the same everywhere."""
    if not message.endswith(_SILENT):
        return message
    try:
        written = os.pread(2, DIAGNOSTICS_BYTES, begin).decode("utf-8", "replace")
    except OSError:
        written = ""
    first = _DIAGNOSTIC.search(written)
    return first[1] if first else message
