// What results show of a kernel: which file has it, and how it comes.
import { load, readRow, type Meta, type Row } from "./data";

/** The lines of the files that are here. */
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

/** The file that has a kernel, by the first kernel of each. */
export function fileOf(firsts: readonly number[], kernel: number): number {
  let low = 0;
  let high = firsts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (firsts[middle]! <= kernel) low = middle;
    else high = middle;
  }
  return low;
}

/** The kernels' rows, each as soon as its file is here; all files are asked for at once. */
export function loadRows(meta: Meta, kernels: readonly number[]): Promise<Row>[] {
  return kernels.map(async (kernel) => {
    const file = fileOf(meta.rows, kernel);
    return readRow((await loadFile(file))[kernel - meta.rows[file]!]!);
  });
}
