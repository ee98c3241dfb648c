"""Images and the actions of workflows are named by a hash. The workflows ask for no more rights than they need, a fork can run them,
and the scripts that they name exist."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "deploy/kubernetes"))
from kustomize import TOOLS  # noqa: E402, F401 (where PyYAML lies, is searched)

try:
    import yaml
except ImportError:
    yaml = None

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTIONLINT = ROOT / "build/peers/actionlint"
PINNED_ACTION = re.compile(r"[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
PINNED_IMAGE = re.compile(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}")
IMAGE = re.compile(r"""^[ ]*(?:- )?image:[ \t]+['"]?([^'"#\s]+)|^ARG PINNED_BASE=(\S+)""", re.MULTILINE)
# Ours: they are built here, and named by a version alone.
OURS = re.compile(r"kernelmill(-compiler|-runner)?(:[\d.]+)?")
# No source that can be read without a registry says which digest it has.
WITHOUT_DIGEST = {"buchgr/bazel-remote-cache:v2.6.1"}
PATH = re.compile(r"(?<![\w/.-])(?:\.\./)*((?:deploy|tests|docs|python|examples|recipes)/[\w./-]+)")


def foreign_images():
    """(file, image) of every image that others made."""
    files = [ROOT / "docker-compose.yml", ROOT / "deploy/docker/Dockerfile", *WORKFLOWS,
             *(ROOT / "deploy").rglob("*.yaml"), *(ROOT / "deploy/docker").glob("*.yml")]
    for file in files:
        for match in IMAGE.finditer(file.read_text(encoding="utf-8")):
            image = re.sub(r"^\$\{\w+:-(.*)\}$", r"\1", match[1] or match[2])
            if not OURS.fullmatch(image) and "{{" not in image:
                yield file.relative_to(ROOT), image


class Images(unittest.TestCase):
    def test_images_of_others_have_a_tag_and_a_digest(self):
        found = list(foreign_images())
        self.assertGreaterEqual(len(found), 4)
        for file, image in found:
            if image not in WITHOUT_DIGEST:
                self.assertRegex(image, f"^{PINNED_IMAGE.pattern}$", file)
        self.assertLessEqual(WITHOUT_DIGEST, {image for _, image in found})

    def test_the_workflows_build_on_the_base_of_the_image(self):
        base = {image for file, image in foreign_images() if file.name == "Dockerfile"}
        self.assertEqual(len(base), 1)
        self.assertEqual({image for file, image in foreign_images() if file.suffix == ".yml" and ".github" in file.parts}, base)


class Workflows(unittest.TestCase):
    def lines(self, pattern):
        for file in WORKFLOWS:
            for match in re.finditer(pattern, file.read_text(encoding="utf-8"), re.MULTILINE):
                yield file.name, match[1]

    def test_actions_are_pinned_by_commit(self):
        used = list(self.lines(r"uses: (.+)$"))
        self.assertTrue(used)
        for file, action in used:
            if action.startswith("./"):
                self.assertTrue((ROOT / action).is_file(), f"{file}: {action}")
            else:
                self.assertRegex(action, f"^{PINNED_ACTION.pattern}$", file)

    def test_scripts_and_paths_exist(self):
        named = [(file, path) for file in WORKFLOWS for path in PATH.findall(file.read_text(encoding="utf-8"))]
        self.assertTrue(any(path == "tests/run.sh" for _, path in named))
        for file, path in named:
            self.assertTrue((ROOT / path).exists(), f"{file.name}: {path}")

    def test_a_fork_can_run_them_and_signs_nothing(self):
        for file in WORKFLOWS:
            text = file.read_text(encoding="utf-8")
            self.assertNotIn("secrets.", text, file.name)
            self.assertNotIn("pull_request_target", text, file.name)
        release = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
        self.assertIn("github.event.repository.fork", release)

    @unittest.skipIf(yaml is None, "no PyYAML: tests/kubernetes/install_tools.sh")
    def test_rights_are_few(self):
        rights = {}
        for file in WORKFLOWS:
            workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
            self.assertEqual(workflow["permissions"], {"contents": "read"}, file.name)
            rights |= {(file.name, name): set(job.get("permissions", {})) for name, job in workflow["jobs"].items()}
            for name, job in workflow["jobs"].items():
                if job.get("permissions"):  # it can write: only after the tests, which do not run in a fork
                    self.assertEqual(job["needs"], "ci", name)
                for step in job.get("steps", []):
                    if step.get("uses", "").startswith("actions/checkout@"):
                        self.assertIs(step["with"]["persist-credentials"], False, name)
        self.assertFalse(any(given for (file, _), given in rights.items() if file == "ci.yml"))
        self.assertEqual(rights["release.yml", "packages"], {"contents", "id-token", "attestations"})
        self.assertEqual(rights["release.yml", "image"], {"contents", "packages", "id-token", "attestations"})

    @unittest.skipUnless(ACTIONLINT.exists() or shutil.which("actionlint"), "no actionlint: tests/style/install_actionlint.sh")
    def test_actionlint_finds_nothing(self):
        program = ACTIONLINT if ACTIONLINT.exists() else "actionlint"
        done = subprocess.run([program, "-color=false", *WORKFLOWS], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
