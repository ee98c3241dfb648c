"""Has pip install the module from a clone (PEP 517): deploy/packages/make_wheel.py makes the wheel, with the types of rows. Standard
library only."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "deploy/packages"))
import make_wheel  # noqa: E402


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):  # pylint: disable=unused-argument
    return make_wheel.make_module_wheel(pathlib.Path(wheel_directory)).name
