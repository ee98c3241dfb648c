"""The code in a model's answer to a task."""

from __future__ import annotations

import re

_THINKING = re.compile(r"</(?:think|thinking|thought|reasoning)>")
_FENCE = re.compile(r"^```[ \t]*([\w+-]*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
MOST_CHARACTERS = 1 << 20


def find_code(answer: str, kernel: str) -> str:
    """Returns the last fence that defines the kernel, or all of an answer without fences. Thinking before the answer is dropped, as
    `kernelmill evaluate` does. Empty: the answer has no such code, or is too long."""
    if len(answer) > MOST_CHARACTERS:
        return ""
    text = _THINKING.split(answer)[-1]
    if re.search(r"<(?:think|thinking|thought|reasoning)>", text):
        return ""  # thinking that never ends is no answer
    fences = [code for tag, code in _FENCE.findall(text) if tag.lower() in ("", "py", "python", "python3", "triton")]
    if not fences and "```" in text:
        return ""
    defines = re.compile(rf"^[ \t]*def[ \t]+{re.escape(kernel)}\b", re.MULTILINE)
    return next((code for code in reversed(fences or [text]) if defines.search(code)), "")
