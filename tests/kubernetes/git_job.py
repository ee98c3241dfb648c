"""The job of the cluster's tests: sixteen sources of a git server on this machine, of kernels that no job before had; and the
dataset that one process makes of it."""

import shutil

import harness
import node as nodes
import workload

SOURCES = workload.FOLDERS
FUNCTIONS = 40  # in each file: minutes' work for an extractor that has a twentieth of a processor


class GitJob:
    def __init__(self, folder, url, git_folder, salt):
        self.folder = folder
        folder.mkdir(parents=True)
        many = folder / "many"
        workload.write_sources(many, salt, FUNCTIONS)
        repository = git_folder / f"many-{salt}.git"
        harness.make_repository(many, repository)
        self.file = folder / "job.yaml"
        lines = [f"name: kubernetes-{salt}", "sources:"]
        for number in range(SOURCES):
            lines += [f"  - git: {url}/{repository.name}", f"    name: d{number:02}", f'    include: ["d{number:02}/**/*.py"]']
        lines += [f"  - git: {url}/{repository.name}", "    name: bench", '    include: ["holdout/*.py"]', "    role: holdout"]
        self.file.write_text("\n".join(lines) + "\n")
        shutil.rmtree(many)
        self.quiet = folder / "quiet"
        harness.crawl(self.file, self.quiet, folder / "quiet-data", "--workers", "2", timeout=nodes.PATIENCE)
        workload.check_ledger(self.quiet)

    def check(self, out):
        """The dataset is that of one process, byte for byte, and nothing is lost."""
        got, expected = harness.dataset_digest(out), harness.dataset_digest(self.quiet)
        assert got == expected, f"dataset {got}, of one process {expected}"
        ours, theirs = harness.tree_hashes(out), harness.tree_hashes(self.quiet)
        assert ours == theirs, f"{ours} is not {theirs}"
        workload.check_ledger(out)
        return got

    @staticmethod
    def rows(out):
        """The ledger without what names the version of a stage."""
        return sorted(repr({k: v for k, v in row.items() if k != "stages"}) for row in harness.ledger(out))
