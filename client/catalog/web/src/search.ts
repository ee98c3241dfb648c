// A search: weighs the words, filters by the chosen values of facets, and sorts one page; and counts the values of facets.
import { loadColumn, loadFacet, type Facet } from "./columns";
import type { Meta } from "./data";
import { makeTerms, weigh, type Weights } from "./postings";
import type { Query } from "./query";
import { queryWords } from "./words";

export const PAGE = 20;

export type ValueCounts = [value: string, count: number][];

export interface Result {
  found: number;
  /** The kernels of the page. */
  page: number[];
  /** All matching kernels, and for each facet with chosen values the kernels that only this facet excludes. */
  kernels: Uint32Array;
  refused: Map<string, Uint32Array>;
  /** How many of the kernels found have all the words. */
  whole: number;
  /** Words of the query that were read as others. */
  corrected: Weights["corrected"];
  /** True if all words of the query are ignored because they are too short or too common. */
  empty: boolean;
}

export async function search(meta: Meta, query: Query): Promise<Result> {
  const { words, prefix } = queryWords(query.text);
  const sortColumn = query.sort === "short" || query.sort === "long" ? "size" : query.sort === "score" ? "score" : words.length === 0 ? "standing" : undefined;
  const [weights, column, facets] = await Promise.all([
    words.length > 0 ? weigh(meta, makeTerms(words, prefix)) : undefined,
    sortColumn ? loadColumn(meta, sortColumn) : undefined,
    Promise.all([...query.chosen.keys()].map((key) => loadFacet(meta, key))),
  ]);
  const having = kernelsWith(meta.kernels, weights, words.length);
  const { kernels, refused } = filter(having.kernels, facets, query);
  return {
    found: kernels.length,
    page: order(kernels, query, column ?? weights!.sum),
    kernels,
    refused,
    whole: Math.min(having.whole, kernels.length),
    corrected: weights?.corrected ?? [],
    empty: words.length === 0 && query.text.trim() !== "",
  };
}

/** If fewer kernels have all of the words, those with some of them are shown, too. */
const FEW = 3;
const BETTER = 1.25;

/**
 * Returns the kernels with all of the words. Returns those with some of them, too, if the former are few, or if another one fits better: `outer`
 * in a name says more than `outer` and `product` somewhere in the code.
 */
function kernelsWith(kernels: number, weights: Weights | undefined, words: number): { kernels: Uint32Array; whole: number } {
  if (!weights) return { kernels: atLeast(new Uint8Array(kernels), 0), whole: kernels };
  const all = atLeast(weights.words, words);
  if (words === 1) return { kernels: all, whole: all.length };
  const best = all.reduce((most, kernel) => Math.max(most, weights.sum[kernel]!), 0);
  const whole = all.length >= FEW && weights.sum.every((sum) => sum <= best * BETTER);
  return { kernels: whole ? all : atLeast(weights.words, 1), whole: all.length };
}

function atLeast(counts: Uint8Array, least: number): Uint32Array {
  const kernels = new Uint32Array(counts.length);
  let count = 0;
  for (let kernel = 0; kernel < counts.length; ++kernel) if (counts[kernel]! >= least) kernels[count++] = kernel;
  return kernels.subarray(0, count);
}

/** Returns for each set of a facet whether the chosen values allow it. */
function allowedSets(facet: Facet, chosen: readonly string[]): Uint8Array {
  const wanted = chosen.map((value) => facet.values.indexOf(value));
  const fits = facet.mode === "any"
    ? (set: number[]) => wanted.some((value) => set.includes(value))
    : (set: number[]) => wanted.every((value) => set.includes(value));
  return Uint8Array.from(facet.sets, (set) => (fits(set) ? 1 : 0));
}

function filter(kernels: Uint32Array, facets: readonly Facet[], query: Query): Pick<Result, "kernels" | "refused"> {
  if (facets.length === 0) return { kernels, refused: new Map() };
  const active = facets.map((facet) => ({ facet, allowed: allowedSets(facet, query.chosen.get(facet.key)!), refused: [] as number[] }));
  const fitting: number[] = [];
  for (let i = 0; i < kernels.length; ++i) {
    const kernel = kernels[i]!;
    let refusals = 0;
    let refused = fitting;
    for (let j = 0; j < active.length; ++j) {
      const one = active[j]!;
      if (one.allowed[one.facet.column[kernel]!] !== 0) continue;
      ++refusals;
      refused = one.refused;
    }
    if (refusals <= 1) refused.push(kernel);
  }
  return { kernels: Uint32Array.from(fitting), refused: new Map(active.map((one) => [one.facet.key, Uint32Array.from(one.refused)])) };
}

/**
 * Counts the values of a facet in a result, chosen values included, sorted by count and then by name. A facet with mode "any" counts the kernels
 * that the other facets allow, which shows the effect of a second choice.
 */
export async function countValues(meta: Meta, key: string, result: Result, chosen: readonly string[]): Promise<ValueCounts> {
  const facet = await loadFacet(meta, key);
  const counts = new Uint32Array(facet.sets.length);
  countSets(facet.column, result.kernels, counts);
  const refused = result.refused.get(key);
  if (refused && facet.mode === "any") countSets(facet.column, refused, counts);
  const byValue = new Uint32Array(facet.values.length);
  facet.sets.forEach((set, i) => {
    if (counts[i]! > 0) for (const value of set) byValue[value]! += counts[i]!;
  });
  const values: ValueCounts = [];
  facet.values.forEach((value, i) => {
    if (byValue[i]! > 0 || chosen.includes(value)) values.push([value, byValue[i]!]);
  });
  for (const value of chosen) if (!facet.values.includes(value)) values.push([value, 0]);
  return values.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function countSets(column: Uint32Array, kernels: Uint32Array, counts: Uint32Array): void {
  for (let i = 0; i < kernels.length; ++i) ++counts[column[kernels[i]!]!]!;
}

/** Returns the kernels of the query's page: those with the greatest keys, or the smallest if the query sorts by shortest. */
function order(kernels: Uint32Array, query: Query, keys: Uint32Array | Float32Array): number[] {
  const from = PAGE * (query.page - 1);
  if (from >= kernels.length) return [];
  const sign = query.sort === "short" ? -1 : 1;
  const own = new Float64Array(kernels.length);
  for (let i = 0; i < kernels.length; ++i) own[i] = sign * keys[kernels[i]!]!;
  return firstBy(kernels, own, PAGE * query.page).slice(from);
}

/** The limit up to which an ordered list is kept by insertion; longer ones are sorted. */
const SHORT = 400;

/** Returns the first `count` kernels by falling key. Kernels with equal keys stay in the dataset's order. */
export function firstBy(kernels: Uint32Array, keys: Float64Array, count: number): number[] {
  if (count > SHORT) {
    const all = Array.from(kernels.keys()).sort((a, b) => keys[b]! - keys[a]! || a - b);
    return all.slice(0, count).map((i) => kernels[i]!);
  }
  const first: number[] = []; // indexes in `kernels`
  for (let i = 0; i < kernels.length; ++i) {
    if (first.length === count && keys[i]! <= keys[first[count - 1]!]!) continue;
    let at = first.length;
    while (at > 0 && keys[first[at - 1]!]! < keys[i]!) --at;
    first.splice(at, 0, i);
    if (first.length > count) first.pop();
  }
  return first.map((i) => kernels[i]!);
}
