"""Child N of Warp's toolchains: turns C++ that Warp's frontend made into PTX, by the NVRTC of Warp's library. It runs nothing of the
module, and may run no programs.
"""
import json
import os

import warp as wp
from warp._src import context

from kernelmill_harness import loading, nvrtc


OPTIMIZATION = 3  # Warp's default


def compile_text(text, architecture, flags):
    """Returns {"ptx"}, or what was refused."""
    folder = os.getcwd()
    # A header's path is part of what assert() says, and must be the same on every machine.
    os.chdir(os.path.dirname(os.path.dirname(wp.__file__)))
    path = os.path.join(folder, "kernel.ptx")
    failed = context.runtime.core.wp_cuda_compile_program(
        text.encode("utf-8", "replace"), b"kernel.cu", architecture, b"", b"warp/native", 0, None, False, OPTIMIZATION, False,
        "verify_fp" in flags, "fast_math" in flags, "fuse_fp" in flags, False, False, False, path.encode(), None, 0, None, None, None)
    if failed:
        with open(2, "rb", closefd=False) as words:  # NVRTC's log goes to descriptor 2, which is a file of each child
            return nvrtc.refusal(os.pread(words.fileno(), 1 << 16, 0).decode("utf-8", "replace"), loading.FILE)
    with open(path, encoding="utf-8") as file:
        return {"ptx": file.read().rstrip("\0")}


def main(channel, text, architecture, flags):
    channel.answer(json.dumps(nvrtc.outside(text) or compile_text(text, architecture, flags)).encode())
