"""A holdout keeps its kernels out of the dataset whatever kind of source it is: a repository, a wheel, a folder.
Each kind holds one file of the demo repository; all of its kernels are contaminated there, by that holdout. So they are
by what benchmarks keep in strings of JSON."""

import contextlib
import json
import pathlib
import tempfile
import unittest

import harness

HELD = {"in-git": "kernels/matmul.py", "in-wheel": "kernels/layer_norm.py", "in-folder": "kernels/activations.py"}
# A kernel whose module shows the text of the held file: its helpers are from there.
SHOWN = {"in-folder": {("kernels/fused_mlp.py", 9)}}


class Holdouts(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        text = {name: (harness.DEMO_SOURCES / path).read_text() for name, path in HELD.items()}
        for name in ("in-git", "in-folder"):
            (self.folder / name).mkdir()
            (self.folder / name / "held.py").write_text(text[name])
        for folder in ("git", "wheels"):
            (self.folder / folder).mkdir()
        harness.make_repository(harness.DEMO_SOURCES, self.folder / "git/demo.git")
        harness.make_repository(self.folder / "in-git", self.folder / "git/held.git")
        harness.make_wheel(self.folder / "wheels", "held-kernels", "1.0", {"held/held.py": text["in-wheel"]})
        stack = self.enterContext(contextlib.ExitStack())
        self.git = stack.enter_context(harness.git_server(self.folder / "git"))
        self.index = stack.enter_context(harness.package_index(self.folder / "wheels"))

    def crawl(self, name, holdouts):
        """Crawls the demo repository with these holdouts, as YAML; returns the folder with the dataset."""
        job = self.folder / f"{name}.yaml"
        job.write_text(f"name: holdouts\nsources:\n  - git: {self.git.url}/demo.git\n    name: demo\n" + "".join(
            f"  - {origin}\n    name: {kind}\n    role: holdout\n" for kind, origin in holdouts.items()))
        harness.crawl(job, self.folder / f"{name}-out", self.folder / f"{name}-data",
                      index_url=self.index.url + "/simple")
        return self.folder / f"{name}-out"

    def test_every_kind_of_source_can_be_held_out(self):
        origins = {"in-git": f"git: {self.git.url}/held.git", "in-wheel": "package: held-kernels==1.0",
                   "in-folder": "path: ./in-folder"}
        plain = {(r["path"], r["first_line"]) for r in harness.ledger(self.crawl("plain", {}))}
        for kind, path in HELD.items():
            with self.subTest(kind):
                out = self.crawl(kind, {kind: origins[kind]})
                rows = harness.ledger(out)
                held = {(r["path"], r["first_line"]) for r in rows if r["fate"] == "contaminated"}
                self.assertEqual(held, {at for at in plain if at[0] == path} | SHOWN.get(kind, set()))
                self.assertEqual({(r["path"], r["first_line"]) for r in rows}, plain)
                with open(out / "kernels.jsonl", encoding="utf-8") as lines:
                    kept = [json.loads(line) for line in lines]
                self.assertEqual({r["repository"] for r in kept}, {"demo"})
                self.assertNotIn(path, {r["path"] for r in kept})

    def test_code_in_json_is_held_out_by_pointer(self):
        text = {name: (harness.DEMO_SOURCES / path).read_text() for name, path in HELD.items()}
        bench = self.folder / "bench"
        bench.mkdir()
        (bench / "problems.json").write_text(json.dumps([{"file": "x.py"}, {"file": "y/~.py", "y/~": [text["in-git"]]}]))
        chat = f"Here's the kernel:\n\n```python\n{text['in-wheel']}\n```\nDon't forget the grid.\n"
        (bench / "answers.jsonl").write_text("\n".join([
            json.dumps({"id": 1}), json.dumps({"messages": [{"role": "assistant", "content": chat}]}, ensure_ascii=False),
            json.dumps({"code": text["in-folder"]})[:-20]]))
        out = self.crawl("json", {"bench": 'path: ./bench\n    include: ["**/*.{json,jsonl}"]'})
        held = {"kernels/matmul.py": ("problems.json", "/1/y~1~0/0"),
                "kernels/layer_norm.py": ("answers.jsonl", "/2/messages/0/content")}
        seen = {}
        for row in harness.ledger(out):
            if row["fate"] != "contaminated":
                self.assertNotIn(row["path"], held)
                self.assertIsNone(row["json_pointer"])
                continue
            item = row["contamination"][0]["holdout"]
            self.assertEqual((item["repository"], row["reason"], row["of"]), ("bench", "exact:source", item["id"]))
            seen.setdefault(row["path"], set()).add((item["path"], item["json_pointer"]))
            lines = text["in-git" if item["path"] == "problems.json" else "in-wheel"].splitlines()
            name = lines[row["first_line"] - 1]
            inside = text["in-git"] if item["path"] == "problems.json" else chat
            self.assertEqual(inside.splitlines()[item["first_line"] - 1], name)
        self.assertEqual(seen, {path: {at} for path, at in held.items()})
        report = json.loads((out / "report.json").read_text())
        source, = (s for s in report["sources"] if s["repository"] == "bench")
        self.assertEqual(source["files"]["skipped_strings_by_reason"], {"json_truncated": 1})
        self.assertEqual({(i["holdout"]["path"], i["holdout"]["json_pointer"])
                          for i in report["contamination"]["items"]}, set(held.values()))

    def test_a_benchmark_without_kernels_is_text(self):
        problem = "".join(f"class Problem{i}(torch.nn.Module):\n    def forward(self, left{i}, right{i}):\n"
                          f"        return torch.matmul(left{i}, right{i}) + {i}\n" for i in range(12))
        bench, source = self.folder / "bench", self.folder / "source"
        for folder in (bench, source):
            folder.mkdir()
        (bench / "problem.py").write_text("import torch\n\n" + problem)
        (bench / "prompts.jsonl").write_text(json.dumps({"prompt": "Write it: " + " ".join(
            f"take the tile {i} of row{i} and add what column{i} holds" for i in range(12))}) + "\n")
        kernel = ("@triton.jit\ndef NAME(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n    DOC\n"
                  "    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                  "    x = tl.load(x_ptr + offsets, mask=offsets < n)\n"
                  "    tl.store(out_ptr + offsets, VALUE, mask=offsets < n)\n")
        head = "import torch\nimport triton\nimport triton.language as tl\n\n"
        prompt = json.loads((bench / "prompts.jsonl").read_text())["prompt"].replace(" and ", "\n    and ")
        rows = {"docstring.py": ("doubled", f'"""{prompt}"""', "x * 2"), "other.py": ("tripled", "pass", "x * 3")}
        for path, (name, doc, value) in rows.items():
            (source / path).write_text(head + kernel.replace("NAME", name).replace("DOC", doc).replace("VALUE", value))
        (source / "whole.py").write_text(head + "# A model, and its kernel.\n" + problem + kernel.replace(
            "NAME", "squared").replace("DOC", "pass").replace("VALUE", "x * x"))
        (source / "LICENSE").write_text((harness.DEMO_SOURCES / "LICENSE").read_text())
        job = self.folder / "text.yaml"
        job.write_text("name: text\nsources:\n  - path: ./source\n    keep: files\n  - path: ./bench\n"
                       '    include: ["**/*.{py,jsonl}"]\n    role: holdout\n')
        harness.crawl(job, self.folder / "text-out", self.folder / "text-data")
        seen = {(r["path"], r["form"] == "file"): r for r in harness.ledger(self.folder / "text-out")}
        self.assertEqual({place: row["reason"] for place, row in seen.items() if row["fate"] == "contaminated"},
                         {("docstring.py", False): "overlap:source", ("docstring.py", True): "overlap:source",
                          ("whole.py", True): "overlap:source"})
        match = seen["docstring.py", False]["contamination"][0]
        self.assertEqual((match["holdout"]["path"], match["holdout_text"], match["holdout_pointer"]),
                         ("prompts.jsonl", "file", "/1/prompt"))
        self.assertGreater(match["score"], 0.9)
        self.assertEqual(seen["other.py", False]["fate"], "kept")

    def test_a_holdout_with_nothing_to_compare_is_an_error(self):
        (self.folder / "empty").mkdir()
        (self.folder / "empty/notes.md").write_text("Nothing here.")
        job = self.folder / "empty.yaml"
        job.write_text(f"name: empty\nsources:\n  - git: {self.git.url}/demo.git\n    name: demo\n"
                       "  - path: ./empty\n    role: holdout\n")
        done = harness.crawl(job, self.folder / "empty-out", self.folder / "empty-data", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the holdout ./empty must have a text to compare", done.stdout + done.stderr)
        self.assertFalse((self.folder / "empty-out").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
