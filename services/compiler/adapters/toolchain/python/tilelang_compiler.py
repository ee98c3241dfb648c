"""Child N of TileLang's toolchains: turns CUDA that TileLang made into PTX by NVRTC, with TileLang's own headers. It runs nothing of the
module, and may run no programs.
"""
import json
import os
import re

from kernelmill_harness import nvrtc


# Below the toolchain's packages, as in nvrtc.py.
INCLUDED = ("tilelang/src", "tilelang/3rdparty/cutlass/include", *(f"nvidia/{name}/include" for name in ("cuda_runtime", "cuda_cccl", "cuda_nvcc")))
STANDARD = "#include <tl_templates/cuda/nvrtc_std.h>\n"  # TileLang puts it before a text for NVRTC
_MACRO = re.compile(r"-D\w+(=\w+)?")


def compile_text(library, text, target, macros):
    """Returns {"ptx"}, or what was refused."""
    options = [f"--gpu-architecture=compute_{nvrtc.ARCHITECTURES[target]}", "--std=c++17", "--device-as-default-execution-space", "--no-cache",
               "--brief-diagnostics=true", "--disable-warnings", "--frandom-seed=kernel",
               *(macro for macro in macros if isinstance(macro, str) and _MACRO.fullmatch(macro)), *(f"--include-path={path}" for path in INCLUDED)]
    program = nvrtc.Program(library, STANDARD + text)
    log = program.compile(options)
    return {"ptx": program.ptx()} if log is None else {**nvrtc.refusal(log), "line": 0}


def main(channel, library, text, target, macros):
    os.chdir(os.path.dirname(nvrtc.packages()))
    channel.answer(json.dumps(nvrtc.outside(text) or compile_text(library, text, target, macros)).encode())
