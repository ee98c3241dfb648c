"""Reads from a job file what scripts need of it: the git sources, with their globs. Only the few forms of YAML
that deploy/jobs uses; kernelmill itself has the full reader."""

import json
import pathlib
import re


def without_comment(line):
    """The line up to a # that no quotes surround."""
    return re.match(r'(?:"[^"]*"|[^"#])*', line)[0].rstrip()


def git_sources(path):
    """[{"url", "name", "include", "role"}] of a job file's git sources, in its order; `name` is OWNER/NAME."""
    found, globs_follow = [], False
    for line in map(without_comment, pathlib.Path(path).read_text(encoding="utf-8").splitlines()):
        source, include = re.match(r"  - git: (\S+)$", line), re.match(r"    include:\s*(\[.*\])?$", line)
        if source:
            name = "/".join(source[1].removesuffix(".git").rsplit("/", 2)[-2:])
            found.append({"url": source[1], "name": name, "include": [], "role": ""})
        elif include and found:
            found[-1]["include"] = json.loads(include[1] or "[]")
        elif globs_follow and re.match(r"\s+- ", line):
            found[-1]["include"].append(json.loads(line.strip()[2:]))
            continue
        elif found and line.startswith("    role: "):
            found[-1]["role"] = line.split(": ", 1)[1]
        globs_follow = bool(include and not include[1]) or (globs_follow and not line)
    return found
