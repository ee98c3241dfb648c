// How texts become words: the same rules as client/catalog/search/words.cc, which a test holds to this.

/** What says nothing by itself, in code and in prose. */
export const STOP_WORDS = new Set(
  ("and are as be by def elif else false for from if import in is it none not of on or pass return self that the this to true while " +
    "with").split(" "),
);

export const MAX_WORD = 32;

/** Whether a UTF-16 unit beyond ASCII is part of a word: letters, but no punctuation, no surrogates, nothing private. */
function isWordUnit(unit: number): boolean {
  return (
    (unit >= 0xc0 && unit < 0x2000 && unit !== 0xd7 && unit !== 0xf7) ||
    (unit >= 0x2c00 && unit < 0x2e00) ||
    (unit >= 0x3040 && unit < 0xd800) ||
    (unit >= 0xf900 && unit < 0xfb00)
  );
}

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
const isUpper = (unit: number): boolean => unit >= 65 && unit <= 90;
const isLower = (unit: number): boolean => unit >= 97 && unit <= 122;

/** The words of a text, in its order: identifiers apart at "_" and at capitals, in lower case; of Chinese and the like pairs. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let begin = 0;
  while (begin < text.length) {
    const unit = text.charCodeAt(begin);
    let end = begin + 1;
    if (isDigit(unit) || isUpper(unit) || isLower(unit)) {
      while (end < text.length && !endsWord(text, end)) ++end;
      push(words, text.slice(begin, end).toLowerCase());
    } else if (isWordUnit(unit)) {
      while (end < text.length && isWordUnit(text.charCodeAt(end))) ++end;
      pushForeign(words, text.slice(begin, end));
    }
    begin = end;
  }
  return words;
}

/** Whether a word of ASCII ends before `at`. */
function endsWord(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (isLower(unit) || isDigit(unit)) return false;
  if (!isUpper(unit)) return true;
  if (isLower(text.charCodeAt(at - 1))) return true;
  return isUpper(text.charCodeAt(at - 1)) && at + 1 < text.length && isLower(text.charCodeAt(at + 1));
}

function push(words: string[], word: string): void {
  if (word.length >= 2 && word.length <= MAX_WORD) words.push(word);
}

/** Scripts without blanks between words are cut into pairs; the others stay whole, as written. */
function pushForeign(words: string[], word: string): void {
  if (word.charCodeAt(0) < 0x2e00) return push(words, word);
  if (word.length === 1) words.push(word);
  for (let i = 0; i + 1 < word.length; ++i) words.push(word.slice(i, i + 2));
}

export interface QueryWords {
  words: string[];
  /** Whether the last word is the beginning of one. */
  prefix: boolean;
}

/** What is searched for: stop words are left out, but for one that is still being typed. */
export function queryWords(text: string): QueryWords {
  const all = wordsOf(text);
  const typing = /[\p{L}\p{N}]$/u.test(text);
  const last = all.length - 1;
  const kept = all.filter((word, i) => !STOP_WORDS.has(word) || (typing && i === last && all.length === 1));
  const prefix = typing && kept.length > 0 && kept[kept.length - 1] === all[last] && all[last]!.length >= 3;
  const unique = kept.filter((word, i) => kept.lastIndexOf(word) === i);
  return { words: unique, prefix };
}
