"""Sources that keep files (`keep: files`) and the organised tree (`--tree`): over http from real repositories, in one
process and on a cluster."""

import hashlib
import json
import pathlib
import subprocess
import tempfile
import unittest

import harness
import kernel_texts
import row_schema

HEAD = "import triton\nimport triton.language as tl\n\n"
HELD = "\n" + kernel_texts.GELU_TANH
KERNEL = '''
@triton.jit
def row_softmax(out, scores, stride, width, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    inside = columns < width
    logits = tl.load(scores + row * stride + columns, mask=inside, other=-1e9)
    powers = tl.exp(logits - tl.max(logits, axis=0))
    tl.store(out + row * stride + columns, powers / tl.sum(powers, axis=0), mask=inside)
'''
SCAN = '''
@triton.jit
def running_sums(sums, values, length, CHUNK: tl.constexpr):
    total = 0.0
    for begin in range(0, length, CHUNK):
        places = begin + tl.arange(0, CHUNK)
        part = tl.load(values + places, mask=places < length, other=0.0)
        tl.store(sums + places, total + tl.cumsum(part, axis=0), mask=places < length)
        total += tl.sum(part, axis=0)
'''
SECRET = '''
@triton.jit
def fetch(to, source, WIDTH: tl.constexpr):
    token = "ghp_TOKEN"
    tl.store(to + tl.arange(0, WIDTH), tl.sin(tl.load(source + tl.arange(0, WIDTH))))
'''.replace("TOKEN", "aB3" * 12)
GENERATOR = '''"""Writes kernels."""


class Lowering:
    """One operation: how it is written."""

    def __init__(self, name, operands):
        self.name, self.operands = name, operands

    def render(self, target):
        lines = [f"def {self.name}({', '.join(self.operands)}):"]
        for number, operand in enumerate(self.operands):
            lines.append(f"    v{number} = load({operand})  # of {target}")
        return "\\n".join(lines + ["    return " + " + ".join(f"v{i}" for i in range(len(self.operands)))])
'''
HOST = '''"""Answers."""
import textwrap


def answer():
    import triton, triton.language as tl  # noqa
''' + "\n".join("    " + line for line in HELD.strip().splitlines()[1:]) + '''


def check(result):
    return textwrap.dedent(result)
'''
GPL = "# SPDX-License-Identifier: GPL-3.0-only\n"


