"""Serves GitHub's REST API for a few repositories on the loopback interface: searches, look-ups, entity tags and
rate limits, as far as `discover` asks for them. Standard library only."""

import hashlib
import http.server
import json
import re
import threading
import urllib.parse

import harness

REACHABLE = 1000  # rows of a search


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path, _, query = self.path.partition("?")
        server = self.server
        with server.lock:
            server.asked.append(self.path)
            refusal = server.refusals.pop(0) if server.refusals else None
        if refusal:
            return self._reply(*refusal)
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token != server.token and (token or path == "/search/code"):
            return self._reply(401, {"message": "Bad credentials" if token else "Requires authentication"})
        if path in ("/search/repositories", "/search/code"):
            return self._reply(*search(server.repositories, path, dict(urllib.parse.parse_qsl(query))))
        found = [r for r in server.repositories if path == f"/repos/{r['full_name']}"]
        return self._reply(200, row(found[0])) if found else self._reply(404, {"message": "Not Found"})

    def _reply(self, code, body, headers=()):
        text = json.dumps(body).encode()
        tag = f'W/"{hashlib.sha256(text).hexdigest()}"'
        if code == 200 and self.headers.get("If-None-Match") == tag:
            code, text = 304, b""
            self.server.not_modified += 1
        self.send_response(code)
        if code in (200, 304):
            self.send_header("ETag", tag)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        if code != 304:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def row(repository):
    """As an answer shows it: without what only the stub knows."""
    return {key: value for key, value in repository.items() if key not in ("readme", "code")}


def search(repositories, path, query):
    conditions = {"stars": (0, float("inf")), "language": None, "topics": [], "words": [], "forks": False,
                  "archived": True}
    for word, name, value in re.findall(r'"([^"]*)"|(\w+):("[^"]*"|\S+)', query.get("q", "")):
        if not name:
            conditions["words"].append(word)
        elif name == "stars":
            low, _, high = value.removeprefix(">=").partition("..")
            conditions["stars"] = (int(low), int(high) if high else float("inf"))
        elif name == "language":
            conditions["language"] = value.strip('"')
        elif name == "topic":
            conditions["topics"].append(value)
        elif (name, value) == ("archived", "false"):
            conditions["archived"] = False
        elif (name, value) == ("fork", "true"):
            conditions["forks"] = True
        elif (name, value) not in (("in", "readme"), ("is", "public")):
            return 422, {"message": "Validation Failed", "errors": [{"message": f"{name} is unknown"}]}
    code = path == "/search/code"
    rows = [r for r in repositories if matches(r, conditions, "code" if code else "readme")]
    rows.sort(key=lambda r: -r["stargazers_count"])
    size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
    if (page - 1) * size >= REACHABLE:
        return 422, {"message": "Only the first 1000 search results are available"}
    items = [{"path": "k.py", "repository": row(r)} if code else row(r)
             for r in rows[:REACHABLE][(page - 1) * size:page * size]]
    return 200, {"total_count": len(rows), "incomplete_results": False, "items": items}


def matches(repository, conditions, text):
    low, high = conditions["stars"]
    return (low <= repository["stargazers_count"] <= high
            and conditions["language"] in (None, repository["language"])
            and all(topic in repository["topics"] for topic in conditions["topics"])
            and all(word in repository[text] for word in conditions["words"])
            and (conditions["forks"] or not repository["fork"])
            and (conditions["archived"] or not repository["archived"]))


def repository(name, url, stars, **more):
    """A repository at `url`, as git is to fetch it."""
    return {"full_name": name, "html_url": url, "stargazers_count": stars, "language": "Python", "topics": [],
            "fork": False, "archived": False, "private": False, "disabled": False, "readme": "", "code": "", **more}


def github(repositories, token=""):
    """Serves the API of these repositories at `.url`. `.refusals` are answered first: (code, body, headers)."""
    return harness.serving(_Handler, repositories=list(repositories), token=token, asked=[], refusals=[],
                           not_modified=0, lock=threading.Lock())
