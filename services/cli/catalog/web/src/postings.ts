// Which kernels have a word, and how much it weighs in each.
import { bytesOf, load, type Meta, type PostingShard } from "./data";

/** How much what only begins with the word of a query counts, of what is the word. */
const PREFIX_SHARE = 0.6;

interface Shard {
  words: string[];
  shard: PostingShard;
  bytes: Uint8Array;
}

const shards = new Map<number, Promise<Shard>>();

function loadShard(number: number): Promise<Shard> {
  let promise = shards.get(number);
  if (!promise) {
    promise = load(`postings/${number}`).then((shard) => ({ words: shard.words.split(" "), shard, bytes: bytesOf(shard.bytes) }));
    promise.catch(() => shards.delete(number));
    shards.set(number, promise);
  }
  return promise;
}

/** The shards that may have words from `first` to before `end`, both in the order of UTF-16 units. */
export function shardRange(firstWords: readonly string[], first: string, end: string): [begin: number, end: number] {
  let begin = firstWords.findIndex((word) => word >= first);
  if (begin < 0) begin = firstWords.length;
  // The one before may have it too; a word whose list is long goes on in shards that begin with it.
  if (begin > 0) --begin;
  let last = begin;
  while (last < firstWords.length && (last === begin || firstWords[last]! < end)) ++last;
  return [begin, last];
}

/** The weight of a word in each kernel; 0 where it is not. */
export async function weigh(meta: Meta, word: string, prefix: boolean): Promise<Float32Array> {
  const end = prefix ? word + "\uffff" : word + "\u0001";
  const [from, to] = shardRange(meta.postings, word, end);
  const loaded = await Promise.all(Array.from({ length: to - from }, (_, i) => loadShard(from + i)));
  const weights = new Float32Array(meta.kernels);
  const counts = new Map<string, number>();
  const lists: [word: string, shard: Shard, index: number][] = [];
  for (const shard of loaded) {
    shard.words.forEach((candidate, i) => {
      if (candidate < word || candidate >= end) return;
      lists.push([candidate, shard, i]);
      counts.set(candidate, (counts.get(candidate) ?? 0) + shard.shard.counts[i]!);
    });
  }
  for (const [candidate, shard, i] of lists) {
    const share = candidate === word ? 1 : PREFIX_SHARE;
    const rarity = (share * Math.log(1 + (meta.kernels - counts.get(candidate)! + 0.5) / (counts.get(candidate)! + 0.5))) / 255;
    addList(shard.bytes, i > 0 ? shard.shard.ends[i - 1]! : 0, shard.shard.ends[i]!, rarity, weights);
  }
  return weights;
}

/** A list: of each kernel the distance to the one before as a varint, and a byte of weight. */
function addList(bytes: Uint8Array, at: number, end: number, rarity: number, weights: Float32Array): void {
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
    if (weight > weights[kernel]!) weights[kernel] = weight;
  }
}
