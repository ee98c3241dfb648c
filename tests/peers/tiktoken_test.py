"""Our tokens are tiktoken's, id by id: on the code of this project and of Python's library, and on text that is
made to meet every alternative of the patterns. Skipped where tiktoken is not installed
(tests/peers/install_tiktoken.sh)."""

import pathlib
import random
import sys
import sysconfig
import unicodedata
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402
import tiktokens  # noqa: E402

# Has characters of every class that the patterns tell apart, and of several sizes in UTF-8.
ALPHABET = (list("aZsStTrRvVeEmMlLdD'\"_/.,;(=+-#*9 0\t\n\r\v\f\x00\x1c\x7f") +
            list("éßſKµªʰǅⅧ²٣漢字あア한😀\u0301\u0903\u20dd\u00a0\u0085\u2003\u2028\u202f\u3000\u200b\ufeff\u180e") +
            ["'s", "'LL", "'ſ", "\r\n", "    ", "  \n  ", "<|endoftext|>", "tl.", "BLOCK_SIZE", "HTMLPage"])


def made(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(60)))


def files(folder, pattern, limit):
    for path in sorted(folder.glob(pattern))[:limit]:
        try:
            yield path.read_bytes().decode()
        except UnicodeDecodeError:
            pass


@unittest.skipUnless((tiktokens.FOLDER / "tiktoken").is_dir(), "no tiktoken: tests/peers/install_tiktoken.sh")
class Tiktoken(unittest.TestCase):
    def check(self, texts):
        texts = list(texts)
        self.assertGreater(len(texts), 0)
        for name in tiktokens.NAMES:
            theirs = tiktokens.encoding(name)
            tokens, _ = tiktokens.ours(harness.BIN / "bpe_encode", name, texts)
            self.assertEqual(len(tokens), len(texts))
            for text, got in zip(texts, tokens):
                expected = theirs.encode_ordinary(text)
                if got != expected:
                    self.fail(f"{name}: {text[:200]!r}: {got[:50]}, tiktoken {expected[:50]}")

    def test_code_of_this_project(self):
        self.check(files(tiktokens.ROOT, "services/**/*.cc", 400))

    def test_code_of_pythons_library(self):
        self.check(files(pathlib.Path(sysconfig.get_paths()["stdlib"]), "*.py", 200))

    def test_made_text(self):
        self.check(made(20261122, 20000))

    def test_long_pieces(self):
        self.check(["a" * 5000, " " * 5000, "\n" * 5000, "=" * 5000, "aB" * 3000, "漢" * 3000, "1" * 5000,
                    " \n" * 3000 + " ", "😀" * 2000, "A\u0301" * 2000])

    def test_every_character(self):
        """Checks characters beside letters, spaces and digits, and all of them in one text; except the few that
        Unicode 16 and later added, which the two may class differently."""
        known = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cs", "Cn")]
        self.check(f"{c} a{c} {c}1" for c in known[::7])
        self.check(["".join(known)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
