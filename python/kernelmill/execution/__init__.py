"""Records what kernels do in the tests of their repositories, and runs the kernels of a dataset on what was recorded.

What a machine says of a kernel is an observation: it is taken once, and kept by content in an evidence file. docs/execution.md has
the words. Needs numpy; `record` also torch and Triton, `run` also Triton, and torch on a GPU."""