class Files(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "git").mkdir()
        self.repository("generators", {
            "LICENSE": harness.MIT_TEXT,
            "codegen/lowering.py": GENERATOR,
            "codegen/rules.td": "def Load : Op<\"load\">; // a rule\n",
            "codegen/empty.py": "\n",
            "codegen/table.bin": b"\x00\x01table",
            "codegen/gpl.py": GPL + GENERATOR.replace("Lowering", "Copyleft"),
            "codegen/author.py": "# by someone@example.org\n" + GENERATOR.replace("Lowering", "Authored").replace(
                "operand", "argument").replace("lines", "text"),
            "kernels/softmax.py": HEAD + KERNEL,
            "kernels/answer.py": HEAD + HELD + "\n\ndef more():\n    return 'nothing to do with it'\n",
            "kernels/mixed.py": HEAD + SCAN + SECRET,
            "host/answers.py": HOST,
        })
        self.repository("copies", {"LICENSE": harness.MIT_TEXT, "vendored.py": GENERATOR,
                                   "near.py": GENERATOR.replace('"""Writes kernels."""', '"""Writes code."""')
                                              + "\n\nNAMES = []\n"})
        self.repository("bench", {"LICENSE": harness.MIT_TEXT, "held.py": HEAD + HELD})
        self.git = self.enterContext(harness.git_server(self.folder / "git"))
        self.job = self.folder / "job.yaml"

    def repository(self, name, files):
        work = self.folder / name
        harness.write_files(work, files)
        harness.make_repository(work, self.folder / f"git/{name}.git")

    def write_job(self, keep="files"):
        self.job.write_text(f"""name: whole-files
sources:
  - git: {self.git.url}/generators.git
    name: generators
    include: ["**/*"]
    exclude: ["LICENSE"]
    category: code generators
    keep: {keep}
  - git: {self.git.url}/copies.git
    name: copies
    keep: {keep}
  - git: {self.git.url}/bench.git
    name: bench
    role: holdout
""")

    def crawl(self, name, *flags):
        harness.crawl(self.job, self.folder / name, self.folder / "data", *flags)
        return self.folder / name

    def test_files_without_kernels_are_training_text(self):
        self.write_job()
        out = self.crawl("out")
        kept = {row["path"]: row for row in harness.rows_of(out, "files")}
        self.assertEqual(set(kept), {"codegen/lowering.py", "codegen/rules.td", "codegen/author.py", "kernels/softmax.py"})
        row = kept["codegen/lowering.py"]
        self.assertEqual(row["text"], GENERATOR)
        self.assertEqual(row["sha256"], hashlib.sha256(GENERATOR.encode()).hexdigest())
        self.assertEqual((row["repository"], row["language"], row["category"], row["split"]),
                         ("generators", "python", "code generators", "train"))
        self.assertEqual((row["bytes"], row["lines"]), (len(GENERATOR), GENERATOR.count("\n")))
        self.assertEqual((row["license"]["expression"], row["kernels"]), ("MIT", []))
        self.assertGreater(row["tokens"]["o200k_base"], 100)
        self.assertEqual(kept["codegen/rules.td"]["language"], "tablegen")
        self.assertIn("# by xxxxxxx@xxxxxxx.xxx\n", kept["codegen/author.py"]["text"])
        kernels = harness.rows_of(out, "kernels")
        self.assertEqual([k["name"] for k in kernels], ["running_sums", "row_softmax"])
        self.assertEqual(kept["kernels/softmax.py"]["kernels"], [kernels[1]["id"]])

        fates = {(r["repository"], r["path"]): (r["fate"], r["reason"], r["of"])
                 for r in harness.ledger(out) if r["form"] == "file"}
        lowering = row["id"]
        self.assertEqual(fates.pop(("copies", "vendored.py")), ("duplicate", "exact", lowering))
        self.assertEqual(fates.pop(("copies", "near.py")), ("duplicate", "near", lowering))
        self.assertEqual(set(row["duplicates"]), {r["id"] for r in harness.ledger(out) if r["of"] == lowering})
        self.assertEqual(fates.pop(("generators", "codegen/gpl.py"))[:2], ("rejected", "license:GPL-3.0-only"))
        fate, reason, _ = fates.pop(("generators", "kernels/answer.py"))
        self.assertIn((fate, reason), {("rejected", "holds:contaminated"), ("contaminated", "overlap:source")})
        self.assertEqual(fates.pop(("generators", "host/answers.py"))[0], "contaminated")
        self.assertEqual(fates.pop(("generators", "kernels/mixed.py"))[:2], ("rejected", "sensitive:github_token"))
        self.assertEqual({path for _, path in fates}, set(kept))

        report = json.loads((out / "report.json").read_text())
        whole = report["training_files"]
        self.assertEqual({k: whole[k] for k in ("found", "kept", "rejected", "duplicate", "contaminated")},
                         {"found": len(fates) + 6, "kept": 4, "rejected": whole["rejected"], "duplicate": 2,
                          "contaminated": whole["contaminated"]})
        self.assertEqual(whole["found"], sum(whole[k] for k in ("kept", "rejected", "duplicate", "contaminated")))
        self.assertEqual(whole["tokens"]["cl100k_base"], sum(r["tokens"]["cl100k_base"] for r in kept.values()))
        self.assertEqual(report["files"]["skipped_by_reason"], {"binary": 1, "empty": 1})
        self.assertEqual(report["kernels"]["found"], sum(1 for r in harness.ledger(out) if r["form"] != "file"))
        self.assertEqual(row_schema.problems(out), [])

    def test_kernels_are_those_of_a_source_that_keeps_kernels(self):
        self.write_job()
        files = self.crawl("files")
        self.write_job("kernels")
        kernels = self.crawl("kernels")
        self.assertEqual(harness.rows_of(kernels, "files"), [])
        self.assertEqual((kernels / "kernels.jsonl").read_text(), (files / "kernels.jsonl").read_text())
        report = json.loads((kernels / "report.json").read_text())
        self.assertEqual(report["training_files"]["found"], 0)
        self.assertNotIn("keep:", (kernels / "job.lock.yaml").read_text())
        self.assertIn("keep: files", (files / "job.lock.yaml").read_text())

    def test_a_cluster_and_the_lock_give_the_same_dataset(self):
        self.write_job()
        out = self.crawl("out", "--tree")
        with harness.Cluster(self.folder / "cluster", lease_ttl=30) as cluster:
            cluster.start_workers()
            there = self.folder / "there"
            cluster.client("submit", self.job, "--out", there, "--tree")
            self.assertEqual(harness.dataset_digest(there), harness.dataset_digest(out))
            done = subprocess.run(["diff", "-r", out, there], capture_output=True, text=True)
            self.assertEqual(done.stdout + done.stderr, "")
            again = self.folder / "again"
            cluster.client("submit", out / "job.lock.yaml", "--out", again)
            self.assertEqual(harness.dataset_digest(again), harness.dataset_digest(out))
            job = cluster.jobs()[0]["job"]
            self.assertIn("whole files", cluster.client("report", job).stdout)
            # A tree goes with the export that replaces it.
            cluster.client("export", job, "--out", out)
            self.assertFalse((out / "tree").exists())

    def test_the_tree_has_what_the_manifest_lists_and_nothing_that_must_stay_out(self):
        self.write_job()
        out = self.crawl("out", "--tree")
        manifest = json.loads((out / "MANIFEST.json").read_text())
        self.assertEqual(manifest["extraction_dir"], "tree")
        listed = {}
        for name, category in manifest["categories"].items():
            for file in category["files"]:
                listed[file["path"]] = file
                self.assertEqual(file["path"].split("/")[0], name)
        on_disk = {str(p.relative_to(out / "tree")): p for p in (out / "tree").rglob("*") if p.is_file()}
        self.assertEqual(set(listed), set(on_disk))
        for path, file in listed.items():
            text = on_disk[path].read_bytes()
            self.assertEqual((hashlib.sha256(text).hexdigest(), len(text)), (file["hash_sha256"], file["size_bytes"]))
            source = (self.folder / file["repository"] / file["source_path"]).read_bytes()
            self.assertEqual(hashlib.sha256(source).hexdigest(), file["source_sha256"])
            self.assertEqual(source != text, file["redacted"])
        self.assertIn("code generators/generators/codegen/lowering.py", listed)
        self.assertTrue(listed["code generators/generators/codegen/author.py"]["redacted"])
        self.assertEqual({(f["source_path"], f["reason"]) for f in manifest["left_out"]},
                         {("kernels/mixed.py", "sensitive:github_token")})
        self.assertEqual(manifest["total_files"], len(listed))

    def test_what_must_not_get_out_is_left_out_of_the_tree_of_a_source_that_keeps_kernels(self):
        self.write_job("kernels")
        out = self.crawl("out", "--tree")
        tree = {str(p.relative_to(out / "tree")) for p in (out / "tree").rglob("*") if p.is_file()}
        self.assertEqual(tree, {"code generators/generators/kernels/softmax.py"})
        manifest = json.loads((out / "MANIFEST.json").read_text())
        self.assertEqual({(f["source_path"], f["reason"]) for f in manifest["left_out"]},
                         {("kernels/mixed.py", "holds:sensitive")})


