"""kernelmill.tokens counts as the tokenizers library does, and packs every token once and in order, in the file's order or a
mix's. With a tokenizer.json that a package ships. Skipped where it is not installed (tests/peers/install_tokenizers.sh)."""

import importlib
import json
import os
import pathlib
import shutil
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("KERNELMILL_TOKENIZERS", harness.ROOT / "build/peers/tokenizers"))
READERS = pathlib.Path(os.environ.get("KERNELMILL_READERS", harness.ROOT / "build/peers/readers"))
TOKENIZER = FOLDER / "anthropic/tokenizer.json"
LENGTH = 128


def load_tokens():
    """The module of this checkout, by its place: it needs no types of rows."""
    sys.path.insert(0, str(harness.ROOT / "python"))
    return importlib.import_module("kernelmill.tokens")


def read_npy(path):
    """Shape and numbers of an array, read by the format's rules and not by our writer's."""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    (size,) = struct.unpack("<H", data[8:10])
    assert (10 + size) % 64 == 0, size
    head = eval(data[10:10 + size], {"__builtins__": {}})  # the format's own way
    assert head["descr"] == "<u4" and head["fortran_order"] is False, head
    numbers = struct.unpack(f"<{len(data[10 + size:]) // 4}I", data[10 + size:])
    assert head["shape"][0] * head["shape"][1] == len(numbers), head
    return head["shape"], list(numbers)


@unittest.skipUnless(TOKENIZER.is_file(), "no tokenizers: tests/peers/install_tokenizers.sh")
class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = pathlib.Path(cls.temporary.name)
        sys.path.insert(0, str(FOLDER))
        job = folder / "job.yaml"
        job.write_text(f"""name: tokens
sources:
  - {{path: {harness.DEMO_SOURCES}, name: demo}}
mix:
  seed: 3
  phases:
    - {{name: twice, parts: [{{epochs: 2}}, {{config: fim, epochs: 1}}]}}
    - {{name: talk, parts: [{{config: instruct, epochs: 1}}]}}
""")
        cls.out = folder / "out"
        harness.crawl(job, cls.out, folder / "data")
        cls.module = load_tokens()
        cls.result = cls.module.run(cls.out, TOKENIZER, length=LENGTH, end="<EOT>")
        from tokenizers import Tokenizer
        cls.tokenizer = Tokenizer.from_file(str(TOKENIZER))

    def rows(self, config):
        with open(self.out / f"{config}.jsonl", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def test_counts_are_the_librarys(self):
        counted = {row["config"]: row for row in self.result["counts"]}
        kernels = self.rows("kernels")
        self.assertEqual(counted["kernels"]["rows"], len(kernels))
        self.assertEqual(counted["kernels"]["tokens"], sum(len(self.ids(row["module"])) for row in kernels))
        spoken = sum(len(self.ids(message["content"])) for row in self.rows("instruct") for message in row["messages"])
        self.assertEqual(counted["instruct"]["tokens"], spoken)

    def test_every_token_is_packed_once_and_in_order(self):
        end = self.tokenizer.token_to_id("<EOT>")
        stream = [token for row in self.rows("kernels") for token in [*self.ids(row["module"]), end]]
        (sequences, length), numbers = read_npy(self.out / f"tokens/kernels-train-{LENGTH}.npy")
        self.assertEqual(length, LENGTH)
        self.assertEqual(sequences, len(stream) // LENGTH)
        self.assertEqual(numbers, stream[:len(numbers)])
        packed = next(entry for entry in self.result["packed"] if entry["file"].startswith("kernels"))
        self.assertEqual(packed["dropped_tokens"], len(stream) - len(numbers))

    def test_a_phase_is_packed_in_the_order_of_its_mix(self):
        self.module.run(self.out, TOKENIZER, length=LENGTH, end="<EOT>", phase="twice")
        phase = json.loads((self.out / "mix.json").read_text())["phases"][0]
        _, order = read_npy(self.out / phase["index"])
        self.assertEqual(len(order), 2 * phase["samples"])
        rows = {config: self.rows(config) for config in ("kernels", "fim")}
        self.assertEqual(phase["samples"], 2 * len(rows["kernels"]) + len(rows["fim"]))
        end = self.tokenizer.token_to_id("<EOT>")
        stream = []
        for part, line in zip(order[::2], order[1::2]):
            row = rows[phase["parts"][part]["config"]][line]
            stream += [*self.ids(row["module"] if "module" in row else row["prompt"] + row["completion"]), end]
        _, numbers = read_npy(self.out / f"tokens/phase-twice-{LENGTH}.npy")
        self.assertEqual(numbers, stream[:len(numbers)])
        self.assertLess(len(stream) - len(numbers), LENGTH)

    @unittest.skipUnless((READERS / ".requirements").is_file(), "no pyarrow: tests/peers/install_readers.sh")
    def test_a_dataset_that_was_published_without_lines_gives_the_same(self):
        published = self.out.parent / "published"
        shutil.copytree(self.out, published, ignore=shutil.ignore_patterns("*.jsonl", "tokens"))
        sys.path.append(str(READERS))
        result = self.module.run(published, TOKENIZER, length=LENGTH, end="<EOT>")
        self.assertEqual(result, self.result)
        name = f"tokens/kernels-train-{LENGTH}.npy"
        self.assertEqual((published / name).read_bytes(), (self.out / name).read_bytes())
        with self.assertRaisesRegex(self.module.TokensError, "fim.jsonl, which is missing"):
            self.module.run(published, TOKENIZER, length=LENGTH, end="<EOT>", phase="twice")

    def test_what_cannot_be_had_is_said(self):
        for arguments, words in (({"length": 8, "end": "<nothing>"}, "no token '<nothing>'"),
                                 ({"length": 8, "end": "<EOT>", "phase": "thrice"}, "no phase thrice"),
                                 ({"length": 8, "end": "<EOT>", "phase": "talk"}, "not packed")):
            with self.assertRaisesRegex(self.module.TokensError, words):
                self.module.run(self.out, TOKENIZER, **arguments)
        with self.assertRaises(self.module.TokensError):
            self.module.run(self.out, self.out / "report.json")


if __name__ == "__main__":
    unittest.main()
