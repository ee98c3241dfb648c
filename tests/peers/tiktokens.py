"""tiktoken with the vocabularies that ours is built with (it would fetch its own from elsewhere), and our
bpe_encode beside it."""

import base64
import json
import os
import pathlib
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("KERNELMILL_TIKTOKEN", ROOT / "build/peers/tiktoken"))
ENCODERS = ROOT / ".cache/grammars/tiktoken-1.0.22/encoders"
NAMES = ("cl100k_base", "o200k_base")


def ranks(name):
    words = json.loads((ENCODERS / f"{name}.json").read_text())["bpe_ranks"].split()
    found, rank, first = {}, 0, False
    for word in words:
        if word == "!":
            first = True
        elif first:
            rank, first = int(word), False
        else:
            found[base64.b64decode(word)] = rank
            rank += 1
    return found


def encoding(name):
    """tiktoken's own, with its own pattern."""
    sys.path.insert(0, str(FOLDER))
    import tiktoken
    from tiktoken_ext import openai_public
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks(name)
    return tiktoken.Encoding(**getattr(openai_public, name)())


def ours(program, name, texts):
    """Our tokens of each text, and the seconds that they took."""
    data = b"".join(struct.pack("<I", len(raw)) + raw for raw in (t.encode() for t in texts))
    done = subprocess.run([str(program), name], input=data, capture_output=True, check=True)
    tokens, at = [], 0
    while at < len(done.stdout):
        count, = struct.unpack_from("<I", done.stdout, at)
        tokens.append(list(struct.unpack_from(f"<{count}I", done.stdout, at + 4)))
        at += 4 + 4 * count
    return tokens, float(done.stderr)
