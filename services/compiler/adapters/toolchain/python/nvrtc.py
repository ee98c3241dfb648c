"""Child N: turns a C++ module into PTX by NVRTC. It runs nothing of the module, which a compiler's fault could change; so it may run no
programs, and what it says is judged as an answer of a process that did.
"""
import ctypes
import json
import os
import re
import sysconfig

from kernelmill_harness import cuda_headers, messages


FILE = "kernel.cu"
# Below the toolchain's packages: a header's path is part of what assert() says, and must be the same on every machine.
INCLUDED = ("cuda_runtime", "cuda_cccl", "cuda_nvcc", "curand")
# The architecture of a target, as nvcc is told for kernels that are built for it alone. Triton does the same.
ARCHITECTURES = {"cuda:80": "80", "cuda:90": "90a", "cuda:100": "100a"}
COMPILATION = 6  # NVRTC_ERROR_COMPILATION: the text is refused
_ERROR = re.compile(r"^(.*)\((\d+)\): (?:catastrophic )?error: (.*)$", re.MULTILINE)
# An include of a file by its place on the machine. The sandbox refuses to open it as well, however it is written.
_OUTSIDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([ \t]*/[^>\"\n]*|[^>\"\n]*\.\.[^>\"\n]*)[>\"]", re.MULTILINE)
_NAME_MAP = "__nv_name_map"  # the file in which NVRTC looks name expressions up


def packages():
    return os.path.join(sysconfig.get_paths()["purelib"], "nvidia")


def load():
    """Loads the library. Call it before a child is confined."""
    return ctypes.CDLL(os.path.join(packages(), "cuda_nvrtc", "lib", "libnvrtc.so.12"))


def thrown(job):
    """Returns options without which a module with a host's function that throws is refused. The kernel itself must not throw."""
    throws = re.search(r"\bthrow\b", job["source"]) or re.search(r"\bthrow\s*;", job["module"])
    return [] if throws else ["--define-macro=throw=(void)"]


def options(target, attempt, job):
    """Returns NVRTC's options for a try."""
    said = dict(attempt["options"])
    return [f"--gpu-architecture=compute_{ARCHITECTURES[target]}", f"--std={said.get('std', 'c++17')}", "--device-as-default-execution-space",
            "--no-cache", "--brief-diagnostics=true", "--disable-warnings", "--frandom-seed=kernel",  # else names have the process's number
            f"--pre-include={cuda_headers.BEFORE}",
            *(f"--define-macro={name}" for name in said.get("define", "").split()),
            *thrown(job), *(f"--include-path=nvidia/{name}/include" for name in INCLUDED)]


def expressions(function, attempt):
    """Returns the spellings of a try's kernel. One whose arguments all have defaults is a template without arguments."""
    arguments = ", ".join(value for _, value in attempt["constexprs"])
    return [f"{function}<{arguments}>"] if arguments else [function, f"{function}<>"]


def opened(function):
    """Returns text that opens the namespaces of a function, so that its template arguments may name what is in them."""
    spaces = function.split("::")[:-1]
    known = [space for space in spaces if re.fullmatch(r"\w+", space)]
    return "".join(f"using namespace {'::'.join(known[:i + 1])};" for i in range(len(known))) if known == spaces else ""


class Program:
    """A text that NVRTC compiles."""

    def __init__(self, library, text):
        self._library, self._program = library, ctypes.c_void_p()
        names, texts = zip(*cuda_headers.headers().items())
        self._check(library.nvrtcCreateProgram(ctypes.byref(self._program), text.encode("utf-8", "surrogateescape"), FILE.encode(), len(names),
                                               _strings(texts), _strings(names)))

    def compile(self, arguments, expression=None):
        """Returns the errors' log, or None if it compiles."""
        if expression is not None:
            self._check(self._library.nvrtcAddNameExpression(self._program, expression.encode()))
        result = self._library.nvrtcCompileProgram(self._program, len(arguments), _strings(arguments))
        if result == 0:
            return None
        log = self._text("ProgramLog")
        return log if result == COMPILATION else f"{FILE}(0): error: NVRTC's status {result}\n{log}"

    def ptx(self):
        return self._text("PTX")

    def lowered(self, expression):
        name = ctypes.c_char_p()
        found = self._library.nvrtcGetLoweredName(self._program, expression.encode(), ctypes.byref(name))
        return name.value.decode() if found == 0 else ""

    def _text(self, what):
        size = ctypes.c_size_t()
        self._check(getattr(self._library, f"nvrtcGet{what}Size")(self._program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._library, f"nvrtcGet{what}")(self._program, text))
        return text.value.decode("utf-8", "replace")

    @staticmethod
    def _check(result):
        if result != 0:
            raise RuntimeError(f"NVRTC's status {result}")


def _strings(texts):
    return (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])


def refusal(log, module=FILE):
    """Returns the first error of a log, with its line of the module, whose name is `module`."""
    found = _ERROR.search(log)
    if found is None:
        return {"message": messages.clean(log), "line": 0}
    file, line, said = found.groups()
    return {"message": messages.clean(said), "line": int(line) if file == module and len(line) < 9 else 0}


def outside(text):
    """Returns the refusal of an include of a file of the machine, or None."""
    found = _OUTSIDE.search(text)
    if found is None:
        return None
    return {"message": messages.clean(f'cannot open source file "{found[1]}"'), "line": text.count("\n", 0, found.start()) + 1}


def entry(ptx, function):
    """Returns the entry that can only be this function: for one that has overloads, which no expression tells apart."""
    name = re.escape(function.split("::")[-1])
    found = re.findall(rf"^\.visible \.entry (\w*(?<![A-Za-z_]){name}\w*)\(", ptx, re.MULTILINE)
    return found[0] if len(found) == 1 else ""


def compile_try(library, job, target, attempt):
    """Returns the answer of a try: its PTX and the kernel's name in it, or what was refused."""
    text, arguments, said = job["module"] + "\n" + opened(job["function"]), options(target, attempt, job), None
    for expression in expressions(job["function"], attempt):
        program = Program(library, text)
        log = program.compile(arguments, expression)
        if log is None:
            return {"ptx": program.ptx(), "entry": program.lowered(expression)}
        said = said or log
    if not attempt["constexprs"] and said.startswith(_NAME_MAP):
        program = Program(library, text)
        if program.compile(arguments) is None:
            name = entry(program.ptx(), job["function"])
            if name:
                return {"ptx": program.ptx(), "entry": name}
    return refusal(said)


def read(library, job, target, attempt):
    """Returns what reading the module says without any template argument: {} if it has no error."""
    log = Program(library, job["module"]).compile(options(target, attempt, job))
    return {} if log is None else refusal(log)


def main(channel, library, job, target, attempt, whole):
    """Answers with a try, or, if it is not `whole`, with the module's reading."""
    os.chdir(os.path.dirname(packages()))
    work = compile_try if whole else read
    answer = outside(job["module"]) or work(library, job, target, attempt)
    channel.answer(json.dumps(answer).encode())
