"""kernelmill turns source repositories into a training-ready dataset of GPU kernels.

The wheel carries the client as a program: `kernelmill --help`, or `python -m kernelmill --help`.
"""


def __getattr__(name):
    if name == "__version__":  # asked for seldom, and slow to import: not at every start
        import importlib.metadata

        return importlib.metadata.version("kernelmill")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
