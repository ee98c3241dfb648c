// A query and its URL: index.html#q=fused+softmax&op=softmax&licence=MIT&sort=score&page=2

export const SORTS = ["relevance", "score", "short", "long"] as const;
export type Sort = (typeof SORTS)[number];

export interface Query {
  text: string;
  /** The chosen values by the facet's key. */
  chosen: Map<string, string[]>;
  sort: Sort;
  page: number; // from 1
}

export function emptyQuery(): Query {
  return { text: "", chosen: new Map(), sort: "relevance", page: 1 };
}

/** Reads a query from a URL. Unknown keys are ignored. */
export function parseQuery(hash: string, facets: readonly string[]): Query {
  const query = emptyQuery();
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (key === "q") query.text = value.slice(0, 500);
    else if (key === "sort") query.sort = SORTS.find((sort) => sort === value) ?? "relevance";
    else if (key === "page") query.page = Math.max(1, Math.min(1e6, Number.parseInt(value, 10) || 1));
    else if (facets.includes(key)) choose(query, key, value, true);
  }
  return query;
}

export function formatQuery(query: Query): string {
  const params = new URLSearchParams();
  if (query.text) params.set("q", query.text);
  for (const [key, values] of query.chosen) for (const value of values) params.append(key, value);
  if (query.sort !== "relevance") params.set("sort", query.sort);
  if (query.page > 1) params.set("page", String(query.page));
  const text = params.toString();
  return text ? `#${text}` : "#";
}

export function isChosen(query: Query, key: string, value: string): boolean {
  return query.chosen.get(key)?.includes(value) ?? false;
}

export function choose(query: Query, key: string, value: string, on: boolean): void {
  const values = (query.chosen.get(key) ?? []).filter((other) => other !== value);
  if (on) values.push(value);
  if (values.length > 0) query.chosen.set(key, values);
  else query.chosen.delete(key);
}

export function copyQuery(query: Query): Query {
  return { ...query, chosen: new Map(query.chosen) };
}
