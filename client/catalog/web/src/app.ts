// The first page: shows the results for the URL, and changes the URL when a person acts.
import { loadFacet } from "./columns";
import { load, readRow, receive, type FacetMeta, type Meta, type Row } from "./data";
import { choose, copyQuery, emptyQuery, formatQuery, parseQuery, SORTS, type Query } from "./query";
import { loadRows } from "./rows";
import { countValues, PAGE, search, type Result, type ValueCounts } from "./search";
import { addThemeButton, applyTheme } from "./theme";
import { chosenChips, facetBox, fillFacet, pageLinks, resultItem, statusText, type FacetState } from "./view";

applyTheme();
receive();

const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

class App {
  private query: Query = emptyQuery();
  private readonly facets: FacetState = { expanded: new Set(), folded: new Set() };
  /** The shown result, for facets that are opened later; undefined before the first result. */
  private result: Result | "first page" | undefined;
  private round = 0;
  /** True if the history entry belongs to the words being typed; the next letter then replaces it. */
  private typing = false;
  private readonly box = byId<HTMLInputElement>("q");
  private readonly results = byId<HTMLOListElement>("results");
  private readonly filters = byId<HTMLDetailsElement>("filters");
  private readonly boxes = new Map<FacetMeta, HTMLDetailsElement>();

  constructor(private readonly meta: Meta) {
    this.filters.open = matchMedia("(min-width: 50rem)").matches;
    // The first four facets are open; a click opens the others.
    for (const { key } of meta.facets.slice(4)) this.facets.folded.add(key);
    for (const facet of meta.facets) if (facet.values > 0) this.boxes.set(facet, facetBox(facet, this.facets));
    byId("facets").replaceChildren(...this.boxes.values());
    byId("finder").addEventListener("submit", (event) => this.onSubmit(event));
    this.box.addEventListener("input", () => this.onInput());
    byId("sort").addEventListener("change", () => this.onSort());
    byId("facets").addEventListener("change", (event) => this.onFacet(event));
    byId("facets").addEventListener("click", (event) => this.onMore(event));
    this.filters.addEventListener("toggle", (event) => this.onToggle(event), true);
    document.addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("popstate", () => this.fromAddress());
    addEventListener("hashchange", () => this.fromAddress());
  }

  start(): void {
    this.fromAddress(true);
    // Load the data for counts while a person reads the first page.
    const idle = globalThis.requestIdleCallback ?? ((later: () => void) => setTimeout(later, 200));
    idle(() => {
      for (const facet of this.shownFacets()) void loadFacet(this.meta, facet.key).catch(() => undefined);
    });
  }

  private shownFacets(): FacetMeta[] {
    return this.filters.open ? [...this.boxes.keys()].filter(({ key }) => !this.facets.folded.has(key)) : [];
  }

  private fromAddress(first = false): void {
    const query = parseQuery(location.hash, this.meta.facets.map((facet) => facet.key));
    if (!first && formatQuery(query) === formatQuery(this.query)) return;
    this.query = query;
    this.typing = false;
    this.box.value = query.text;
    void this.show();
  }

  /** Shows a query. With `replace` it replaces the history entry, so that "back" does not go letter by letter. */
  private go(query: Query, replace: boolean): void {
    this.query = query;
    const address = formatQuery(query);
    if (replace) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    void this.show();
  }

  private onInput(): void {
    const query = { ...copyQuery(this.query), text: this.box.value.slice(0, 500), page: 1 };
    this.go(query, this.typing);
    this.typing = true;
  }

  private onSubmit(event: Event): void {
    event.preventDefault();
    this.typing = false;
    this.focusResult(0);
  }

  private onSort(): void {
    const wanted = byId<HTMLSelectElement>("sort").value;
    this.typing = false;
    this.go({ ...copyQuery(this.query), sort: SORTS.find((sort) => sort === wanted) ?? "relevance", page: 1 }, false);
  }

  private onFacet(event: Event): void {
    const box = event.target as HTMLInputElement;
    const key = box.dataset.facet;
    if (!key) return;
    const query = { ...copyQuery(this.query), page: 1 };
    choose(query, key, box.value, box.checked);
    this.typing = false;
    this.go(query, false);
  }

  private onMore(event: Event): void {
    const key = (event.target as HTMLElement).dataset.more;
    if (!key) return;
    if (!this.facets.expanded.delete(key)) this.facets.expanded.add(key);
    void this.show();
  }

  private onToggle(event: Event): void {
    const details = event.target as HTMLDetailsElement;
    const key = details.dataset.facetBox;
    if (key && details.open) this.facets.folded.delete(key);
    else if (key) this.facets.folded.add(key);
    if (details.open) void this.showFacets(this.round).catch((error: unknown) => this.sayFailed(error));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const typing = target === this.box;
    if (event.key === "/" && !typing && !(target instanceof HTMLInputElement && target.type !== "checkbox")) {
      event.preventDefault();
      this.box.focus();
      this.box.select();
    } else if (event.key === "Escape") {
      this.onEscape(typing);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.onArrow(event, typing);
    }
  }

  private onEscape(typing: boolean): void {
    if (!typing) {
      this.box.focus();
    } else if (this.box.value) {
      this.box.value = "";
      this.typing = false;
      this.onInput();
    }
  }

