"""Makes the compiler's harness importable as `kernelmill_harness`: the sandbox, and the stand-ins for packages that are not installed.
The wheel has it in kernelmill/harness; a clone has it where the compiler does."""

from __future__ import annotations

import pathlib
import sys
import types

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
_CLONE = PACKAGE.parents[1] / "services/compiler/adapters"


def folders() -> list[pathlib.Path]:
    wheel = PACKAGE / "harness"
    return [wheel] if wheel.is_dir() else [_CLONE / "toolchain/python", _CLONE / "sandbox"]


def install() -> None:
    package = types.ModuleType("kernelmill_harness")
    package.__path__ = [str(folder) for folder in folders()]
    sys.modules.setdefault("kernelmill_harness", package)
