// The columns for filters, counts and sorting: one number for each kernel. A column is loaded when it is needed.
import { decodeColumn, load, type Meta } from "./data";

/** The values of a facet, and the sets of values that kernels have, as indexes of values. A kernel's number is its set. */
export interface Dictionary {
  values: string[];
  sets: number[][];
}

export interface Facet extends Dictionary {
  key: string;
  mode: "any" | "all";
  column: Uint32Array;
}

/** A cache of promises by key. A promise that fails is made again by the next call. */
class Cache<Value> {
  private readonly made = new Map<string, Promise<Value>>();
  get(key: string, make: () => Promise<Value>): Promise<Value> {
    let promise = this.made.get(key);
    if (!promise) {
      promise = make();
      promise.catch(() => this.made.delete(key));
      this.made.set(key, promise);
    }
    return promise;
  }
}

const columns = new Cache<Uint32Array>();
const dictionaries = new Cache<Dictionary[]>();

/** Loads the column of a facet, `score` in thousandths, or `size` in tokens. */
export function loadColumn(meta: Meta, key: string): Promise<Uint32Array> {
  return columns.get(key, async () => {
    const blocks = Array.from({ length: Math.ceil(meta.kernels / meta.kernelsPerBlock) }, (_, i) => load(`columns/${key}-${i}`));
    const column = new Uint32Array(meta.kernels);
    for (const [i, block] of (await Promise.all(blocks)).entries()) column.set(decodeColumn(block), i * meta.kernelsPerBlock);
    return column;
  });
}

export async function loadFacet(meta: Meta, key: string): Promise<Facet> {
  const at = meta.facets.findIndex((facet) => facet.key === key);
  const [column, all] = await Promise.all([loadColumn(meta, key), dictionaries.get("", () => loadDictionaries(meta))]);
  return { ...all[at]!, key, mode: meta.facets[at]!.mode, column };
}

async function loadDictionaries(meta: Meta): Promise<Dictionary[]> {
  const made: Dictionary[] = meta.facets.map(() => ({ values: [], sets: [] }));
  const parts = Array.from({ length: meta.facetFiles }, (_, i) => load(`facets-${i}`));
  for (const part of (await Promise.all(parts)).flat()) {
    for (const value of part.values ?? []) made[part.facet]!.values.push(value);
    for (const set of part.sets ?? []) made[part.facet]!.sets.push(set);
  }
  return made;
}
