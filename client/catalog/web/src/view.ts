// Makes the elements of results and facets. All text is inserted as text, never as HTML.
import type { FacetMeta, Row } from "./data";
import { element } from "./dom";
import { choose, copyQuery, formatQuery, isChosen, type Query } from "./query";
import { PAGE, type Result, type ValueCounts } from "./search";

/** Wraps text of a repository in an element that isolates its text direction. */
const quoted = (text: string, className = ""): HTMLElement => element("bdi", className ? { class: className } : {}, text);

/** Lets a narrow screen break a name behind its underscores. */
const breakable = (name: string): HTMLElement =>
  element("bdi", {}, ...name.split(/(?<=_)/).flatMap((part, i) => (i === 0 ? [part] : [element("wbr"), part])));

const plural = (count: number, word: string): string => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

export function resultItem(row: Row, query: Query): HTMLLIElement {
  const { id, name, repository, path, firstLine, language, licence, score, tokens, selfContained, fails, summary, tags } = row;
  const facts = [language, licence, plural(tokens, "token"), `score ${(score / 1000).toFixed(2)}`];
  if (selfContained) facts.push("self-contained");
  const item = element(
    "li",
    { class: "result" },
    element("h2", {}, element("a", { href: `kernels/${id.slice(0, 2)}/${id}.html`, class: "kernel" }, breakable(name))),
    element("p", { class: "place" }, quoted(repository), " · ", quoted(`${path}:${firstLine}`)),
  );
  if (summary) item.append(element("p", { class: "summary" }, quoted(summary)));
  const line = element("p", { class: "facts" }, ...facts.map((fact) => element("span", { class: "fact" }, fact)));
  if (fails) line.append(element("span", { class: "fact bad" }, "does not compile"));
  for (const tag of tags) line.append(tagLink(tag, query));
  item.append(line);
  return item;
}

function tagLink(tag: string, query: Query): HTMLElement {
  const key = tag === "backward" ? "dir" : "op";
  const next = copyQuery(query);
  next.page = 1;
  choose(next, key, tag, true);
  return element("a", { class: "tag", href: formatQuery(next) }, tag.replaceAll("_", " "));
}

/** The number of values that a facet shows at first, and the most that it shows. */
const SHOWN = 8;
const MOST = 500;

export interface FacetState {
  /** Facets that show all values. */
  expanded: Set<string>;
  folded: Set<string>;
}

/** Makes a facet's box without values. */
export function facetBox(meta: FacetMeta, state: FacetState): HTMLDetailsElement {
  const box = element("details", { class: "facet", "data-facet-box": meta.key }, element("summary", {}, meta.label), element("div"));
  box.open = !state.folded.has(meta.key);
  return box;
}

/** Fills a facet's box with its values, or the first of `all`. A facet without values is hidden. */
export function fillFacet(box: HTMLDetailsElement, meta: FacetMeta, counts: ValueCounts, all: number, query: Query, state: FacetState): void {
  box.hidden = counts.length === 0;
  const expanded = state.expanded.has(meta.key);
  const shown = counts.filter(([value], i) => i < (expanded ? MOST : SHOWN) || isChosen(query, meta.key, value));
  const list = element("ul", { class: "plain" });
  for (const [value, number] of shown) {
    const input = element("input", { type: "checkbox", "data-facet": meta.key, value });
    input.checked = isChosen(query, meta.key, value);
    const text = element("span", { class: "value" }, quoted(value.replaceAll("_", " ")));
    list.append(element("li", {}, element("label", {}, input, text, element("span", { class: "count" }, number.toLocaleString("en")))));
  }
  const parts: HTMLElement[] = meta.note ? [element("p", { class: "facet-note" }, meta.note), list] : [list];
  if (all > SHOWN) {
    const label = expanded ? "Show fewer" : all > MOST ? `Show the first ${MOST} of ${all}` : `Show all ${all}`;
    parts.push(element("button", { type: "button", class: "more", "data-more": meta.key }, label));
  }
  box.lastElementChild!.replaceChildren(...parts);
}

export function chosenChips(query: Query, facets: readonly FacetMeta[]): HTMLElement[] {
  const chips: HTMLElement[] = [];
  for (const { key, label } of facets) {
    for (const value of query.chosen.get(key) ?? []) {
      const next = copyQuery(query);
      next.page = 1;
      choose(next, key, value, false);
      const text = `${label}: ${value.replaceAll("_", " ")}`;
      chips.push(element("a", { class: "chip", href: formatQuery(next), "aria-label": `Remove ${text}` }, quoted(text), " ×"));
    }
  }
  return chips;
}

export function pageLinks(query: Query, found: number): HTMLElement[] {
  const pages = Math.ceil(found / PAGE);
  const link = (page: number, text: string, rel: string): HTMLElement =>
    element("a", { href: formatQuery({ ...query, page }), rel, class: "page" }, text);
  const links: HTMLElement[] = [];
  if (query.page > 1) links.push(link(query.page - 1, "← Previous", "prev"));
  if (pages > 1) links.push(element("span", {}, `Page ${query.page} of ${pages.toLocaleString("en")}`));
  if (query.page < pages) links.push(link(query.page + 1, "Next →", "next"));
  return links;
}

export function statusText(query: Query, result: Pick<Result, "found" | "whole" | "corrected" | "empty">, total: number): string {
  const { found, whole, corrected, empty } = result;
  if (empty && query.chosen.size === 0) return "One-letter words and common words such as “the” are ignored.";
  if (found === 0) return "No matches. Try removing a word or filter.";
  const count = found === total ? plural(total, "kernel") : `${found.toLocaleString("en")} of ${plural(total, "kernel")}`;
  const also = corrected.map(([from, to]) => `; “${from}” was read as “${to}”`).join("");
  if (whole === found) return count + also;
  return `${whole === 0 ? "No kernel has" : whole === 1 ? "1 kernel has" : `${whole} kernels have`} all of the words; ${count} with some of them${also}`;
}
