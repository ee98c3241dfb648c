"""Records what kernels do in the tests of their repositories, and runs the kernels of a dataset on what was recorded.

A machine's word on a kernel is an observation: it is taken once, and kept by content in an evidence file. docs/execution.md has the
format. Needs numpy; `record` also torch and Triton, `run` also Triton, and torch on a GPU."""
