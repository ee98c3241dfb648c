"""A licence is that of the pinned commit or version, not today's: a source whose LICENSE changes afterwards."""

import json
import pathlib
import tempfile
import unittest

import harness

KERNEL = """import triton
import triton.language as tl


@triton.jit
def NAME(out, values, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.OPERATION(tl.load(values + at, mask=at < size)), mask=at < size)
"""
GPL = "GNU GENERAL PUBLIC LICENSE, version 3\n\nLicensed under the GNU General Public License, version 3.\n"


def kernel(name, operation):
    return KERNEL.replace("NAME", name).replace("OPERATION", operation)


class LicenseOfTheCommit(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def crawl(self, name, sources, *, allow=""):
        """{kernel: (fate, licence)} of a job of these sources."""
        job = self.folder / f"{name}.yaml"
        job.write_text(f"name: {name}\n{allow}sources:\n{sources}")
        return self.run_job(job, name)

    def run_job(self, job, name, *, index_url=""):
        out = self.folder / name
        harness.crawl(job, out, self.folder / "data", index_url=index_url)
        kept = {}
        if (out / "kernels.jsonl").exists():  # a file without rows is not written
            with open(out / "kernels.jsonl", encoding="utf-8") as lines:
                for row in map(json.loads, lines):
                    kept[row["name"]] = ("kept", row["license"]["expression"])
        lost = {row["name"]: (row["fate"], row["reason"]) for row in harness.ledger(out) if row["name"] not in kept}
        return {**lost, **kept}

    def make_repository(self):
        """A repository of two commits, and their ids. The second one changes LICENSE alone."""
        work = self.folder / "work"
        harness.write_files(work, {"LICENSE": harness.MIT_TEXT, "ops/wave.py": kernel("wave", "sin")})
        harness.git("init", "-q", "-b", "main", cwd=work)
        commits = []
        for text in (harness.MIT_TEXT, GPL):
            (work / "LICENSE").write_text(text)
            harness.git("add", "-A", cwd=work)
            harness.git("commit", "-q", "-m", "license", cwd=work)
            commits.append(harness.git("rev-parse", "HEAD", cwd=work))
        return work, commits

    def test_a_repositorys_licence_is_that_of_the_pinned_commit(self):
        work, (before, after) = self.make_repository()
        self.assertEqual(self.crawl("pinned", f"  - git: {work}\n    ref: {before}\n"), {"wave": ("kept", "MIT")})
        self.assertEqual(self.crawl("later", f"  - git: {work}\n    ref: {after}\n"),
                         {"wave": ("rejected", "license:GPL-3.0-only")})
        self.assertEqual(self.crawl("both", f"  - git: {work}\n    ref: {before}\n    name: a\n"
                                            f"  - git: {work}\n    ref: main\n    name: b\n"),
                         {"wave": ("kept", "MIT")})

    def test_a_lock_keeps_the_licence_of_its_commit(self):
        work, (before, _) = self.make_repository()
        harness.git("branch", "moving", before, cwd=work)
        self.assertEqual(self.crawl("first", f"  - git: {work}\n    ref: moving\n"), {"wave": ("kept", "MIT")})
        harness.git("branch", "-f", "moving", "main", cwd=work)
        self.assertEqual(self.run_job(self.folder / "first" / "job.lock.yaml", "locked"), {"wave": ("kept", "MIT")})
        self.assertEqual(self.crawl("again", f"  - git: {work}\n    ref: moving\n"),
                         {"wave": ("rejected", "license:GPL-3.0-only")})

    def test_a_wheels_licence_is_that_of_its_version(self):
        wheels = self.folder / "wheels"
        wheels.mkdir()
        files = {"waves/wave.py": kernel("wave", "sin")}
        harness.make_wheel(wheels, "waves", "1.0", files)
        harness.make_wheel(wheels, "waves", "2.0", files, ("GPL-3.0-only", GPL))
        index = self.enterContext(harness.package_index(wheels))
        for version, right in (("1.0", ("kept", "MIT")), ("2.0", ("rejected", "license:GPL-3.0-only"))):
            job = self.folder / f"wheel-{version}.yaml"
            job.write_text(f"name: wheel\nsources:\n  - package: waves=={version}\n")
            self.assertEqual(self.run_job(job, f"wheel-{version}", index_url=index.url + "/simple"),
                             {"wave": right}, version)

    def test_every_licence_admits_one_that_is_not_known(self):
        work = self.folder / "bare"
        harness.write_files(work, {"wave.py": kernel("wave", "sin"),
                                   "own/LICENSE": "Terms of our own.\n", "own/ripple.py": kernel("ripple", "cos"),
                                   "gpl/LICENSE": GPL, "gpl/swell.py": kernel("swell", "exp")})
        source = f"  - path: {work}\n"
        self.assertEqual(self.crawl("none", source), {"wave": ("rejected", "license:NOASSERTION"),
                                                      "ripple": ("rejected", "license:NOASSERTION"),
                                                      "swell": ("rejected", "license:GPL-3.0-only")})
        self.assertEqual(self.crawl("all", source, allow='licenses: {allow: ["*"]}\n'),
                         {"wave": ("kept", "NOASSERTION"), "ripple": ("kept", "NOASSERTION"),
                          "swell": ("kept", "GPL-3.0-only")})


if __name__ == "__main__":
    unittest.main()
