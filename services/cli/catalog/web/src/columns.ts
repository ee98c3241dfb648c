// The columns that facets and sorting need, of all kernels, in memory: a number a kernel and column.
import { decodeColumn, load, type Meta } from "./data";

export interface Facet {
  key: string;
  mode: "any" | "all";
  values: string[];
  /** The sets of values that kernels have, as indexes of values. */
  sets: number[][];
  /** Each kernel's set. */
  column: Uint32Array;
}

export interface Columns {
  facets: Facet[];
  score: Uint32Array;
  size: Uint32Array;
}

let columns: Promise<Columns> | undefined;

export function loadColumns(meta: Meta): Promise<Columns> {
  columns ??= readColumns(meta).catch((error: unknown) => {
    columns = undefined;
    throw error;
  });
  return columns;
}

async function readColumns(meta: Meta): Promise<Columns> {
  const parts = Array.from({ length: meta.facetFiles }, (_, i) => load(`facets-${i}`));
  const blocks = Array.from({ length: meta.columnBlocks }, (_, i) => load(`columns-${i}`));
  const made: Columns = {
    facets: meta.facets.map(({ key, mode }) => ({ key, mode, values: [], sets: [], column: new Uint32Array(meta.kernels) })),
    score: new Uint32Array(meta.kernels),
    size: new Uint32Array(meta.kernels),
  };
  for (const part of (await Promise.all(parts)).flat()) {
    const facet = made.facets[part.facet]!;
    for (const value of part.values ?? []) facet.values.push(value);
    for (const set of part.sets ?? []) facet.sets.push(set);
  }
  for (const [i, block] of (await Promise.all(blocks)).entries()) {
    const at = i * meta.kernelsPerBlock;
    made.facets.forEach((facet, j) => decodeColumn(block.facets[j]!, facet.column, at));
    decodeColumn(block.score, made.score, at);
    decodeColumn(block.size, made.size, at);
  }
  return made;
}
