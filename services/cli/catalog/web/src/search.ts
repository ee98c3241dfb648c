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
  const all = new Float32Array(kernels);
  const any = new Float32Array(kernels);
  let found = false;
  for (let kernel = 0; kernel < kernels; ++kernel) {
    let sum = 0;
    let missing = 0;
    for (const weights of words) {
      const weight = weights[kernel]!;
      sum += weight;
      if (weight === 0) ++missing;
    }
    any[kernel] = sum;
    if (missing === 0) {
      all[kernel] = sum;
      found = true;
    }
  }
  return found ? { weights: all, some: false } : { weights: any, some: words.length > 1 };
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

/** A facet of which any value will do counts what the others let through, so that one sees what a second choice would add. */
function filter(columns: Columns, query: Query, weights: Float32Array | undefined, kernels: number): Fitting {
  const facets = columns.facets;
  const allowed = facets.map((facet) => {
    const chosen = query.chosen.get(facet.key);
    return chosen ? allowedSets(facet, chosen) : undefined;
  });
  const active = facets.map((_, i) => i).filter((i) => allowed[i]);
  const counts = facets.map((facet) => new Uint32Array(facet.sets.length));
  const fitting = new Uint32Array(kernels);
  let found = 0;
  for (let kernel = 0; kernel < kernels; ++kernel) {
    if (weights && weights[kernel] === 0) continue;
    let failed = -1;
    let failures = 0;
    for (const i of active) {
      if (allowed[i]![facets[i]!.column[kernel]!] === 0) {
        failed = i;
        ++failures;
      }
    }
    if (failures === 0) {
      fitting[found++] = kernel;
      for (let i = 0; i < facets.length; ++i) ++counts[i]![facets[i]!.column[kernel]!]!;
    } else if (failures === 1 && facets[failed]!.mode === "any") {
      ++counts[failed]![facets[failed]!.column[kernel]!]!;
    }
  }
  return {
    kernels: fitting.subarray(0, found),
    facets: facets.map((facet, i) => ({ key: facet.key, values: countValues(facet, counts[i]!, query.chosen.get(facet.key) ?? []) })),
  };
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

/** The kernels of the query's page: the first PAGE * page by their keys, of which the last are shown. */
function order(columns: Columns, query: Query, weights: Float32Array | undefined, kernels: Uint32Array): number[] {
  const key = sortKey(columns, query, weights);
  const wanted = Math.min(kernels.length, PAGE * query.page);
  const from = PAGE * (query.page - 1);
  if (from >= kernels.length) return [];
  return firstBy(kernels, key, wanted).slice(from);
}

function sortKey({ score, size }: Columns, query: Query, weights: Float32Array | undefined): (kernel: number) => number {
  switch (query.sort) {
    case "short":
      return (kernel) => -size[kernel]!;
    case "long":
      return (kernel) => size[kernel]!;
    case "relevance":
      if (weights) return (kernel) => weights[kernel]! * (1 + (SCORE_SHARE * score[kernel]!) / 1000);
  }
  return (kernel) => score[kernel]!;
}

/** The first `count` by descending key, in the dataset's order where keys are equal: keys sorted as numbers, then found again. */
export function firstBy(kernels: Uint32Array, key: (kernel: number) => number, count: number): number[] {
  const keys = Float64Array.from(kernels, key);
  if (count >= kernels.length && count <= 2000) return sorted(Array.from(kernels), key);
  const limit = keys.slice().sort()[keys.length - count]!;
  const above: number[] = [];
  const equal: number[] = [];
  for (let i = 0; i < kernels.length; ++i) {
    if (keys[i]! > limit) above.push(kernels[i]!);
    else if (keys[i] === limit) equal.push(kernels[i]!);
  }
  return sorted(above, key).concat(equal.slice(0, count - above.length));
}

function sorted(kernels: number[], key: (kernel: number) => number): number[] {
  return kernels.sort((a, b) => key(b) - key(a) || a - b);
}
