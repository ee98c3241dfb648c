"""A Hub of datasets on the loopback interface, for tests: what huggingface_hub and `datasets` ask of a Hugging Face Hub, over HTTP. It
keeps repositories in memory: commits, branches, tags, regular files in the commits and large files (LFS) by digest. Writes need the
token. It has no Xet storage (HF_HUB_DISABLE_XET=1). Standard library only."""

import base64
import contextlib
import hashlib
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

TOKEN = "hf_token_of_this_test"
LARGE = (".parquet", ".bin", ".npy", ".png")  # as .gitattributes has them
LARGE_BYTES = 10 << 20
DATE = "2026-01-01T00:00:00.000Z"


class Repository:
    def __init__(self):
        self.commits, self.branches, self.tags = {}, {}, {}
        self.large = {}  # by SHA-256
        self.commit({".gitattributes": b"*.parquet filter=lfs\n"}, None)

    def commit(self, tree, parent, branch="main"):
        """`tree`: {path: the bytes of a regular file, or the digest of a large one}."""
        oid = hashlib.sha1(repr((sorted(tree.items()), parent)).encode()).hexdigest()
        self.commits[oid] = {"tree": tree, "parent": parent}
        self.branches[branch] = oid
        return oid

    def find(self, revision):
        oid = self.branches.get(revision) or self.tags.get(revision) or revision
        return oid if oid in self.commits else None

    def content(self, entry):
        return entry if isinstance(entry, bytes) else self.large.get(entry)

    def reachable(self):
        """The commits that a branch or a tag leads to."""
        found, todo = set(), [*self.branches.values(), *self.tags.values()]
        while todo:
            oid = todo.pop()
            if oid and oid not in found:
                found.add(oid)
                todo.append(self.commits[oid]["parent"])
        return found

    def texts(self):
        """All bytes that somebody who reads the repository can get."""
        for oid in self.reachable():
            for entry in self.commits[oid]["tree"].values():
                yield self.content(entry) or b""
        yield from self.large.values()


def oid_of(entry):
    """Returns git's name of a regular file, and the digest of a large one."""
    return hashlib.sha1(b"blob %d\0" % len(entry) + entry).hexdigest() if isinstance(entry, bytes) else entry


