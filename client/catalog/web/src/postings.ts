// The postings: the kernels that have a word, with its weight in each.
import { decodeBase64, load, type Meta } from "./data";
import { correct } from "./spelling";
import { getSynonyms } from "./synonyms";

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

async function find(meta: Meta, word: string, share: number, prefix: boolean): Promise<Found[]> {
  const end = prefix ? word + "\uffff" : word + "\u0001";
  const [from, to] = shardRange(meta.postings, word, end);
  const loaded = await Promise.all(Array.from({ length: to - from }, (_, i) => loadShard(from + i)));
  const found = new Map<string, Found>();
  for (const shard of loaded) {
    const last = lowerBound(shard.words, end);
    for (let i = lowerBound(shard.words, word); i < last; ++i) {
      const candidate = shard.words[i]!;
      const one = found.get(candidate) ?? { lists: [], count: 0, share: candidate === word ? share : share * PREFIX_SHARE };
      one.lists.push([shard, i]);
      one.count += shard.counts[i]!;
      found.set(candidate, one);
    }
  }
  return [...found.values()];
}

/** A word of the query, with the other words that stand for it and the share of their weight. */
export interface Term {
  word: string;
  others: Map<string, number>;
  /** True if the word may be the beginning of a word. */
  prefix: boolean;
}

const SYNONYM_SHARE = 0.9;

/** Returns the terms of a query. Two neighbours also count as one word: `layer norm` finds `layernorm`, and what means the same. */
export function makeTerms(words: readonly string[], prefix: boolean): Term[] {
  return words.map((word, i) => {
    const others = new Map<string, number>();
    const add = (other: string, share: number): void => void (other !== word && !others.has(other) && others.set(other, share));
    for (const synonym of getSynonyms(word)) add(synonym, SYNONYM_SHARE);
    for (const first of [i - 1, i]) {
      if (first < 0 || first + 1 >= words.length) continue;
      const pair = words[first]! + words[first + 1]!;
      add(pair, 1);
      for (const synonym of getSynonyms(pair)) add(synonym, SYNONYM_SHARE);
    }
    return { word, others, prefix: prefix && i === words.length - 1 };
  });
}

/** The kernels of a word that are so few that the word may be a mistake. */
const FEW_KERNELS = 5;

export interface Weights {
  /** For each kernel the sum of the weights of its words. */
  sum: Float32Array;
  /** For each kernel the number of the query's words that it has. */
  words: Uint8Array;
  /** Words of the query that were read as others, since the catalog hardly has them. */
  corrected: [from: string, to: string][];
}

/** Computes the weights of the terms of a query. */
export async function weigh(meta: Meta, terms: readonly Term[]): Promise<Weights> {
  const weights: Weights = { sum: new Float32Array(meta.kernels), words: new Uint8Array(meta.kernels), corrected: [] };
  const found = await Promise.all(terms.map((term) => findTerm(meta, term, weights.corrected)));
  for (const word of found) addWord(meta.kernels, word, weights);
  return weights;
}

async function findTerm(meta: Meta, { word, others, prefix }: Term, corrected: Weights["corrected"]): Promise<Found[]> {
  const lists = [find(meta, word, 1, prefix), ...Array.from(others, ([other, share]) => find(meta, other, share, false))];
  const found = (await Promise.all(lists)).flat();
  if (found.reduce((sum, one) => sum + one.count, 0) >= FEW_KERNELS) return found;
  const better = await correct(word);
  if (!better) return found;
  corrected.push([word, better]);
  const again = [better, ...getSynonyms(better).filter((synonym) => synonym !== better)];
  return found.concat((await Promise.all(again.map((one) => find(meta, one, SYNONYM_SHARE, false)))).flat());
}

/** Adds the weights of one query word. The highest weight of the words that stand for it counts. */
function addWord(kernels: number, found: Found[], { sum, words }: Weights): void {
  const best = new Float32Array(kernels);
  for (const { lists, share } of found) {
    for (const [{ lists: bytes, ends }, i] of lists) readList(bytes, i > 0 ? ends[i - 1]! : 0, ends[i]!, share / 255, best);
  }
  let count = 0;
  for (let kernel = 0; kernel < kernels; ++kernel) if (best[kernel]! > 0) ++count;
  const rarity = Math.log(1 + (kernels - count + 0.5) / (count + 0.5));
  for (let kernel = 0; kernel < kernels; ++kernel) {
    const weight = best[kernel]!;
    if (weight === 0) continue;
    sum[kernel]! += weight * rarity;
    ++words[kernel]!;
  }
}

/** Reads a list: for each kernel the distance to the previous one as a varint, and a byte of weight. */
function readList(bytes: Uint8Array, at: number, end: number, share: number, best: Float32Array): void {
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
    const weight = bytes[at++]! * share;
    if (weight > best[kernel]!) best[kernel] = weight;
  }
}