  /** Moves the focus from the search box into the results and through them. */
  private onArrow(event: KeyboardEvent, typing: boolean): void {
    const links = this.links();
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (at < 0 && !typing) return;
    event.preventDefault();
    const next = event.key === "ArrowDown" ? at + 1 : at - 1;
    if (next < 0) this.box.focus();
    else this.focusResult(next);
  }

  private links(): HTMLAnchorElement[] {
    return Array.from(this.results.querySelectorAll<HTMLAnchorElement>("a.kernel"));
  }

  private focusResult(at: number): void {
    this.links()[at]?.focus();
  }

  private async show(): Promise<void> {
    const round = ++this.round;
    const query = this.query;
    byId<HTMLSelectElement>("sort").value = query.sort;
    try {
      const unfiltered = query.text.trim() === "" && query.chosen.size === 0;
      if (unfiltered && query.sort === "relevance" && query.page === 1 && this.facets.expanded.size === 0) {
        await this.showFirst(query, round);
        return;
      }
      const begin = performance.now();
      const result = await search(this.meta, query);
      if (round !== this.round) return; // a newer search has started
      this.result = result;
      const rows = loadRows(this.meta, result.page);
      void Promise.allSettled(rows); // errors are reported where a row is awaited
      this.render(query, result); // while the rows load
      await Promise.all([this.paint(query, rows, round), this.showFacets(round)]);
      if (round !== this.round) return;
      document.documentElement.dataset.searchMs = (performance.now() - begin).toFixed(1); // for measurements
      this.shown(query);
    } catch (error) {
      if (round === this.round) this.sayFailed(error);
    }
  }

  private sayFailed(error: unknown): void {
    this.results.style.minHeight = "";
    byId("status").textContent = `The search failed: ${error instanceof Error ? error.message : String(error)}`;
  }

  private shown(query: Query): void {
    document.documentElement.dataset.shown = formatQuery(query); // for tests
  }

  private async showFirst(query: Query, round: number): Promise<void> {
    this.result = "first page";
    this.render(query, { found: this.meta.kernels, whole: this.meta.kernels, corrected: [], empty: false });
    const rows = this.meta.top ? this.meta.top.split("\n").map((line) => Promise.resolve(readRow(line))) : [];
    await Promise.all([this.paint(query, rows, round), this.showFacets(round)]);
    if (round !== this.round) return;
    performance.mark("kernels-shown"); // for measurements
    this.shown(query);
  }

  /** Appends rows as they load, so that shown rows do not move. Stops if a newer search starts. */
  private async paint(query: Query, rows: Promise<Row>[], round: number): Promise<void> {
    await rows[0]; // keep the previous rows until then
    if (round !== this.round) return;
    this.results.setAttribute("start", String(PAGE * (query.page - 1) + 1));
    this.results.replaceChildren();
    for (const row of rows) {
      const item = resultItem(await row, query);
      if (round !== this.round) return;
      this.results.append(item);
    }
    this.results.style.minHeight = "";
  }

  /** Shows everything except the rows and the facets. */
  private render(query: Query, result: Parameters<typeof statusText>[1]): void {
    // Keep the height until all rows are loaded, so that the page does not jump.
    this.results.style.minHeight = `${this.results.offsetHeight}px`;
    byId("about").hidden = query.text.trim() !== "" || query.chosen.size > 0 || query.page > 1;
    byId("status").textContent = statusText(query, result, this.meta.kernels);
    byId("pages").replaceChildren(...pageLinks(query, result.found));
    byId("chosen").replaceChildren(...chosenChips(query, this.meta.facets));
    document.title = query.text ? `${query.text} - ${byId("title").textContent}` : (byId("title").textContent ?? "");
  }

  /** Fills the open facets when their counts are loaded, and restores the focus. */
  private async showFacets(round: number): Promise<void> {
    const result = this.result;
    if (!result) return;
    const facets = this.shownFacets();
    const counts = await Promise.all(facets.map((facet) => this.counts(facet, result)));
    if (round !== this.round) return;
    const active = document.activeElement as HTMLElement | null;
    const { facet, more } = active?.dataset ?? {};
    const value = active instanceof HTMLInputElement ? active.value : "";
    facets.forEach((meta, i) => {
      // The first page only has the most frequent values.
      const all = result === "first page" ? meta.values : counts[i]!.length;
      fillFacet(this.boxes.get(meta)!, meta, counts[i]!, all, this.query, this.facets);
    });
    const again = Array.from(this.filters.querySelectorAll<HTMLElement>("[data-facet], [data-more]")).find(
      (one) => (facet && one.dataset.facet === facet && (one as HTMLInputElement).value === value) || (more && one.dataset.more === more),
    );
    again?.focus();
  }

  private async counts(facet: FacetMeta, result: Result | "first page"): Promise<ValueCounts> {
    return result === "first page" ? facet.top : countValues(this.meta, facet.key, result, this.query.chosen.get(facet.key) ?? []);
  }
}

async function main(): Promise<void> {
  addThemeButton();
  try {
    new App(await load("meta")).start();
  } catch (error) {
    byId("status").textContent = `Cannot load the catalog's data: ${error instanceof Error ? error.message : String(error)}`;
  }
}

// The page also loads the first data file before this event.
addEventListener("DOMContentLoaded", () => void main());
