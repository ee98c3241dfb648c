"""NKI, for AWS's chips: its jit, and the decorators that run a kernel in other ways."""
from languages.python_kernels import PythonLanguage

NAMES = {"jit", "trace", "baremetal", "benchmark", "profile"}
LANGUAGE = PythonLanguage("nki", {"neuronxcc.nki": NAMES, "nki": NAMES}, words=(b"nki",), written=("nki.jit",))
TUNED = ("aws-neuron/nki-samples",)
HELD_OUT = ("aws-neuron/neuronx-distributed-inference", "aws-neuron/nki-library")
