#!/usr/bin/env python3
"""Follows every link within a site, of all its pages: a page, a script or a style that is not there, an anchor that the page does not
have, an element that a button names and that is not there, an id that two elements have, or anything that would be loaded from elsewhere.

usage: links.py SITE      prints what is wrong; exit 1 if anything is
"""

import html.parser
import pathlib
import sys
import urllib.parse

REFERENCES = {"href", "src", "data-copy", "data-download", "aria-labelledby", "aria-describedby", "for"}
# Schemes of links that may leave the site; a page loads nothing from there.
OUTSIDE = {"http", "https", "mailto"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.ids, self.twice, self.references = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                (self.twice if value in self.ids else self.ids).add(value)
            elif name in REFERENCES and value is not None:
                self.references.append((tag, name, value))
            elif name.startswith("on") or name == "style":
                self.references.append((tag, name, value))


def wrong_of(site, path, page, pages):
    for name in page.twice:
        yield f"the id {name} is there twice"
    for tag, name, value in page.references:
        if name.startswith("on") or name == "style":
            yield f"<{tag} {name}>: the page's policy forbids it"
        elif name in ("href", "src"):
            yield from wrong_link(site, path, tag, value, pages)
        elif missing := [one for one in value.split() if one not in page.ids]:
            yield f"<{tag} {name}> names {missing[0]!r}, which no element is"


def wrong_link(site, path, tag, value, pages):
    url = urllib.parse.urlsplit(value)
    if url.scheme == "data" and tag == "a":
        return
    if url.scheme or url.netloc:
        if tag != "a" or url.scheme not in OUTSIDE:
            yield f"<{tag}> leads to {value[:80]!r}"
        return
    target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
    if not target.is_relative_to(site) or not target.is_file():
        yield f"<{tag}> leads to {value!r}, which is not there"
    elif url.fragment and target.suffix == ".html" and target.name != "index.html":
        if urllib.parse.unquote(url.fragment) not in pages(target).ids:
            yield f"<{tag}> leads to {value!r}, which has no such anchor"


def check(site):
    """Checks a site; returns the problems as lines, and the numbers of pages and links."""
    site = pathlib.Path(site).resolve()
    kept = {}

    def page_of(path):
        if path not in kept:
            kept[path] = Page(path.read_text(encoding="utf-8"))
        return kept[path]

    paths = sorted(site.rglob("*.html"))
    wrong = [f"{path.relative_to(site)}: {line}" for path in paths for line in wrong_of(site, path, page_of(path), page_of)]
    return wrong, len(paths), sum(len(page.references) for page in kept.values())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found, pages, links = check(sys.argv[1])
    print("\n".join(found))
    print(f"{pages} pages, {links} links, {len(found)} wrong")
    sys.exit(1 if found or not pages else 0)
