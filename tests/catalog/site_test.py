"""Tests the catalog's site as a person uses it: in a Chromium, from a folder and from a server, with and without scripts."""

import collections
import hashlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

import catalog_site
import links
import made_dataset

KERNELS = 400


def files_of(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        made_dataset.write(cls.work / "dataset", KERNELS)
        cls.rows = list(made_dataset.rows(KERNELS))
        cls.site = cls.work / "it's a #site"  # as people name folders
        catalog_site.write(cls.work / "dataset", cls.site)
        cls.home = (cls.site / "index.html").as_uri()
        cls.browser = cls.enterClassContext(catalog_site.browser())

    def page(self, address="", home=None, **options):
        """Opens a window at the first page; records its requests in self.requests, its messages and errors in self.said."""
        context = self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.addCleanup(context.close)
        page = context.new_page()
        self.requests, self.said = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        page.goto((home or self.home) + address)
        return page

    def open_all_facets(self, page):
        page.evaluate("for (const facet of document.querySelectorAll('#filters, #filters details')) facet.open = true")
        # The page counts a facet when it is opened, and hides a facet for which no kernel found has a value.
        catalog_site.wait(page, "[...document.querySelectorAll('#facets details:not([hidden])')].every(facet => facet.querySelector('input'))")

    def expect_found(self, page, count):
        """Waits until the page says that it found `count` kernels."""
        shown = "/([\\d,]+)(?: of [\\d,]+)? kernel/.exec(document.getElementById('status').textContent)?.[1].replace(',', '') ?? '0'"
        try:
            catalog_site.wait(page, f"({shown}) === '{count}' && document.documentElement.dataset.shown === (location.hash || '#')")
        except AssertionError:
            self.fail(f"{count} kernels are expected; the page says: {page.inner_text('#status')}")

    def names(self, page):
        return page.locator("#results a.kernel").all_inner_texts()

    def scores(self, page):
        return re.findall(r"score (\d\.\d\d)", page.inner_text("#results"))

    def first_scores(self):
        """The scores of the kernels that a search without words shows first: forward passes are before backward ones."""
        forward = [row for row in self.rows if "backward" not in row["tags"]]
        return [f"{row['quality']['score']:.2f}" for row in sorted(forward, key=lambda row: -row["quality"]["score"])]

    def best_scores(self):
        return [f"{row['quality']['score']:.2f}" for row in sorted(self.rows, key=lambda row: -row["quality"]["score"])]

    def count(self, condition):
        return sum(1 for row in self.rows if condition(row))

    # ------------------------------------------------------------ finding

    def test_the_first_page_shows_the_best_kernels_and_asks_for_nothing_elsewhere(self):
        page = self.page()
        self.expect_found(page, len(self.rows))
        self.assertEqual(self.scores(page), self.first_scores()[:20])
        page.fill("#q", "softmax")
        catalog_site.wait(page, "document.documentElement.dataset.searchMs")
        self.assertEqual([url for url in self.requests if not url.startswith("file://")], [])
        self.assertEqual(self.said, [])

    def test_the_operations_kernels_come_first(self):
        page = self.page("#q=rms+norm")
        page.wait_for_selector("#results a.kernel")
        for name in self.names(page)[:10]:
            self.assertRegex(name, "rms_?norm")

    def test_a_word_that_is_being_typed_is_a_beginning(self):
        page = self.page()
        beginning = re.search(r"(\w{4})\w*_ptr", self.rows[0]["source"])[1]
        page.fill("#q", beginning)
        texts = ("source", "path", "docstring", "qualname", "repository")
        self.expect_found(page, self.count(lambda row: re.search(
            f"(?<![a-z]){beginning}", " ".join(str(row[text]) for text in texts).lower())))

    def test_two_words_in_one_find_a_name_that_parts_them(self):
        page = self.page("#q=layernorm")
        page.wait_for_selector("#results a.kernel")
        self.assertTrue(any(re.search("layer_norm|LayerNorm", name) for name in self.names(page)), self.names(page))

    def test_words_that_no_kernel_has_together_find_those_with_some(self):
        page = self.page("#q=softmax+nosuchwordatall")
        catalog_site.wait(page, "document.documentElement.dataset.searchMs")
        self.assertTrue(page.inner_text("#status").startswith("No kernel has all"), page.inner_text("#status"))
        self.assertGreater(len(self.names(page)), 0)

    def test_a_spelling_mistake_is_read_as_the_word_that_is_meant_and_said(self):
        page = self.page("#q=sofmax")
        page.wait_for_selector("#results a.kernel")
        self.assertIn("“sofmax” was read as “softmax”", page.inner_text("#status"))
        self.assertIn("softmax", self.names(page)[0])

    def test_synonyms_find_each_other(self):
        found = []
        for word in ("gemm", "matmul"):
            page = self.page(f"#q={word}")
            page.wait_for_selector("#results a.kernel")
            found.append(re.search(r"[\d,]+", page.inner_text("#status"))[0])
        self.assertEqual(*found)

    def test_what_the_dataset_is_gives_way_to_results(self):
        page = self.page()
        self.expect_found(page, len(self.rows))
        self.assertIn(f"{len(self.rows)} kernels", page.inner_text("#about"))
        page.click("#about a")
        catalog_site.wait(page, "location.hash.startsWith('#op=')")
        catalog_site.wait(page, "document.getElementById('about').hidden")

    def test_nothing_found_is_said(self):
        page = self.page("#q=nosuchwordatall")
        catalog_site.wait(page, "document.getElementById('status').textContent.startsWith('No matches')")
        self.assertEqual(self.names(page), [])

    def test_facets_count_and_narrow_as_the_dataset_says(self):
        page = self.page()
        self.expect_found(page, len(self.rows))
        self.open_all_facets(page)
        for key, values in {
            "op": collections.Counter(tag for row in self.rows for tag in set(row["tags"]) - {"backward"}),
            "licence": collections.Counter(row["license"]["expression"] for row in self.rows),
            "lang": collections.Counter(row["dsl"] for row in self.rows),
            "feature": collections.Counter(feature for row in self.rows for feature in row["features"]),
            "self": collections.Counter("yes" if row["self_contained"] else "no" for row in self.rows),
            "dir": collections.Counter("backward" if "backward" in row["tags"] else "forward" for row in self.rows),
            "compile": collections.Counter(f"{result['toolchain']} · {result['target']}" for row in self.rows if row["compile"]
                                           for result in row["compile"]["results"] if result["status"] == "ok"),
            "test": {"yes": self.count(lambda row: row["launcher"])},
        }.items():
            for value, count in list(dict(values).items())[:4]:
                shown = page.locator(f'input[data-facet="{key}"][value={json.dumps(value)}]')
                if shown.count() == 0:
                    continue  # behind "show all"
                label = shown.locator("xpath=..").locator(".count").text_content()
                self.assertEqual(int(label.replace(",", "")), count, f"{key}={value}")
        box = page.locator('input[data-facet="licence"][value="MIT"]')
        box.check()
        self.expect_found(page, self.count(lambda row: row["license"]["expression"] == "MIT"))
        page.locator('input[data-facet="licence"][value="BSD-3-Clause"]').check()
        self.expect_found(page, self.count(lambda row: row["license"]["expression"] in ("MIT", "BSD-3-Clause")))
        page.locator('input[data-facet="op"][value="matmul"]').check()
        page.locator('input[data-facet="op"][value="quantization"]').check()
        self.expect_found(page, self.count(lambda row: row["license"]["expression"] in ("MIT", "BSD-3-Clause")
                                           and {"matmul", "quantization"} <= set(row["tags"])))

    def test_a_facet_that_is_opened_later_counts_what_is_found(self):
        page = self.page("#q=softmax&lang=triton")
        found = [row for row in self.rows if "softmax" in row["source"] + row["path"] + " ".join(row["tags"]) and row["dsl"] == "triton"]
        self.expect_found(page, len(found))
        self.assertEqual(page.locator('input[data-facet="self"]').count(), 0)
        page.locator('[data-facet-box="self"] > summary').click()
        page.wait_for_selector('input[data-facet="self"]')
        label = page.locator('input[data-facet="self"][value="yes"]').locator("xpath=..").locator(".count").text_content()
        self.assertEqual(int(label), sum(row["self_contained"] for row in found))

    def test_sorting_by_size_shows_the_shortest_first(self):
        page = self.page("#sort=short")
        catalog_site.wait(page, "document.documentElement.dataset.searchMs")
        shown = [int(re.search(r"(\d+) tokens", text)[1]) for text in page.locator("#results .facts").all_inner_texts()]
        self.assertEqual(shown, sorted(row["tokens"]["cl100k_base"] for row in self.rows)[:20])

    def test_all_repositories_can_be_shown(self):
        page = self.page()
        self.expect_found(page, len(self.rows))
        page.locator('[data-facet-box="repo"] > summary').click()
        page.wait_for_selector('input[data-facet="repo"]')
        more = page.locator('[data-more="repo"]')
        if more.count():
            more.click()
            catalog_site.wait(page, "document.querySelector('[data-more=\"repo\"]').textContent === 'Show fewer'")
        self.assertEqual(page.locator('input[data-facet="repo"]').count(), len({row["repository"] for row in self.rows}))

    # ------------------------------------------------------------ the address

    def test_an_address_brings_the_same_search_to_somebody_else(self):
        page = self.page()
        page.fill("#q", "softmax")
        page.locator('input[data-facet="dir"][value="backward"]').check()
        page.select_option("#sort", "long")
        self.expect_found(page, found := self.count(
            lambda row: "backward" in row["tags"] and "softmax" in row["source"] + row["path"] + " ".join(row["tags"])))
        catalog_site.wait(page, "location.hash.includes('sort=long')")
        names, address = self.names(page), page.evaluate("location.hash")
        other = self.page(address)
        self.expect_found(other, found)
        self.assertEqual(self.names(other), names)
        self.assertEqual(other.input_value("#q"), "softmax")
        self.assertEqual(other.input_value("#sort"), "long")
        self.assertTrue(other.locator('input[data-facet="dir"][value="backward"]').is_checked())

    def test_back_goes_search_by_search_and_not_letter_by_letter(self):
        page = self.page()
        page.locator("#q").press_sequentially("matmul")
        self.expect_found(page, matmuls := self.found_by_word("matmul"))
        page.locator('input[data-facet="lang"][value="cuda"]').check()
        catalog_site.wait(page, "location.hash.includes('lang=cuda')")
        page.go_back()
        self.expect_found(page, matmuls)
        self.assertEqual(page.input_value("#q"), "matmul")
        page.go_back()
        self.expect_found(page, len(self.rows))
        self.assertEqual(page.input_value("#q"), "")
        page.go_forward()
        self.expect_found(page, matmuls)

    def found_by_word(self, word):
        return self.count(lambda row: word in row["source"] + row["path"] + " ".join(row["tags"]))

    def test_further_pages_go_on_where_the_last_ended(self):
        page = self.page("#sort=score")
        page.wait_for_selector("#pages a[rel=next]")
        page.click("#pages a[rel=next]")
        catalog_site.wait(page, "location.hash.includes('page=2') && document.getElementById('results').start === 21")
        self.expect_found(page, len(self.rows))
        self.assertEqual(self.scores(page), self.best_scores()[20:40])
        further = self.kernels(page)
        page.go_back()
        self.expect_found(page, len(self.rows))
        self.assertEqual(further & self.kernels(page), set())

    def kernels(self, page):
        return {link.get_attribute("href") for link in page.locator("#results a.kernel").all()}

    # ------------------------------------------------------------ by hand

    def test_the_keyboard_is_enough(self):
        page = self.page()
        page.wait_for_selector("#results a.kernel")
        page.keyboard.press("/")
        page.keyboard.type("softmax")
        self.expect_found(page, self.found_by_word("softmax"))
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        focused = "document.activeElement.textContent"
        self.assertEqual(page.evaluate(focused), self.names(page)[1])
        page.keyboard.press("Escape")
        self.assertEqual(page.evaluate("document.activeElement.id"), "q")
        page.keyboard.press("ArrowDown")
        name = page.evaluate(focused)
        page.keyboard.press("Enter")
        page.wait_for_url("**/kernels/**")
        self.assertIn(name, page.inner_text("h1"))
        page.go_back()
        self.expect_found(page, self.found_by_word("softmax"))
        page.keyboard.press("/")
        page.keyboard.press("Escape")
        self.expect_found(page, len(self.rows))

    def test_a_phone_shows_all_of_its_width_and_folds_the_filters(self):
        page = self.page("#q=softmax", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
        page.wait_for_selector("#results a.kernel")
        self.assertFalse(page.locator("#facets").is_visible())
        page.locator("#filters > summary").click()
        page.locator('input[data-facet="op"]').first.wait_for()  # a facet's column is loaded once it is looked at
        for address in ["index.html", self.kernel_page(page), "lists/index.html", "learn.html", "coverage.html"]:
            page.goto((self.site / address).as_uri())
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 360, address)

    def kernel_page(self, page):
        return page.locator("#results a.kernel").first.get_attribute("href")

    def test_a_kernel_is_copied_exactly(self):
        row = next(row for row in self.rows if row["self_contained"])
        page = self.page(permissions=["clipboard-read", "clipboard-write"])
        page.goto((self.site / f"kernels/{row['id'][:2]}/{row['id']}.html").as_uri())
        page.locator('[data-copy="module-code"]').first.click()
        catalog_site.wait(page, "document.getElementById('status')?.textContent === 'Copied'")
        copied = page.evaluate("navigator.clipboard.readText()")
        self.assertTrue(copied.endswith("\n\n" + row["module"]))
        for line in copied.removesuffix("\n" + row["module"]).splitlines():
            self.assertTrue(line.startswith("# "), "its origin and licence are comments")

    def test_the_theme_stays_from_page_to_page(self):
        page = self.page()
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.click("button.theme")
        page.click("button.theme")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        self.assertNotEqual(light, dark)
        page.click("#results a.kernel >> nth=0")
        page.wait_for_url("**/kernels/**")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), dark)

    # ------------------------------------------------------------ without scripts, from a server

    def test_without_scripts_lists_lead_to_every_kernel(self):
        page = self.page(java_script_enabled=False)
        self.assertFalse(page.locator("#q").is_visible())
        page.click("noscript a[href='lists/softmax.html']")
        listed = page.locator("main li a")
        self.assertEqual(listed.count(), self.count(lambda row: "softmax" in row["tags"]))
        name = listed.first.inner_text()
        listed.first.click()
        self.assertIn(name, page.inner_text("h1"))
        self.assertIn("tl.load", page.text_content("main"))
        self.assertFalse(page.locator("button").first.is_visible())

    def test_a_web_server_in_a_folder_of_its_own_is_enough(self):
        with catalog_site.served(self.work) as address:
            page = self.page("#q=softmax", home=f"{address}/it's a %23site/index.html")
            self.expect_found(page, self.found_by_word("softmax"))
            self.assertEqual([url for url in self.requests if not url.startswith(address)], [])
            self.assertEqual(self.said, [])

    def test_the_program_serves_what_it_wrote(self):
        with subprocess.Popen([catalog_site.BIN / "kernelmill", "catalog", self.work / "dataset", "--out", self.work / "served",
                               "--serve", "127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as program:
            self.addCleanup(program.kill)
            address = next(found[0] for line in program.stderr if (found := re.search(r"http://\S+/", line)))
            page = self.page("#q=softmax", home=address)
            page.wait_for_selector("#results a.kernel")
            self.assertEqual(self.said, [])
            program.terminate()
            self.assertEqual(program.wait(20), 0)

    def test_it_is_served_without_a_folder_and_leaves_nothing(self):
        temp = self.work / "temp"
        temp.mkdir()
        with subprocess.Popen([catalog_site.BIN / "kernelmill", "catalog", self.work / "dataset", "--serve", "127.0.0.1:0"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "TMPDIR": str(temp)}) as program:
            self.addCleanup(program.kill)
            address = next(found[0] for line in program.stderr if (found := re.search(r"http://\S+/", line)))
            page = self.page("#q=softmax", home=address)
            page.wait_for_selector("#results a.kernel")
            program.terminate()
            self.assertEqual(program.wait(20), 0)
        self.assertEqual(list(temp.iterdir()), [])

    def test_a_port_in_use_is_said_before_anything_is_written(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            done = subprocess.run([catalog_site.BIN / "kernelmill", "catalog", self.work / "dataset", "--out", self.work / "not written",
                                   "--serve", address], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"cannot listen on {address}: in use by process ", done.stderr)
        self.assertFalse((self.work / "not written").exists())

    def test_a_data_file_that_is_missing_is_said(self):
        with catalog_site.served(self.work) as address:
            for files in ["**/postings/*", "**/rows/*"]:
                page = self.page(home=f"{address}/it's a %23site/index.html")
                page.route(files, lambda route: route.abort())
                page.fill("#q", "softmax")
                catalog_site.wait(page, "document.getElementById('status').textContent.includes('cannot be loaded')")
                page.unroute(files)
                page.fill("#q", "softmax ")
                self.expect_found(page, self.found_by_word("softmax"))

    # ------------------------------------------------------------ what must not be

    def test_hostile_text_is_shown_and_never_run(self):
        page = self.page()
        for row in self.rows[KERNELS:]:
            for address in [f"kernels/{row['id'][:2]}/{row['id']}.html", "lists/softmax.html", "lists/other.html", "lists/index.html"]:
                page.goto((self.site / address).as_uri())
                self.assertFalse(page.evaluate("'hacked' in window"), address)
            page.goto((self.site / f"kernels/{row['id'][:2]}/{row['id']}.html").as_uri())
            self.assertIn("</script><script>window.hacked=1</script>", page.text_content("main"))
        for query in ["script hacked", "onerror", "svg onload", "javascript", "proto", "quotes"]:
            page.goto("about:blank")
            page.goto(self.home + "#q=" + query.replace(" ", "+"))
            page.wait_for_selector("#results a.kernel")
            self.open_all_facets(page)
            page.mouse.move(400, 400)
            self.assertFalse(page.evaluate("'hacked' in window"), query)
        self.assertEqual([said for said in self.said if "hacked" in said or said == "dialog"], [])

    def test_hostile_names_are_found_and_shown_as_text(self):
        page = self.page("#q=onerror")
        page.wait_for_selector("#results a.kernel")
        self.assertIn("<img src=x onerror=window.hacked=1>", self.names(page))
        page.goto("about:blank")
        page.goto(self.home + "#q=lenrek")
        page.wait_for_selector("#results a.kernel")
        self.assertIn("turned_\\u202eyp.lenrek\\u202c", self.names(page))

    def test_hostile_addresses_are_only_searches(self):
        page = self.page("#q=%3Cimg+src%3Dx+onerror%3Dwindow.hacked%3D1%3E&op=%3Cb%3E&nosuch=1&page=-3&sort=%22%3E&lang=__proto__")
        catalog_site.wait(page, "document.documentElement.dataset.searchMs || document.getElementById('status').textContent")
        self.assertFalse(page.evaluate("'hacked' in window"))
        self.assertIn("<b>", page.inner_text("#chosen"))
        self.assertEqual(self.said, [])

    def test_axe_finds_nothing_serious(self):
        kernel = next(row for row in self.rows if row["launcher"])
        for scheme in ("light", "dark"):
            page = self.page("#q=softmax", color_scheme=scheme, bypass_csp=True)
            page.wait_for_selector("#results a.kernel")
            self.open_all_facets(page)
            for address in [None, f"kernels/{kernel['id'][:2]}/{kernel['id']}.html", "lists/index.html", "lists/softmax.html",
                            "learn.html", "coverage.html"]:
                if address:
                    page.goto((self.site / address).as_uri())
                page.add_script_tag(path=str(catalog_site.AXE))
                violations = page.evaluate("axe.run().then(found => found.violations)")
                serious = [f"{one['id']}: {one['nodes'][0]['html'][:200]} ({len(one['nodes'])})" for one in violations
                           if one["impact"] in ("serious", "critical")]
                self.assertEqual(serious, [], f"{address}, {scheme}")

    def test_every_link_leads_somewhere(self):
        wrong, pages, count = links.check(self.site)
        self.assertEqual(wrong, [])
        self.assertGreater(pages, KERNELS)
        self.assertGreater(count, KERNELS)

    def test_no_file_is_above_a_megabyte(self):
        self.assertEqual([str(path) for path in self.site.rglob("*") if path.stat().st_size > 1 << 20], [])

    def test_made_again_it_has_the_same_bytes(self):
        again = self.work / "again"
        catalog_site.write(self.work / "dataset", again)
        self.assertEqual(files_of(again), files_of(self.site))

    def test_the_script_cuts_words_as_the_writer_does(self):
        web = catalog_site.ROOT / "client/catalog/web"
        esbuild = next((catalog_site.ROOT / ".cache/grammars").glob("esbuild-*/bin/esbuild"))
        script = subprocess.run([esbuild, web / "src/words.ts", "--bundle", "--format=iife", "--global-name=words"], check=True,
                                capture_output=True, text=True).stdout
        page = self.browser.new_page()
        self.addCleanup(page.close)
        page.add_script_tag(content=script)
        for text, words in json.loads((web / "word_cases.json").read_text(encoding="utf-8")).items():
            self.assertEqual(page.evaluate("text => words.splitWords(text)", text), words, text)


if __name__ == "__main__":
    if catalog_site.MISSING:
        print(f"skipped: {catalog_site.MISSING}")
        sys.exit(77)
    unittest.main()
