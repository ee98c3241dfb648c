"""The repositories that the fetch benchmark serves: made by a script, or scratch copies of mirrors; each with a
commit to fetch and one on top of it that changes three files. And what of them a job wants: which is what the
best possible fetch moves."""

import os
import pathlib
import random
import re
import subprocess

BRANCH = "refs/heads/main"
WORDS = "load store mask pid block scale offset value total sum exp log dot acc ptr stride".split()
NOT_LICENSES = (".py", ".pyi", ".pyc", ".c", ".cc", ".cpp", ".h", ".js", ".sh", ".json")

# The files that a job would take of mirrors without a job in deploy/jobs.
INCLUDES = {
    "FlagOpen/FlagGems": ["src/flag_gems/**/*.py"],
    "ROCm/aiter": ["aiter/ops/triton/**/*.py"],
    "fla-org/flash-linear-attention": ["fla/ops/**/*.py", "fla/modules/**/*.py"],
    "linkedin/Liger-Kernel": ["src/**/*.py"],
    "openai/triton": ["python/tutorials/**/*.py"],
    "state-spaces/mamba": ["mamba_ssm/**/*.py"],
}


def environment(**more):
    """Returns the environment of a git that makes the same objects for every user, at any time."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    date = "1767225600 +0000"
    return dict(env, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", GIT_TERMINAL_PROMPT="0",
                GIT_AUTHOR_NAME="b", GIT_AUTHOR_EMAIL="b@example.org", GIT_AUTHOR_DATE=date,
                GIT_COMMITTER_NAME="b", GIT_COMMITTER_EMAIL="b@example.org", GIT_COMMITTER_DATE=date, **more)


def git(repository, *argv, stdin=b"", **env):
    """git's output, as bytes."""
    done = subprocess.run(["git", "-c", "safe.directory=*", "--git-dir", str(repository), *argv], input=stdin,
                          capture_output=True, env=environment(**env))
    if done.returncode != 0:
        raise SystemExit(f"git {' '.join(argv)} in {repository}: {done.stderr.decode(errors='replace')}")
    return done.stdout


# ---------------------------------------------------------------- what a job wants

def expand_braces(glob):
    """['a.x', 'b.x'] of '{a,b}.x'."""
    inner = re.search(r"\{([^{}]*)\}", glob)
    if not inner:
        return [glob]
    before, after = glob[:inner.start()], glob[inner.end():]
    return [g for choice in inner[1].split(",") for g in expand_braces(before + choice + after)]


def matcher(globs):
    """A function that tells whether some glob names a path: the fetcher's globs, without escapes."""
    patterns = []
    for glob in (g for text in globs for g in expand_braces(text)):
        text = re.escape(glob)
        for escaped, meaning in ((r"\*\*/", "(?:.*/)?"), (r"/\*\*", "(?:/.*)?"), (r"\*", "[^/]*"), (r"\?", "[^/]"),
                                 (r"\[!", "[^"), (r"\[", "["), (r"\]", "]"), (r"\-", "-")):
            text = text.replace(escaped, meaning)
        patterns.append(re.compile(text + r"\Z", re.DOTALL))
    return lambda path: any(p.match(path) for p in patterns)


def is_license(path):
    parts = path.lower().split("/")
    named = parts[-1].startswith(("license", "licence", "copying", "notice")) and not parts[-1].endswith(NOT_LICENSES)
    return named or "licenses" in parts[:-1]


def licensed_folder(path):
    parts = path.split("/")[:-1]
    lower = [p.lower() for p in parts]
    return "/".join(parts[:lower.index("licenses")] if "licenses" in lower else parts)


def entries(repository, commit):
    """[(mode, id, path)] of every file of a commit."""
    rows = git(repository, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]
    split = (row.split(b"\t", 1) for row in rows)
    return [(*head.decode().split()[::2], os.fsdecode(path)) for head, path in split]


def selected(repository, commit, globs):
    """{path: id} of the files that the globs name."""
    matches = matcher(globs)
    return {path: oid for mode, oid, path in entries(repository, commit) if mode.startswith("100") and matches(path)}


