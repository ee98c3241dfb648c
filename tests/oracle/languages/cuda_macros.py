"""CUDA functions that a macro marks: CUTLASS_DEVICE, and macros of the repository's own #define lines.

Functions that __global__ or __device__ marks count as well: the same file has both, and a macro may hide one from the other.
"""
import kernel_forms
from languages import c_functions
from languages.python_kernels import Truth

ENDINGS = (".cu", ".cuh", ".h", ".hpp", ".inl", ".cc", ".cpp", ".hip")


class CudaMacros:
    name = crawled = "cuda"
    include = [f"**/*{ending}" for ending in ENDINGS]

    @staticmethod
    def is_row(row):
        return row["dsl"] == "cuda" and row["path"].endswith(ENDINGS)

    def find(self, repository):
        return self.find_in(kernel_forms.read_sources(repository, ENDINGS))

    def find_in(self, texts):
        """The truth of {path: text}."""
        truth = Truth()
        texts = {path: data.decode("utf-8", "replace") for path, data in texts.items()}
        macros = c_functions.QualifierMacros(texts.values())
        for path, text in texts.items():
            if not macros.names_in(text):
                continue
            for function in c_functions.cuda_functions(text, macros):
                place = path, text.count("\n", 0, function.start) + 1, text.count("\n", 0, function.end) + 1
                if function.decided:
                    truth.kernels[place] = function.name, "function", "qualifier"
                else:
                    truth.undecided[place] = f"{function.name}: the readers differ"
        return truth


LANGUAGE = CudaMacros()
TUNED = ("deepseek-ai/DeepGEMM", "NVIDIA/apex")
HELD_OUT = ("facebookresearch/pytorch3d", "rapidsai/raft")
