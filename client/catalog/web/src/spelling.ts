// Corrects the spelling of a query's words by the words that names, tags and descriptions of the catalog have.
import { load } from "./data";

const LEAST_LETTERS = 4;
const LONG = 6;

/** Returns the most frequent of the nearest words: one edit away, or two of a long word; undefined if the word is known or nothing is near. */
export async function correct(word: string): Promise<string | undefined> {
  if (word.length < LEAST_LETTERS || /[^a-z]/.test(word)) return undefined;
  const vocabulary = (await load("vocabulary")).split(" ");
  if (vocabulary.includes(word)) return undefined;
  const most = word.length < LONG ? 1 : 2;
  let best: string | undefined;
  let least = Infinity;
  for (const candidate of vocabulary) {
    if (Math.abs(candidate.length - word.length) > most || candidate.length < LEAST_LETTERS) continue;
    const edits = distance(word, candidate);
    // People rarely mistake the first letter.
    const cost = edits + (candidate[0] === word[0] ? 0 : 0.5);
    if (edits <= most && cost < least) [best, least] = [candidate, cost];
  }
  return best;
}

/** Counts the letters to insert, leave out, replace or swap with the next one. */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; ++i) {
    const row = [i];
    for (let j = 1; j <= b.length; ++j) {
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
