// A search: the words' weights, the facets with their counts, and one page of the kernels in their order.
import { loadColumns, type Columns, type Facet } from "./columns";
import type { Meta } from "./data";
import { weigh } from "./postings";
import type { Query } from "./query";
import { queryWords } from "./words";

export const PAGE = 20;

/** How much the best score adds to relevance: a fifth, so that it decides between kernels that fit as well. */
const SCORE_SHARE = 0.2;

export interface FacetCount {
  key: string;
  /** The values that kernels of the result have, and those chosen: by count, then by name. */
  values: [value: string, count: number][];
}

export interface Result {
  found: number;
  /** The kernels of the page. */
  page: number[];
  facets: FacetCount[];
  /** Whether no kernel has all the words, so that those with some of them are shown. */
  some: boolean;
  /** Words of the query that nothing was looked up for, as they are too short or say nothing. */
  empty: boolean;
  milliseconds: number;
}

export async function search(meta: Meta, query: Query): Promise<Result> {
  const begin = performance.now();
  const { words, prefix } = queryWords(query.text);
  const [columns, ...weighed] = await Promise.all([
    loadColumns(meta),
    ...words.map((word, i) => weigh(meta, word, prefix && i === words.length - 1)),
  ]);
  const relevance = words.length > 0 ? combine(meta.kernels, weighed) : undefined;
  const fitting = filter(columns, query, relevance?.weights, meta.kernels);
  const page = order(columns, query, relevance?.weights, fitting.kernels);
  return {
    found: fitting.kernels.length,
    page,
    facets: fitting.facets,
    some: relevance?.some ?? false,
    empty: words.length === 0 && query.text.trim() !== "",
    milliseconds: performance.now() - begin,
  };
}

/** The sum of the words' weights where all of them are; where no kernel has all, of those that are. */
export function combine(kernels: number, words: Float32Array[]): { weights: Float32Array; some: boolean } {
  if (words.length === 1) return { weights: words[0]!, some: false };
  const sum = new Float32Array(kernels);
  const found = new Uint8Array(kernels); // how many of the words
  for (const weights of words) addWord(weights, sum, found);
  const all = sum.slice();
  for (let kernel = 0; kernel < kernels; ++kernel) if (found[kernel] !== words.length) all[kernel] = 0;
  return found.includes(words.length) ? { weights: all, some: false } : { weights: sum, some: true };
}

function addWord(weights: Float32Array, sum: Float32Array, found: Uint8Array): void {
  for (let kernel = 0; kernel < weights.length; ++kernel) {
    if (weights[kernel] === 0) continue;
    sum[kernel]! += weights[kernel]!;
    ++found[kernel]!;
  }
}

/** Of a facet: which of its sets the chosen values let through. */
function allowedSets(facet: Facet, chosen: string[]): Uint8Array {
  const wanted = chosen.map((value) => facet.values.indexOf(value));
  const fits = facet.mode === "any"
    ? (set: number[]) => wanted.some((value) => set.includes(value))
    : (set: number[]) => wanted.every((value) => set.includes(value));
  return Uint8Array.from(facet.sets, (set) => (fits(set) ? 1 : 0));
}

interface Fitting {
  kernels: Uint32Array;
  facets: FacetCount[];
}

/** A list of kernels that grows. */
class Kernels {
  private count = 0;
  private readonly kernels: Uint32Array;
  constructor(most: number) {
    this.kernels = new Uint32Array(most);
  }
  add(kernel: number): void {
    this.kernels[this.count++] = kernel;
  }
  all(): Uint32Array {
    return this.kernels.subarray(0, this.count);
  }
}

