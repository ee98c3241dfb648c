// The postings: the kernels that have a word, with its weight in each.
import { decodeBase64, load, type Meta } from "./data";

/** The share of the weight for a word that only begins with the query's word. */
const PREFIX_SHARE = 0.6;

interface Shard {
  words: string[];
  /** For each word the number of its kernels here, and the end of its list in `lists`. */
  counts: Uint32Array;
  ends: Uint32Array;
  lists: Uint8Array;
}

const shards = new Map<number, Promise<Shard>>();

function loadShard(number: number): Promise<Shard> {
  let promise = shards.get(number);
  if (!promise) {
    promise = readShard(number);
    promise.catch(() => shards.delete(number));
    shards.set(number, promise);
  }
  return promise;
}

async function readShard(number: number): Promise<Shard> {
  const shard = await load(`postings/${number}`);
  const words = shard.words.split(" ");
  const bytes = decodeBase64(shard.bytes);
  const head = 4 * words.length;
  return {
    words,
    counts: new Uint32Array(bytes.buffer, 0, words.length),
    ends: new Uint32Array(bytes.buffer, head, words.length),
    lists: bytes.subarray(2 * head),
  };
}

/** Returns the index of the first word that is not before `word`. */
export function lowerBound(words: readonly string[], word: string): number {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (words[middle]! < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the range of shards that may have words from `first` to before `end`, in the order of UTF-16 units. A word that continues in other
 * shards begins each of them, so that the shard before one that begins with `first` does not have it.
 */
export function shardRange(firstWords: readonly string[], first: string, end: string): [begin: number, end: number] {
  let begin = lowerBound(firstWords, first);
  if (begin > 0 && firstWords[begin] !== first) --begin;
  return [begin, Math.max(lowerBound(firstWords, end), Math.min(begin + 1, firstWords.length))];
}

/** A word of the index that matches a word of the query: its parts in shards, its number of kernels, and the share of its weight. */
interface Found {
  lists: [shard: Shard, index: number][];
  count: number;
  share: number;
}

async function find(meta: Meta, word: string, prefix: boolean): Promise<Found[]> {
  const end = prefix ? word + "\uffff" : word + "\u0001";
  const [from, to] = shardRange(meta.postings, word, end);
  const loaded = await Promise.all(Array.from({ length: to - from }, (_, i) => loadShard(from + i)));
  const found = new Map<string, Found>();
  for (const shard of loaded) {
    const last = lowerBound(shard.words, end);
    for (let i = lowerBound(shard.words, word); i < last; ++i) {
      const candidate = shard.words[i]!;
      const one = found.get(candidate) ?? { lists: [], count: 0, share: candidate === word ? 1 : PREFIX_SHARE };
      one.lists.push([shard, i]);
      one.count += shard.counts[i]!;
      found.set(candidate, one);
    }
  }
  return [...found.values()];
}

export interface Weights {
  /** For each kernel the sum of the weights of its words. */
  sum: Float32Array;
  /** For each kernel the number of the query's words that it has. */
  words: Uint8Array;
}

/** Computes the weights for all words of a query. With `prefix` the last word may be the beginning of a word. */
export async function weigh(meta: Meta, words: readonly string[], prefix: boolean): Promise<Weights> {
  const found = await Promise.all(words.map((word, i) => find(meta, word, prefix && i === words.length - 1)));
  const weights = { sum: new Float32Array(meta.kernels), words: new Uint8Array(meta.kernels) };
  for (const word of found) addWord(meta.kernels, word, weights);
  return weights;
}

/** Adds the weights of one query word. If several words have the same beginning, the highest weight counts. */
function addWord(kernels: number, found: Found[], { sum, words }: Weights): void {
  const best = new Float32Array(kernels);
  for (const { lists, count, share } of found) {
    const rarity = (share * Math.log(1 + (kernels - count + 0.5) / (count + 0.5))) / 255;
    for (const [{ lists: bytes, ends }, i] of lists) readList(bytes, i > 0 ? ends[i - 1]! : 0, ends[i]!, rarity, best);
  }
  for (let kernel = 0; kernel < kernels; ++kernel) {
    const weight = best[kernel]!;
    if (weight === 0) continue;
    sum[kernel]! += weight;
    ++words[kernel]!;
  }
}

/** Reads a list: for each kernel the distance to the previous one as a varint, and a byte of weight. */
function readList(bytes: Uint8Array, at: number, end: number, rarity: number, best: Float32Array): void {
  let kernel = -1;
  while (at < end) {
    let distance = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = bytes[at++]!;
      distance |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    kernel += distance;
    const weight = bytes[at++]! * rarity;
    if (weight > best[kernel]!) best[kernel] = weight;
  }
}
