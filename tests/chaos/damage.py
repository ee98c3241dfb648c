"""Damage to the files of a database whose process is not running, and how to undo it."""

import pathlib
import struct


def files(folder, *suffixes):
    """The database's files of these kinds, biggest first."""
    found = [p for p in pathlib.Path(folder).rglob("*") if p.suffix in suffixes and p.is_file()]
    return sorted(found, key=lambda p: (-p.stat().st_size, p.name))


def newest_log(folder):
    """The write-ahead log that was written last."""
    return max(files(folder, ".log"), key=lambda p: int(p.stem))


# The log is cut in blocks. A record lies in one block: checksum:4 length:2 type:1, then its bytes; types
# from 5 on have 4 more in their head. The rest of a block is zeros if it is too short for a head.
BLOCK, HEAD, LONG_HEAD, FIRST_LONG = 32 << 10, 7, 11, 5


def content_end(path):
    """Returns the offset where the last record of a log ends. Zeros that were set aside may follow it."""
    data = path.read_bytes()
    at = end = 0
    while at + HEAD <= len(data):
        left = BLOCK - at % BLOCK
        if left < HEAD:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        if kind == 0:
            break
        at += length + (LONG_HEAD if kind >= FIRST_LONG else HEAD)
        end = at
    return end


def flip(path, at, bit=0):
    """Flips one bit; flipping it again mends it."""
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ (1 << bit)]))


def shorten(path, count):
    """Takes the last bytes of a file away."""
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - count)


def tear(path):
    """Ends the log as a crash in the middle of a write does: with the head of a record, and fewer bytes than the
    head says. No process has acknowledged that record."""
    end = content_end(path)
    left = BLOCK - end % BLOCK
    if left < 2 * HEAD:
        end, left = end + left, BLOCK
    length = min(20_000, left - HEAD)
    with open(path, "r+b") as file:
        file.truncate(end)
        file.seek(end)
        file.write(struct.pack("<IHB", 0x12345678, length, 1) + bytes([7]) * (length // 2))


def cut(path, count):
    """Takes the last bytes away: the last record is gone, although it was acknowledged."""
    with open(path, "r+b") as file:
        file.truncate(content_end(path) - count)