/** A facet of which any value will do counts what the others let through, so that one sees what a second choice would add. */
function filter(columns: Columns, query: Query, weights: Float32Array | undefined, kernels: number): Fitting {
  const active = columns.facets.flatMap((facet) => {
    const chosen = query.chosen.get(facet.key);
    return chosen ? [{ facet, column: facet.column, allowed: allowedSets(facet, chosen), refused: new Kernels(kernels) }] : [];
  });
  const fitting = new Kernels(kernels);
  for (let kernel = 0; kernel < kernels; ++kernel) {
    if (weights && weights[kernel] === 0) continue;
    let only: Kernels | undefined;
    let failures = 0;
    for (const { column, allowed, refused } of active) {
      if (allowed[column[kernel]!] !== 0) continue;
      only = refused;
      ++failures;
    }
    if (failures === 0) fitting.add(kernel);
    else if (failures === 1) only!.add(kernel);
  }
  const facets = columns.facets.map((facet) => {
    const counts = new Uint32Array(facet.sets.length);
    countSets(facet.column, fitting.all(), counts);
    const own = active.find((one) => one.facet === facet);
    if (own && facet.mode === "any") countSets(facet.column, own.refused.all(), counts);
    return { key: facet.key, values: countValues(facet, counts, query.chosen.get(facet.key) ?? []) };
  });
  return { kernels: fitting.all(), facets };
}

function countSets(column: Uint32Array, kernels: Uint32Array, counts: Uint32Array): void {
  for (let i = 0; i < kernels.length; ++i) ++counts[column[kernels[i]!]!]!;
}

function countValues(facet: Facet, counts: Uint32Array, chosen: string[]): [string, number][] {
  const byValue = new Uint32Array(facet.values.length);
  facet.sets.forEach((set, i) => {
    if (counts[i]! > 0) for (const value of set) byValue[value]! += counts[i]!;
  });
  const values: [string, number][] = [];
  facet.values.forEach((value, i) => {
    if (byValue[i]! > 0 || chosen.includes(value)) values.push([value, byValue[i]!]);
  });
  for (const value of chosen) if (!facet.values.includes(value)) values.push([value, 0]);
  return values.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** The kernels of the query's page. */
function order(columns: Columns, query: Query, weights: Float32Array | undefined, kernels: Uint32Array): number[] {
  const from = PAGE * (query.page - 1);
  if (from >= kernels.length) return [];
  return firstBy(kernels, sortKeys(columns, query, weights, kernels), PAGE * query.page).slice(from);
}

/** What kernels are sorted by, the greatest first. */
function sortKeys({ score, size }: Columns, query: Query, weights: Float32Array | undefined, kernels: Uint32Array): Float64Array {
  const keys = new Float64Array(kernels.length);
  const relevance = query.sort === "relevance" ? weights : undefined;
  for (let i = 0; i < kernels.length; ++i) {
    const kernel = kernels[i]!;
    if (relevance) keys[i] = relevance[kernel]! * (1 + (SCORE_SHARE * score[kernel]!) / 1000);
    else if (query.sort === "short") keys[i] = -size[kernel]!;
    else if (query.sort === "long") keys[i] = size[kernel]!;
    else keys[i] = score[kernel]!;
  }
  return keys;
}

/** How many are kept in order one by one; more are sorted. */
const FEW = 400;

/** The first `count` kernels by descending key, in the dataset's order where keys are equal. */
export function firstBy(kernels: Uint32Array, keys: Float64Array, count: number): number[] {
  if (count > FEW) {
    const all = Array.from(kernels.keys()).sort((a, b) => keys[b]! - keys[a]! || a - b);
    return all.slice(0, count).map((i) => kernels[i]!);
  }
  const first: number[] = []; // places in `kernels`
  for (let i = 0; i < kernels.length; ++i) {
    if (first.length === count && keys[i]! <= keys[first[count - 1]!]!) continue;
    let at = first.length;
    while (at > 0 && keys[first[at - 1]!]! < keys[i]!) --at;
    first.splice(at, 0, i);
    if (first.length > count) first.pop();
  }
  return first.map((i) => kernels[i]!);
}
