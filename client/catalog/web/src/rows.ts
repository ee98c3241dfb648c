// The rows of the results: finds the file of a row and loads it.
import { load, readRow, type Meta, type Row } from "./data";

/** The lines of the loaded files. */
const files = new Map<number, Promise<string[]>>();

function loadFile(number: number): Promise<string[]> {
  let promise = files.get(number);
  if (!promise) {
    promise = load(`rows/${number}`).then((lines) => lines.split("\n"));
    promise.catch(() => files.delete(number));
    files.set(number, promise);
  }
  return promise;
}

/** Returns the file that has a kernel, by the first kernel of each file. */
export function findFile(firsts: readonly number[], kernel: number): number {
  let low = 0;
  let high = firsts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (firsts[middle]! <= kernel) low = middle;
    else high = middle;
  }
  return low;
}

/** Loads the rows of kernels. All files are requested at once; each row resolves when its file is loaded. */
export function loadRows(meta: Meta, kernels: readonly number[]): Promise<Row>[] {
  return kernels.map(async (kernel) => {
    const file = findFile(meta.rows, kernel);
    return readRow((await loadFile(file))[kernel - meta.rows[file]!]!);
  });
}
