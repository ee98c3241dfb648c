"""Provides the catalog's tests with a site of made kernels, and with Debian's Chromium, driven by Playwright."""

import contextlib
import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "build/peers/browser"))  # tests/catalog/install_browser.sh

CHROMIUM = shutil.which("chromium")
try:
    from playwright.sync_api import sync_playwright
    import axe_playwright_python
    AXE = pathlib.Path(axe_playwright_python.__file__).with_name("axe.min.js")
except ImportError:
    sync_playwright = None

# The reason why the browser is missing; None if it is installed.
MISSING = None if sync_playwright and CHROMIUM else "no Playwright or no Chromium: tests/catalog/install_browser.sh"


def write(dataset, site):
    """Writes the site of a dataset with the program."""
    subprocess.run([BIN / "kernelmill", "catalog", dataset, "--out", site], check=True, capture_output=True, text=True)


@contextlib.contextmanager
def browser():
    with sync_playwright() as playwright:
        # Chromium has no sandbox for root; the pages are ours.
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield made
        finally:
            made.close()


def wait(page, expression, seconds=10):
    """Waits until a JavaScript expression of the page is true. Playwright's own runs eval, which the site's policy forbids."""
    until = time.monotonic() + seconds
    while not page.evaluate(expression):
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds} s: {expression}")
        page.wait_for_timeout(5)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """Serves a folder with a plain web server; yields its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
