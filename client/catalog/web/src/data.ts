// The data files of a site. Each is a script that passes one value by its name: a page that was opened from a folder may
// only load scripts.

/** A row of the results: the summary of one kernel. */
export interface Row {
  id: string;
  name: string;
  repository: string;
  path: string;
  firstLine: string;
  language: string;
  licence: string;
  score: number; // thousandths
  tokens: number;
  selfContained: boolean;
  fails: boolean; // no compiler accepts it
  summary: string;
  tags: string[];
}

/** Rows in a file: one line for each kernel, with fields separated by tabs and the tags at the end. A text parses faster than lists. */
export type RowLines = string;

export function readRow(line: string): Row {
  const [id, name, repository, path, firstLine, language, licence, score, tokens, selfContained, fails, summary, ...tags] = line.split("\t");
  return {
    id: id!, name: name!, repository: repository!, path: path!, firstLine: firstLine!, language: language!, licence: licence!,
    score: Number(score), tokens: Number(tokens), selfContained: selfContained === "1", fails: fails === "1", summary: summary!, tags,
  };
}

export interface FacetMeta {
  key: string;
  label: string;
  /** "any": a kernel has one value, and each chosen value adds kernels; "all": it has several, and each chosen value removes kernels. */
  mode: "any" | "all";
  /** Explains the values, or is empty. */
  note: string;
  values: number;
  /** The most frequent values with their counts, for the first page. */
  top: [value: string, count: number][];
}

export interface Meta {
  kernels: number;
  kernelsPerBlock: number;
  facets: FacetMeta[];
  facetFiles: number;
  /** The first word of each shard of postings, in order. */
  postings: string[];
  /** The first kernel of each file of rows, ascending. */
  rows: number[];
  /** The first rows by standing, for the first page. */
  top: RowLines;
}

/** A part of a facet's dictionary: values, or the sets of values that kernels have, as indexes of values. */
export interface FacetPart {
  facet: number;
  values?: string[];
  sets?: number[][];
}

/** One number for each kernel of a block: the bytes of a number, then the numbers in base64, low byte first. */
export type ColumnBlock = string;

export interface PostingShard {
  /** The words, separated by blanks. */
  words: string;
  /** Base64: for each word the number of its kernels here, then for each word the end of its list (four bytes each, low byte first), then the lists. */
  bytes: string;
}

export interface DataFiles {
  meta: Meta;
  /** The words of names, tags and descriptions, the most frequent first, separated by blanks. */
  vocabulary: string;
  [facets: `facets-${number}`]: FacetPart[];
  [columns: `columns/${string}-${number}`]: ColumnBlock;
  [postings: `postings/${number}`]: PostingShard;
  [rows: `rows/${number}`]: RowLines;
}

declare global {
  // The function that every data file calls.
  var kernelmill: (name: string, value: unknown) => void;
}

const arrived = new Map<string, unknown>();
const loading = new Map<string, Promise<unknown>>();

export function receive(): void {
  globalThis.kernelmill = (name, value) => void arrived.set(name, value);
}

/** Loads a data file once. Fails if the file does not exist. */
export function load<Name extends keyof DataFiles & string>(name: Name): Promise<DataFiles[Name]> {
  let promise = loading.get(name);
  if (!promise) {
    promise = arrived.has(name) ? Promise.resolve(arrived.get(name)) : loadScript(name);
    loading.set(name, promise);
  }
  return promise as Promise<DataFiles[Name]>;
}

function loadScript(name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `data/${name}.js`;
    script.onload = () => {
      script.remove();
      if (arrived.has(name)) resolve(arrived.get(name));
      else reject(new Error(`data/${name}.js is not a data file of this catalog`));
      arrived.delete(name);
    };
    script.onerror = () => {
      script.remove();
      loading.delete(name); // the next search tries again
      reject(new Error(`data/${name}.js cannot be loaded`));
    };
    document.head.append(script);
  });
}

/** Decodes base64. */
export function decodeBase64(base64: string): Uint8Array {
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Decodes a block of a column. */
export function decodeColumn(encoded: ColumnBlock): Uint8Array | Uint16Array | Uint32Array {
  const bytes = decodeBase64(encoded.slice(1));
  if (encoded[0] === "1") return bytes;
  return encoded[0] === "2" ? new Uint16Array(bytes.buffer) : new Uint32Array(bytes.buffer);
}
