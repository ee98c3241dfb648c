"""Follows CONTRIBUTING.md's recipe "a field of a record" on a copy of the tree: one line in rows.proto and one line that fills it.
The field then has to be in the JSON Schema, in the Python types and in docs/reference/fields.md.
Builds little: ccache has what the copy shares with this tree."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELD = "newcomer"
PROTO = "proto/kernelmill/v1/rows.proto"
FILL = "dataset/export/fill_rows.cc"
BUILD = "build/release"


def run(folder, *command, **environment):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


def insert(path, after, line):
    """Adds a line behind the first match of a pattern."""
    text = path.read_text(encoding="utf-8")
    match = re.search(after, text, re.DOTALL)
    if not match:
        raise AssertionError(f"{path}: nothing matches {after}: follow CONTRIBUTING.md's recipe in this test too")
    path.write_text(text[:match.end()] + line + text[match.end():], encoding="utf-8")


def copy_tree(folder):
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"],
                            capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".cache").symlink_to((ROOT / ".cache").resolve())


@unittest.skipUnless((ROOT / ".git").exists(), "not a Git checkout, whose files could be listed")
@unittest.skipUnless((ROOT / PROTO).exists(), f"there is no {PROTO}")
class AddField(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = pathlib.Path(temporary.name)
        copy_tree(self.tree)

    def must(self, *command, **environment):
        status, words = run(self.tree, *command, **environment)
        self.assertEqual(status, 0, words[-4000:])
        return words

    def test_a_field_is_one_line_of_proto_and_one_that_fills_it(self):
        message = re.search(r"^message KernelRow \{.*?^\}", (self.tree / PROTO).read_text(), re.DOTALL | re.MULTILINE)[0]
        number = max(int(n) for n in re.findall(r"= (\d+)(?: \[|;)", message)) + 1
        insert(self.tree / PROTO, r"\nmessage KernelRow \{\n",
               f'  string {FIELD} = {number} [(column) = {{description: "added by a test"}}];\n')
        insert(self.tree / FILL, r"\nvoid FillKernelRow\([^{]*\{\n", f'  row->set_{FIELD}("new");\n')

        self.must("cmake", "--preset", "release", "-DKERNELMILL_TESTS=ON")
        self.must("cmake", "--build", BUILD, "-j2", "--target", "dataset_rows_test", "dataset_export")
        self.must(f"{BUILD}/dataset/rows/dataset_rows_test", KERNELMILL_WRITE_SCHEMAS="1",
                  KERNELMILL_SCHEMAS=str(self.tree / "docs/schema"), KERNELMILL_DOCS=str(self.tree / "docs"))

        schema = json.loads((self.tree / "docs/schema/kernels.schema.json").read_text())
        self.assertEqual(schema["properties"][FIELD]["description"], "added by a test")
        self.assertIn(FIELD, schema["required"])
        self.must(sys.executable, "python/generate.py")
        self.assertRegex((self.tree / "python/kernelmill/records.py").read_text(), rf"(?m)^    {FIELD}: str$")
        self.must(sys.executable, "docs/reference/make.py")
        self.assertIn(f"| `{FIELD}` | string | added by a test |", (self.tree / "docs/reference/fields.md").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
