"""The figures of an export are pictures of its ANALYSIS.json: each bar is as long as the number, the text beside it is there, and
the file is a picture with these colours. Skipped without matplotlib (tests/peers/install_figures.sh)."""

import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("KERNELMILL_FIGURES", harness.ROOT / "build/peers/figures"))


def load_figures():
    """The module alone: the rest of the package is not installed here."""
    path = harness.ROOT / "python/kernelmill/figures.py"
    spec = importlib.util.spec_from_file_location("kernelmill_figures", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def colors_of(path):
    """How many pixels of a picture have each colour."""
    from PIL import Image
    with Image.open(path) as image:
        image = image.convert("RGB")
        return {f"#{r:02x}{g:02x}{b:02x}": count for count, (r, g, b) in image.getcolors(image.width * image.height)}


@unittest.skipUnless((FOLDER / ".requirements").is_file(), "no matplotlib: tests/peers/install_figures.sh")
class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = pathlib.Path(cls.temporary.name)
        os.environ["MPLCONFIGDIR"] = str(folder)
        sys.path.insert(0, str(FOLDER))
        job = folder / "job.yaml"
        job.write_text(f"""name: figures
sources:
  - {{path: {harness.DEMO_SOURCES}, name: demo, category: demo}}
  - {{path: {harness.DEMO_SOURCES}/kernels, name: copy, category: "co$py"}}
""")
        cls.out = folder / "out"
        harness.crawl(job, cls.out, folder / "data")
        cls.analysis = json.loads((cls.out / "ANALYSIS.json").read_text())
        cls.module = load_figures()
        cls.figures = cls.module.figures(cls.analysis)
        cls.files = {path.stem: path for path in cls.module.draw(cls.out)}

    def bars(self, name):
        """The lengths of a figure's bars, by the group that they were drawn in."""
        axes = self.figures[name].axes[0]
        return [[bar.get_width() if name != "tokens" else bar.get_height() for bar in group] for group in axes.containers]

    def test_a_bar_is_as_long_as_the_number(self):
        for figure, dimension in (("repositories", "repository"), ("categories", "category"), ("operations", "tag"),
                                  ("languages", "dsl"), ("licenses", "license")):
            with self.subTest(figure):
                tallies = self.analysis["by"][dimension][:25]
                self.assertTrue(tallies)
                self.assertEqual(self.bars(figure), [[t["found"] for t in tallies], [t["kept"] for t in tallies]])
        kept = self.analysis["kernels"]["kept"]
        self.assertEqual(sum(self.bars("fates")[0]), self.analysis["kernels"]["found"])
        self.assertEqual(self.bars("fates")[0][0], kept)
        self.assertEqual(sum(self.bars("tokens")[0]), kept)
        shares = [100 * check["kept"]["share"] if check["kept"]["share"] else 0 for check in self.analysis["checks"]
                  if check["found"]["share"] is not None]
        self.assertEqual(self.bars("checks")[1], shares)

    def test_the_words_stand_beside_the_bars(self):
        labels = [label.get_text() for label in self.figures["repositories"].axes[0].get_yticklabels()]
        self.assertEqual(labels, [tally["name"] for tally in self.analysis["by"]["repository"]])
        labels = [label.get_text() for label in self.figures["categories"].axes[0].get_yticklabels()]
        self.assertIn(r"co\$py", labels)  # no formula

    def test_the_files_are_pictures_with_the_bars_in_them(self):
        self.assertEqual(set(self.files), set(self.figures))
        for name, path in self.files.items():
            with self.subTest(name):
                colors = colors_of(path)
                self.assertGreater(colors.get("#2b6cb0", 0), 200, "the bars of what is kept")
                self.assertGreater(colors.get("#ffffff", 0), sum(colors.values()) / 4, "the ground")
        # All of the copy's kernels are duplicates: nothing is kept of it, and the picture shows what was found.
        self.assertGreater(colors_of(self.files["repositories"]).get("#b8c4d6", 0), 200)

    def test_the_same_analysis_gives_the_same_bytes(self):
        before = {name: path.read_bytes() for name, path in self.files.items()}
        self.module.draw(self.out)
        self.assertEqual({name: path.read_bytes() for name, path in self.files.items()}, before)

    def test_an_export_with_figures_is_replaced_by_the_next(self):
        self.assertTrue((self.out / "figs").is_dir())
        job = pathlib.Path(self.temporary.name) / "job.yaml"
        harness.crawl(job, self.out, pathlib.Path(self.temporary.name) / "data")
        self.assertFalse((self.out / "figs").exists())
        self.module.draw(self.out)

    def test_a_dataset_without_kernels_has_no_figures(self):
        self.assertEqual(self.module.figures({"kernels": {"found": 0}}), {})


if __name__ == "__main__":
    unittest.main()
