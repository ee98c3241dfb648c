#!/usr/bin/env python3
"""Sizes and times of a catalog's site: prints them, and is no test.

usage: bench.py SITE [SITE ...] [--repeats N]      sites that `kernelmill catalog` wrote; of several, their searches are done in turn

The first page: from the click on the address until kernels are shown, in a new window. A search: from the last letter until the
kernels and the counts of all facets are drawn, in a window of its own, from a folder:

  cold     all words at once, a second after the first page was shown
  typed    letter by letter, 80 ms each, likewise
  address  from the click on an address that has the words
  warm     the words once more

Processor time is that of the page's main thread, which what else the machine does hardly changes; a figure of the clock is worth
something on a quiet machine alone. The files are those that the cold search loads.
"""

import argparse
import os
import pathlib
import statistics

import catalog_site

QUERIES = ["softmax", "layer norm", "fused attention backward", "load store mask offsets", "matm", "ro", "tl", "con", "int8 gemm triton", "rms norm",
           "flash attention", "rotary embedding", "cross entropy loss", "w4a16", "paged", "cumsum scan", "dropout philox", "fp8 matmul", "gelu", "block size"]
# In each page before its own scripts: when the last letter came, and a promise of when an address's search is drawn.
WATCH = """
let key = 0;
addEventListener('input', (event) => { key = event.timeStamp; }, { capture: true });
window.sinceKey = (shown) => new Promise((resolve) => {
  const look = () => {
    if (document.documentElement.dataset.shown !== shown) return;
    watching.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - key)));
  };
  const watching = new MutationObserver(look);
  watching.observe(document, { attributes: true, subtree: true, attributeFilter: ['data-shown'] });
});
window.opened = sinceKey(location.hash || '#'); // since the click on the address
"""


def address_of(text):
    return "#q=" + text.replace(" ", "+")


def sizes(site):
    for folder in [".", "data", "data/rows", "data/postings", "lists", "kernels", "assets"]:
        glob = "*" if folder in (".", "data") else "**/*"
        files = [path.stat().st_size for path in (site / folder).glob(glob) if path.is_file()]
        if files:
            print(f"{folder:14} {len(files):7} files {sum(files) / 1e6:9.2f} MB, the largest {max(files) / 1e3:8.1f} KB")


class Window:
    """A new window at an address, with a browser context of its own."""

    def __init__(self, browser, address):
        self.context = browser.new_context()
        self.context.add_init_script(WATCH)
        self.page = self.context.new_page()
        self.session = self.context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.page.goto(address, wait_until="commit")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def processor(self):
        """Returns the milliseconds that the main thread has worked."""
        metrics = {one["name"]: one["value"] for one in self.session.send("Performance.getMetrics")["metrics"]}
        return 1000 * metrics["TaskDuration"]

    def search(self, text, delay=0):
        """Types a search, `delay` ms between letters (0: at once); returns milliseconds by the clock and of the processor."""
        self.page.evaluate("const box = document.getElementById('q'); box.focus(); box.select()")
        self.page.evaluate("shown => { window.searched = sinceKey(shown); }", address_of(text))
        before = self.processor()
        if delay:
            self.page.keyboard.type(text, delay=delay)
        else:
            self.page.keyboard.insert_text(text)
        clock = self.page.evaluate("searched")
        return clock, self.processor() - before

    def opened(self):
        """Returns milliseconds by the clock, and of the processor, until the address's kernels were drawn."""
        return self.page.evaluate("opened"), self.processor()

    def rest(self):
        """Waits for the first page, and then as long as a reader looks at it."""
        self.opened()
        self.page.wait_for_timeout(1000)


def first_page(browser, home):
    with Window(browser, home) as window:
        return window.opened()


def searches(browser, home, text):
    """Measures a search in each way; returns the times by way, and the addresses that the page requested."""
    times = {}
    asked = []
    with Window(browser, home) as window:
        window.rest()
        window.page.on("request", lambda request: asked.append(request.url))
        times["cold"] = window.search(text)
        window.search("nosuchwordatall")
        times["warm"] = window.search(text)
    with Window(browser, home) as window:
        window.rest()
        times["typed"] = window.search(text, delay=80)
    with Window(browser, home + address_of(text)) as window:
        times["address"] = window.opened()
    return times, asked


def show(values):
    return f"{statistics.median(values):6.0f} / {max(values):5.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="+", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if catalog_site.MISSING:
        parser.exit(77, catalog_site.MISSING + "\n")
    homes = [(site.resolve() / "index.html").as_uri() for site in options.sites]
    taken = [{} for _ in homes]  # for each site: {way: {query: [(clock, processor)]}}
    first = [[] for _ in homes]
    files = [{} for _ in homes]
    with catalog_site.browser() as browser:
        for _ in range(options.repeats):
            for site, home in enumerate(homes):
                first[site].append(first_page(browser, home))
            for text in QUERIES:
                for site, home in enumerate(homes):
                    times, asked = searches(browser, home, text)
                    files[site][text] = sum("/postings/" in url for url in asked), sum("/rows/" in url for url in asked)
                    for way, time in times.items():
                        taken[site].setdefault(way, {}).setdefault(text, []).append(time)
    print(f"load of the machine: {os.getloadavg()[0]:.1f}; milliseconds")
    for site, path in enumerate(options.sites):
        print(f"== {path}")
        sizes(path)
        clock, processor = zip(*first[site])
        print(f"first page, median / worst: {show(clock)}, processor {show(processor)}")
        for text in QUERIES:
            ways = "  ".join(f"{way} {statistics.median(time for time, _ in by[text]):5.0f} ({statistics.median(time for _, time in by[text]):4.0f})"
                             for way, by in taken[site].items())
            print(f"{text!r:28} {ways}  files: {files[site][text][0]} of words, {files[site][text][1]} of rows")
        for way, by in taken[site].items():
            clocks = [statistics.median(time for time, _ in times) for times in by.values()]
            processors = [statistics.median(time for _, time in times) for times in by.values()]
            print(f"{way:8} of {len(clocks)} queries, median / worst: {show(clocks)}, processor {show(processors)}")


if __name__ == "__main__":
    main()