def wanted_blobs(repository, commit, globs):
    """The ids of what a fetch has to bring: the selected files, and the licence files of their folders."""
    files = selected(repository, commit, globs)
    folders = {""}
    for path in files:
        parts = path.split("/")
        folders.update("/".join(parts[:n]) for n in range(1, len(parts)))
    licences = {oid for mode, oid, path in entries(repository, commit)
                if mode.startswith("100") and is_license(path) and licensed_folder(path) in folders}
    return set(files.values()) | licences


def trees(repository, commit):
    rows = git(repository, "ls-tree", "-r", "-d", "--full-tree", commit).splitlines()
    listed = {row.split()[2].decode() for row in rows if row.split()[1] == b"tree"}
    return listed | {git(repository, "rev-parse", commit + "^{tree}").decode().strip()}


def pack_bytes(repository, objects):
    """The size of a pack of exactly these objects, deltas and all."""
    ids = "".join(f"{oid}\n" for oid in sorted(objects)).encode()
    return len(git(repository, "pack-objects", "--stdout", "--delta-base-offset", "-q", stdin=ids))


class Repository:
    """One bare repository that is served, and what a job takes of it."""

    def __init__(self, name, path, include):
        self.name, self.path, self.include = name, pathlib.Path(path), include
        git(path, "config", "uploadpack.allowFilter", "true")
        git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
        self.before = git(path, "rev-parse", BRANCH).decode().strip()
        self.files = selected(path, self.before, include)
        self.after = self._commit_on_top()
        self.ideal = self._ideal_bytes()

    def _commit_on_top(self):
        """A commit that adds a line to three of the selected files; returns its id."""
        env = {"GIT_INDEX_FILE": str(self.path / "bench-index")}
        git(self.path, "read-tree", self.before, **env)
        paths = sorted(self.files)
        for path in {paths[len(paths) * n // 3] for n in range(3)}:
            text = git(self.path, "cat-file", "blob", self.files[path]) + b"\n# changed\n"
            oid = git(self.path, "hash-object", "-w", "--stdin", stdin=text).decode().strip()
            git(self.path, "update-index", "--cacheinfo", f"100644,{oid},{path}", **env)
        tree = git(self.path, "write-tree", "--missing-ok", **env).decode().strip()
        return git(self.path, "commit-tree", "-p", self.before, "-m", "change", tree).decode().strip()

    def _ideal_bytes(self):
        """{state: bytes of a pack of exactly what is new and wanted}"""
        sets = [{c} | trees(self.path, c) | wanted_blobs(self.path, c, self.include) for c in (self.before, self.after)]
        return {"cold": pack_bytes(self.path, sets[0]), "unchanged": 0,
                "changed": pack_bytes(self.path, sets[1] - sets[0])}

    def publish(self, commit):
        git(self.path, "update-ref", BRANCH, commit)

    def folders(self):
        """The folders that a sparse checkout needs for the globs; none if it needs them all."""
        plain = []
        for glob in (g for text in self.include for g in expand_braces(text)):
            parts = glob.split("/")[:-1]
            wild = next((n for n, part in enumerate(parts) if re.search(r"[*?\[]", part)), len(parts))
            plain.append("/".join(parts[:wild]))
        return [] if "" in plain else sorted(set(plain))


# ---------------------------------------------------------------- made by script

def source_text(random_numbers, lines):
    """Lines that look like a kernel's, and compress like them."""
    body = "\n".join("    " + " = ".join(random_numbers.choices(WORDS, k=2)) + f" * {random_numbers.randrange(10**6)}"
                     for _ in range(lines))
    return f"import triton\n\n\n@triton.jit\ndef kernel(x):\n{body}\n"


def fast_import(path, commits):
    """Makes a bare repository of [{path: text}], each commit on top of the one before."""
    subprocess.run(["git", "init", "-q", "--bare", "--template=", str(path)], check=True, env=environment())
    git(path, "symbolic-ref", "HEAD", BRANCH)
    stream = bytearray()
    for number, files in enumerate(commits):
        stream += f"commit {BRANCH}\ncommitter b <b@example.org> {1767225600 + number} +0000\ndata 1\nc\n".encode()
        for name, text in sorted(files.items()):
            data = text.encode()
            stream += f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n"
    git(path, "fast-import", "--quiet", stdin=bytes(stream))


def make(folder, name, files, wanted, commits, seed=1):
    """A repository of `files` files, 40 to a folder, the first `wanted` of them below kernels/; each commit but
    the first writes 20 of them anew."""
    numbers = random.Random(seed)
    names = [f"{'kernels' if n < wanted else 'other'}/part{n // 40:03}/file{n:05}.py" for n in range(files)]
    history = [dict({n: source_text(numbers, numbers.randrange(20, 200)) for n in names}, LICENSE="MIT License\n")]
    for _ in range(commits - 1):
        history.append({n: source_text(numbers, numbers.randrange(20, 200)) for n in numbers.sample(names, 20)})
    path = pathlib.Path(folder) / f"{name}.git"
    fast_import(path, history)
    return Repository(name, path, ["kernels/**/*.py"])


def made(folder):
    return [make(folder, "made-small", files=200, wanted=120, commits=20),
            make(folder, "made-large", files=4000, wanted=400, commits=300)]


def make_many(folder, count):
    """`count` repositories of 12 files each, for scaling; returns their paths."""
    for number in range(count):
        numbers = random.Random(number)
        files = {f"pkg/k{n}.py": source_text(numbers, 60) for n in range(12)}
        fast_import(pathlib.Path(folder) / f"many/r{number:03}.git", [dict(files, LICENSE="MIT License\n")])
    return [f"many/r{number:03}.git" for number in range(count)]


# ---------------------------------------------------------------- mirrors

def drop_missing(path, commit):
    """A commit on top without the files whose blobs the mirror lacks, so that all contenders can fetch it."""
    rows = entries(path, commit)
    ids = "".join(f"{oid}\n" for mode, oid, _ in rows if mode != "160000").encode()
    missing = {line.split()[0].decode() for line in git(path, "cat-file", "--batch-check", stdin=ids).splitlines()
               if line.endswith(b" missing")}
    env = {"GIT_INDEX_FILE": str(path / "bench-index")}
    git(path, "read-tree", commit, **env)
    gone = b"".join(b"0 %s\t%s\0" % (b"0" * 40, os.fsencode(name)) for _, oid, name in rows if oid in missing)
    git(path, "update-index", "-z", "--index-info", stdin=gone, **env)
    tree = git(path, "write-tree", "--missing-ok", **env).decode().strip()
    return git(path, "commit-tree", "-p", commit, "-m", "as mirrored", tree).decode().strip()


def mirrored(folder, mirror, include):
    """A scratch copy that borrows a mirror's objects; the mirror stays as it is."""
    name = mirror.name.replace("+", "/", 1)
    path = pathlib.Path(folder) / f"{mirror.name}.git"
    source = mirror / "repo"
    source = source / ".git" if (source / ".git").is_dir() else source
    subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", "--bare", "--shared", "--single-branch",
                    "--no-tags", str(source), str(path)], check=True, env=environment())
    head = git(path, "rev-parse", "HEAD").decode().strip()
    git(path, "update-ref", BRANCH, drop_missing(path, head))
    git(path, "symbolic-ref", "HEAD", BRANCH)
    return Repository(name, path, include)


def mirrors(folder, mirror_folder, job_includes, names):
    """Copies of the mirrors in a folder of OWNER+NAME/repo; of those named alone, if any are."""
    found = []
    for mirror in sorted(p for p in pathlib.Path(mirror_folder).iterdir() if (p / "repo").is_dir()):
        name = mirror.name.replace("+", "/", 1)
        if not names or name in names:
            include = job_includes.get(name) or INCLUDES.get(name) or ["**/*.py"]
            found.append(mirrored(folder, mirror, include))
    return found