class Refused(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    # ---------------------------------------------------------------- requests

    def do_GET(self):
        self.answer()

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET

    def answer(self):
        body = harness.SourceHandler.body(self)
        path, _, query = self.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query))
        parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")]
        with self.server.lock:
            self.server.received.append((self.command, path, len(body)))
        try:
            if self.command != "GET" and self.command != "HEAD" and "paths-info" not in parts and parts[0] != "lfs":
                if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    raise Refused(401, "", "Invalid username or password.")
            self.route(parts, body)
        except Refused as error:
            self.send(error.status, json.dumps({"error": str(error)}).encode(), {"X-Error-Code": error.code, "X-Error-Message": str(error)})

    def route(self, parts, body):
        if parts[0] == "lfs":
            return self.large_file(*parts[1:], body)
        if parts[:2] == ["api", "validate-yaml"]:
            return self.reply({"errors": [], "warnings": []})
        if parts[:3] == ["api", "repos", "create"]:
            return self.create(json.loads(body))
        if parts[:2] == ["api", "datasets"] and len(parts) >= 4:
            return self.api("/".join(parts[2:4]), parts[4:] or ["info"], body)
        if parts[0] == "datasets" and len(parts) >= 5:
            name = "/".join(parts[1:3]).removesuffix(".git")
            if parts[3] == "resolve":
                return self.resolve(self.repository(name), parts[4], "/".join(parts[5:]))
            if parts[3:] == ["info", "lfs", "objects", "batch"]:
                return self.batch(name, json.loads(body))
        raise Refused(404, "", f"no such endpoint: {self.command} {'/'.join(parts)}")

    def api(self, name, parts, body):
        repository, action, rest = self.repository(name), parts[0], parts[1:]
        if action in ("info", "revision"):
            return self.info(name, repository, rest[0] if rest else "main")
        if action == "refs":
            rows = {kind: [{"name": n, "ref": f"refs/{ref}/{n}", "targetCommit": oid} for n, oid in sorted(refs.items())]
                    for kind, ref, refs in (("branches", "heads", repository.branches), ("tags", "tags", repository.tags))}
            return self.reply({**rows, "converts": [], "pullRequests": []})
        if action == "preupload":
            return self.preupload(repository, rest[0], json.loads(body)["files"])
        if action == "commit":
            return self.commit(name, repository, rest[0], body)
        if action == "tag":
            return self.tag(repository, rest[0], body)
        if action == "tree":
            return self.tree(repository, rest[0], "/".join(rest[1:]))
        if action == "paths-info":
            asked = urllib.parse.parse_qs(body.decode())["paths"]
            tree = self.revision(repository, rest[0])[1]["tree"]
            return self.reply([self.entry(repository, path, tree[path]) for path in asked if path in tree])
        if action == "super-squash":
            tree = self.revision(repository, rest[0])[1]["tree"]
            repository.commit(tree, None, rest[0])
            return self.reply({})
        if action == "lfs-files" and rest == ["batch"]:
            for sha in json.loads(body)["deletions"]["sha"]:
                del repository.large[sha]
            return self.reply({})
        if action == "lfs-files":
            return self.reply([{"fileOid": sha, "oid": sha, "filename": sha, "pushedAt": DATE, "size": len(content), "ref": None}
                               for sha, content in repository.large.items()])
        raise Refused(404, "", f"no such endpoint: {action}")

    # ---------------------------------------------------------------- repositories

    def repository(self, name):
        if name not in self.server.repositories:
            raise Refused(404, "RepoNotFound", "Repository not found")
        return self.server.repositories[name]

    def revision(self, repository, revision):
        oid = repository.find(revision)
        if oid is None:
            raise Refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return oid, repository.commits[oid]

    def create(self, asked):
        name = f"{asked['organization']}/{asked['name']}"
        if name in self.server.repositories:
            raise Refused(409, "", "You already created this dataset repo")
        self.server.repositories[name] = Repository()
        self.server.private[name] = asked.get("visibility") == "private"
        self.reply({"url": f"{self.server.url}/datasets/{name}", "name": name, "id": "1"})

    def info(self, name, repository, revision):
        oid, commit = self.revision(repository, revision)
        self.reply({"_id": "1", "id": name, "sha": oid, "private": self.server.private[name], "gated": False, "disabled": False, "tags": [],
                    "downloads": 0, "likes": 0, "lastModified": DATE, "createdAt": DATE, "author": name.split("/", maxsplit=1)[0],
                    "siblings": [{"rfilename": path} for path in sorted(commit["tree"])]})

    def preupload(self, repository, revision, files):
        tree = self.revision(repository, revision)[1]["tree"]
        self.reply({"files": [
            {"path": file["path"], "shouldIgnore": False,
             "uploadMode": "lfs" if file["path"].endswith(LARGE) or file["size"] > LARGE_BYTES else "regular",
             **({"oid": oid_of(tree[file["path"]])} if file["path"] in tree else {})} for file in files]})

    def batch(self, name, asked):
        repository = self.repository(name)
        objects = [{**row, "actions": {"upload": {"href": f"{self.server.url}/lfs/{name}/{row['oid']}"}}}
                   if row["oid"] not in repository.large else row for row in asked["objects"]]
        self.reply({"transfer": "basic", "objects": objects}, "application/vnd.git-lfs+json")

    def large_file(self, owner, name, oid, body):
        """The upload of a large file, by the address that batch() gave."""
        if self.command != "PUT" or hashlib.sha256(body).hexdigest() != oid:
            raise Refused(400, "", "the digest differs")
        self.server.repositories[f"{owner}/{name}"].large[oid] = body
        self.reply({})
        self.server.on_upload(oid)

    def commit(self, name, repository, branch, body):
        head, commit = self.revision(repository, branch)
        tree, rows = dict(commit["tree"]), [json.loads(line) for line in body.splitlines()]
        parent = rows[0]["value"].get("parentCommit")
        if parent not in (None, head):
            raise Refused(412, "", "A commit has happened since. Please refresh and try again.")
        for row in rows[1:]:
            path = row["value"]["path"]
            if row["key"] == "file":
                tree[path] = base64.b64decode(row["value"]["content"])
            elif row["key"] == "lfsFile" and row["value"]["oid"] in repository.large:
                tree[path] = row["value"]["oid"]
            elif row["key"] == "deletedFile" and path in tree:
                del tree[path]
            else:
                raise Refused(400, "", f"cannot commit {row['key']} {path}")
        self.server.on_commit()
        oid = repository.commit(tree, head, branch)
        self.reply({"commitUrl": f"{self.server.url}/datasets/{name}/commit/{oid}", "commitOid": oid, "success": True, "hookOutput": ""})
        self.server.on_committed()

    def tag(self, repository, name, body):
        if self.command == "DELETE":
            if repository.tags.pop(name, None) is None:
                raise Refused(404, "RevisionNotFound", f"no tag {name}")
            return self.reply({})
        tag, oid = json.loads(body)["tag"], self.revision(repository, name)[0]
        if tag in repository.tags:
            raise Refused(409, "", "Tag reference exists already")
        repository.tags[tag] = oid
        return self.reply({})

    # ---------------------------------------------------------------- files

    def entry(self, repository, path, entry):
        size = len(repository.content(entry))
        lfs = {} if isinstance(entry, bytes) else {"lfs": {"oid": entry, "size": size, "pointerSize": 130}}
        return {"type": "file", "path": path, "size": size, "oid": oid_of(entry), **lfs}

    def tree(self, repository, revision, folder):
        tree = self.revision(repository, revision)[1]["tree"]
        below = {path: entry for path, entry in tree.items() if not folder or path.startswith(folder + "/")}
        if folder and not below:
            raise Refused(404, "EntryNotFound", f"{folder} does not exist on {revision}")
        rows, start = {}, len(folder) + 1 if folder else 0
        for path, entry in sorted(below.items()):
            names = path[start:].split("/")
            recursive = self.query.get("recursive", "").lower() in ("true", "1")
            for depth in range(1, len(names) if recursive else min(2, len(names))):
                directory = path[:start] + "/".join(names[:depth])
                rows[directory] = {"type": "directory", "path": directory, "size": 0, "oid": "0" * 40}
            if recursive or len(names) == 1:
                rows[path] = self.entry(repository, path, entry)
        self.reply(list(rows.values()))

    def resolve(self, repository, revision, path):
        oid, commit = self.revision(repository, revision)
        headers = {"X-Repo-Commit": oid}
        entry = commit["tree"].get(path)
        content = None if entry is None else repository.content(entry)
        if content is None:
            return self.send(404, b"Entry not found", {**headers, "X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"})
        headers.update({"ETag": f'"{oid_of(entry)}"', "Accept-Ranges": "bytes"})
        wanted = self.headers.get("Range", "")
        if not wanted.startswith("bytes="):
            return self.send(200, content, headers)
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        begin = int(first) if first else max(0, len(content) - int(last))
        end = min(int(last), len(content) - 1) if first and last else len(content) - 1
        return self.send(206, content[begin:end + 1], {**headers, "Content-Range": f"bytes {begin}-{end}/{len(content)}"})

    def reply(self, value, kind="application/json"):
        self.send(200, json.dumps(value).encode(), {"Content-Type": kind})

    def send(self, status, content, headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextlib.contextmanager
def hub():
    """A Hub: `url`, `repositories` by name, and `received`, the requests as (method, path, bytes of the body). Tests may replace
    `on_upload`, `on_commit` and `on_committed`, which are called then."""
    with harness.serving(Handler, lock=threading.Lock(), repositories={}, private={}, received=[],
                         handle_error=lambda *_: None,  # a client that was killed
                         on_upload=lambda oid: None, on_commit=lambda: None, on_committed=lambda: None) as server:
        yield server
