"""Metal: kernels with a body in .metal files, and in headers."""
import kernel_forms
from languages import c_functions
from languages.python_kernels import Truth


class Metal:
    name = crawled = "metal"
    include = ["**/*.metal", "**/*.h"]

    @staticmethod
    def is_row(row):
        return row["dsl"] == "metal" and row["path"].endswith((".metal", ".h"))

    def find(self, repository):
        return self.find_in(kernel_forms.read_sources(repository, (".metal", ".h")))

    def find_in(self, texts):
        """The truth of {path: text}."""
        truth = Truth()
        for path, data in texts.items():
            if b"kernel" not in data:
                continue
            text = data.decode("utf-8", "replace")
            for function in c_functions.metal_functions(text):
                place = path, text.count("\n", 0, function.start) + 1, text.count("\n", 0, function.end) + 1
                if function.decided:
                    truth.kernels[place] = function.name, "kernel", "qualifier"
                else:
                    truth.undecided[place] = f"{function.name}: the readers differ"
        return truth


LANGUAGE = Metal()
TUNED = ("ml-explore/mlx", "huggingface/candle", "ggml-org/ggml")
HELD_OUT = ("huggingface/kernels-community", "pytorch/ao", "huggingface/kernels")
