"""The lists of parts that deploy/sbom.py makes: of the schema of CycloneDX, whole, and the same each time."""

import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
sys.path[:0] = [str(ROOT / "deploy"), str(ROOT / "build/peers/kubernetes")]  # tests/kubernetes/install_tools.sh
import sbom  # noqa: E402

try:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
except ImportError:
    JsonStrictValidator = None


def run(*argv):
    return subprocess.run([sys.executable, ROOT / "deploy/sbom.py", *argv], check=True, capture_output=True, text=True).stdout


@unittest.skipUnless((BIN / "kernelmill").exists(), "no programs are built")
class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = run("programs", "kernelmill", BIN / "kernelmill")
        cls.parts = {part["name"]: part for part in json.loads(cls.text)["components"]}

    def test_made_again_it_has_the_same_bytes(self):
        self.assertEqual(run("programs", "kernelmill", BIN / "kernelmill"), self.text)

    @unittest.skipUnless(JsonStrictValidator, "no cyclonedx-python-lib: tests/kubernetes/install_tools.sh")
    def test_it_is_of_the_schema(self):
        validator = JsonStrictValidator(SchemaVersion.V1_6)
        self.assertIsNone(validator.validate_str(self.text))
        broken = json.loads(self.text)
        broken["components"][0]["type"] = "no such type"
        self.assertIsNotNone(validator.validate_str(json.dumps(broken)))

    def test_what_is_fetched_is_in_it_with_its_hash(self):
        fetched = re.findall(r'^ +"([\w-]+) ([\d.]+) sha512-(\S+)"$', (ROOT / "deploy/fetch_grammars.sh").read_text(), re.MULTILINE)
        self.assertGreaterEqual(len(fetched), 4)
        for name, version, integrity in fetched:
            self.assertEqual(self.parts[name]["version"], version)
            self.assertEqual(self.parts[name]["hashes"], [{"alg": "SHA-512", "content": base64.b64decode(integrity).hex()}])

    def test_libraries_and_headers_are_in_it(self):
        for name in ("libgrpc++1.51", "librocksdb7.8", "libc6", "libcli11-dev"):
            self.assertIn(name, self.parts)

    def test_an_image_has_every_package(self):
        made = sbom.of_image(sbom.built_in())
        installed = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"], check=True,
                                   capture_output=True, text=True).stdout.split("\n")
        names = {part["name"] for part in made["components"]}
        self.assertEqual({line.split()[0] for line in installed if line.endswith(" installed")} - names, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
