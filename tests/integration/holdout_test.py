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
                self.assertEqual(held, {at for at in plain if at[0] == path})
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