class HostilePaths(unittest.TestCase):
    """A repository whose files are called what no file system takes without harm."""

    NAMES = ["a.py", "A.py", "caf\u00e9.py", "con.py", "x/aux", "dir./k .py", "back\\slash.py", "col:on.py", "new\nline.py",
             "-rf.py", "~/.bashrc.py", "%2e%2e/up.py", "...", "deep/" * 150 + "k.py", "l" * 250 + ".py", "folder", "Folder/k.py"]

    def test_a_tree_of_any_names_stays_within_the_export(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        bare = folder / "hostile.git"
        harness.git("init", "-q", "--bare", "-b", "main", bare, cwd=folder)
        texts = {}
        stream = ["commit refs/heads/main", "committer t <t@example.org> 1700000000 +0000", "data 0", ""]
        for number, name in enumerate([*self.NAMES, "LICENSE"]):
            text = harness.MIT_TEXT if name == "LICENSE" else f"VALUE_{number} = {number}\n" + "".join(
                f"def f{number}_{i}(x): return x * {number * 31 + i}\n" for i in range(9))
            texts[name] = text
            quoted = '"' + name.replace("\\", "\\\\").replace("\n", "\\n") + '"'
            stream += [f"M 100644 inline {quoted}", f"data {len(text.encode())}", text]
        subprocess.run(["git", "fast-import", "--quiet"], cwd=bare, input="\n".join(stream).encode(), check=True)
        job = folder / "job.yaml"
        job.write_text(f'name: hostile\nsources:\n  - git: {bare}\n    name: ../../hostile\n    category: "../../../etc"\n'
                       f'    include: ["**/*"]\n    exclude: ["LICENSE"]\n    keep: files\n')
        before = {p for p in folder.iterdir()}
        harness.crawl(job, folder / "out", folder / "data", "--tree")
        self.assertEqual({p for p in folder.iterdir()} - before, {folder / "out", folder / "data"})
        manifest = json.loads((folder / "out/MANIFEST.json").read_text())
        files = [f for category in manifest["categories"].values() for f in category["files"]]
        self.assertEqual({f["source_path"] for f in files}, set(self.NAMES))
        self.assertEqual(len({f["path"].lower() for f in files}), len(files))
        for file in files:
            path = folder / "out/tree" / file["path"]
            self.assertTrue(path.is_file() and not path.is_symlink(), path)
            self.assertEqual(path.read_text(), texts[file["source_path"]])
            self.assertEqual(path.resolve(), path)  # no part of it leads elsewhere
        on_disk = [p for p in (folder / "out/tree").rglob("*") if p.is_file()]
        self.assertEqual(len(on_disk), len(files))


if __name__ == "__main__":
    unittest.main(verbosity=2)
