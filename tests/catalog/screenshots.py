#!/usr/bin/env python3
"""Takes pictures of the catalog of a dataset and of the page of jobs of a cluster, as a person sees them: on a desktop and on a phone, light and dark.

usage: screenshots.py DATASET OUT [--job FILE] [--query WORDS]

DATASET is a real dataset. A cluster is started (kernelmill dev), and runs FILE, or a job of tests/data with a source that fails.
OUT gets PAGE-VIEW.png. Prints what axe and the width of each page find; exits 1 if they find anything."""

import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile

import catalog_site

sys.path.insert(0, str(catalog_site.ROOT / "tests/integration"))
import dev_test  # noqa: E402
import harness  # noqa: E402

KERNELMILL = catalog_site.BIN / "kernelmill"
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
VIEWS = {"desktop": DESKTOP, "phone": PHONE, "dark": {**DESKTOP, "color_scheme": "dark"}, "phone-dark": {**PHONE, "color_scheme": "dark"}}
TALLEST = 3000  # pixels of a picture; the rest of a longer page is left out
JOB = f"""name: pictures
sources:
  - path: {catalog_site.ROOT}/tests/data/kernels-repo
    include: ["**/*.py", "**/*.pyx"]
  - path: {catalog_site.ROOT}/tests/data/no-such-folder
"""


@contextlib.contextmanager
def cluster(folder, job):
    """Starts a cluster and runs a job on it; yields the address of its page."""
    first, page = dev_test.free_ports(), harness.free_port()
    log = folder / "dev.log"
    with log.open("w") as out:
        dev = subprocess.Popen([KERNELMILL, "dev", "--data", folder / "data", "--first-port", str(first), "--page-port", str(page),
                                "--allow-local", "/"], stdout=out, stderr=out)
    try:
        harness.wait_until(lambda: "The cluster runs" in log.read_text(), "the cluster", 60)
        addresses = ["--coordinator", f"127.0.0.1:{first}", "--store", f"127.0.0.1:{first + 1}"]
        subprocess.run([KERNELMILL, "submit", job, "--wait", "--out", folder / "made", *addresses], check=False, capture_output=True)
        yield f"http://127.0.0.1:{page}/"
    finally:
        dev.terminate()
        dev.wait()


def interesting(dataset):
    """The path of the page of the kernel to show: one that ran, if the dataset has tasks, with a module that is neither short nor long."""
    file = next(dataset / name for name in ("tasks.jsonl", "kernels.jsonl") if (dataset / name).exists())
    with file.open(encoding="utf-8") as lines:
        kernels = [(abs(row["module"].count("\n") - 60), row["id"]) for row in map(json.loads, lines) if row.get("role") == "kernel"]
    kernel = min(kernels)[1]
    return f"kernels/{kernel[:2]}/{kernel}.html"


def findings(page):
    # axe looks at what is shown: without folds, at all of the page.
    page.evaluate("document.querySelectorAll('details').forEach(folded => folded.open = true)")
    page.wait_for_timeout(300)
    page.evaluate(catalog_site.AXE.read_text())
    found = [f"axe: {one['id']}: {one['nodes'][0]['html'][:150]}" for one in page.evaluate("axe.run().then(found => found.violations)")]
    width, shown = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return found + ([f"{width} px wide, {shown} are shown"] if width > shown else [])


def take(page, address, ready, out):
    """Takes one picture; returns what is wrong with the page."""
    page.goto("about:blank")  # else another hash would load nothing
    page.goto(address)
    page.wait_for_selector(ready)
    page.wait_for_timeout(300)  # facets are counted once the page is idle
    if address.endswith("#execution"):  # a folded section, which its address opens
        page.locator("details:has(#execution)").screenshot(path=out)
    else:
        height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
        page.screenshot(path=out, full_page=True, clip={"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height})
    return findings(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--job", type=pathlib.Path)
    parser.add_argument("--query", default="rmsnorm with residual")
    options = parser.parse_args()
    if catalog_site.MISSING:
        sys.exit(f"screenshots.py: {catalog_site.MISSING}")
    options.out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelmill-pictures-")))
        job = options.job or folder / "pictures.yaml"
        if not options.job:
            job.write_text(JOB)
        catalog_site.write(options.dataset, folder / "site")
        site = stack.enter_context(catalog_site.served(folder / "site"))
        jobs = stack.enter_context(cluster(folder, job))
        kernel = interesting(options.dataset)
        pages = {"landing": (f"{site}/index.html", "#results a.kernel"),
                 "search": (f"{site}/index.html#q={options.query.replace(' ', '+')}", "#results a.kernel"),
                 "nothing": (f"{site}/index.html#q=nosuchwordatall", "#status:not(:empty)"),
                 "kernel": (f"{site}/{kernel}", "h1"),
                 **({"evidence": (f"{site}/{kernel}#execution", "#execution")} if (options.dataset / "tasks.jsonl").exists() else {}),
                 "operations": (f"{site}/lists/index.html", "h1"),
                 "operation": (f"{site}/lists/rms_norm.html", "h1"),
                 "learn": (f"{site}/learn.html", "h1"),
                 "coverage": (f"{site}/coverage.html", "h1"),
                 "jobs": (jobs, "#job h2")}
        browser = stack.enter_context(catalog_site.browser())
        wrong = 0
        for view, settings in VIEWS.items():
            page = browser.new_context(**settings, bypass_csp=True).new_page()
            for name, (address, ready) in pages.items():
                found = take(page, address, ready, options.out / f"{name}-{view}.png")
                wrong += len(found)
                print(f"{name}-{view}: {'; '.join(found) or 'nothing found'}")
        print(f"{len(VIEWS) * len(pages)} pictures in {options.out}, {wrong} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
