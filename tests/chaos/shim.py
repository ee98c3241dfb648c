"""The control file of fault_shim.c: which faults the processes that it is loaded into meet, and how often
they did."""

import mmap
import os
import pathlib
import struct

import harness

LIBRARY = pathlib.Path(os.environ.get("KERNELMILL_SHIM_LIBRARY", harness.BIN.parent / "lib/fault_shim.so"))
# struct control of fault_shim.c: 8 numbers of 64 bits, then the poison.
NUMBERS = ("clock_offset_ns", "sync_errno", "file_delay_us", "syncs_failed", "shifted_reads", "poisoned", "table_sync_us",
           "sync_us")
POISON_AT, POISON_SIZE = 64, 64


class Shim:
    """One control file. Setting an attribute named in NUMBERS, or `poison`, takes effect at once in every
    process that was started with env()."""

    def __init__(self, path):
        if not LIBRARY.exists():
            raise AssertionError(f"{LIBRARY} is not built: build the target fault_shim")
        path = pathlib.Path(path)
        path.write_bytes(bytes(POISON_AT + POISON_SIZE))
        object.__setattr__(self, "path", path)
        with open(path, "r+b") as file:
            object.__setattr__(self, "_map", mmap.mmap(file.fileno(), POISON_AT + POISON_SIZE))

    def env(self):
        return {"LD_PRELOAD": str(LIBRARY), "KERNELMILL_SHIM": str(self.path)}

    def __getattr__(self, name):
        if name not in NUMBERS:
            raise AttributeError(name)
        return struct.unpack_from("<q", self._map, 8 * NUMBERS.index(name))[0]

    def __setattr__(self, name, value):
        if name == "poison":
            text = value.encode()
            assert len(text) < POISON_SIZE
            self._map[POISON_AT:POISON_AT + POISON_SIZE] = text.ljust(POISON_SIZE, b"\0")
        else:
            struct.pack_into("<q", self._map, 8 * NUMBERS.index(name), value)
