#!/usr/bin/env python3
"""Sizes and times of a catalog's site: prints them, and is no test.

usage: bench.py SITE [REPEATS]      a site that `kernelmill catalog` wrote

The first page: from the click on the address until kernels are shown, in a new window. A search: from the last letter until the
kernels and the counts of all facets are shown; `cold` with nothing loaded but the first page's columns, `warm` once more. From a folder.
The files are those that the cold search loads: a figure that does not depend on what else the machine does.
"""

import pathlib
import statistics
import sys

import catalog_site

QUERIES = ["softmax", "layer norm", "fused attention backward", "load store mask offsets", "matm", "ro", "tl", "con", "int8 gemm triton"]
NOTHING = "nosuchwordatall"  # a search that loads the columns and no rows
SHOWN = "document.getElementById('results').childElementCount > 0"


def sizes(site):
    for folder in [".", "data", "data/rows", "data/postings", "lists", "kernels", "assets"]:
        glob = "*" if folder in (".", "data") else "**/*"
        files = [path.stat().st_size for path in (site / folder).glob(glob) if path.is_file()]
        if files:
            print(f"{folder:14} {len(files):7} files {sum(files) / 1e6:9.2f} MB, the largest {max(files) / 1e3:8.1f} KB")


def first_page(browser, home):
    context = browser.new_context()
    page = context.new_page()
    page.goto(home)
    catalog_site.wait(page, SHOWN)
    # Until the page was drawn with the kernels in it.
    taken = page.evaluate("""() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime
                             ?? performance.now()""")
    shown = page.evaluate("performance.getEntriesByName('kernels-shown')[0].startTime")
    context.close()
    return max(taken, shown)


def search(page, text):
    """Milliseconds, as the page itself took them."""
    page.evaluate("delete document.documentElement.dataset.searchMs")
    page.fill("#q", text)
    catalog_site.wait(page, "document.documentElement.dataset.searchMs")
    return float(page.evaluate("document.documentElement.dataset.searchMs"))


def searches(browser, home, repeats):
    for text in QUERIES:
        cold, first, warm, files = [], [], [], []
        for _ in range(repeats):
            context = browser.new_context()
            page = context.new_page()
            page.goto(f"{home}#q={NOTHING}")
            catalog_site.wait(page, "document.documentElement.dataset.searchMs")
            asked = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            cold.append(search(page, text))
            first.append(float(page.evaluate("document.documentElement.dataset.firstMs")))
            files.append((sum("/postings/" in url for url in asked), sum("/rows/" in url for url in asked)))
            search(page, NOTHING)
            warm.append(search(page, text))
            context.close()
        print(f"{text!r:28} cold {statistics.median(cold):7.1f} ms, the first kernel {statistics.median(first):7.1f} ms, "
              f"warm {statistics.median(warm):7.1f} ms, the slowest {max(cold + warm):7.1f} ms; files: {files[-1][0]} of words, {files[-1][1]} of rows")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if catalog_site.MISSING:
        sys.exit(catalog_site.MISSING)
    site = pathlib.Path(sys.argv[1]).resolve()
    repeats = int(sys.argv[2]) if len(sys.argv) == 3 else 5
    sizes(site)
    home = (site / "index.html").as_uri()
    with catalog_site.browser() as browser:
        times = [first_page(browser, home) for _ in range(repeats)]
        print(f"first page: {statistics.median(times):.0f} ms, the slowest {max(times):.0f} ms")
        searches(browser, home, repeats)


if __name__ == "__main__":
    main()
