// Splits texts into words, by the same rules as client/catalog/search/words.cc. A test compares the two.

/** Words that are too common to search for, in code or in prose. */
export const STOP_WORDS = new Set(
  ("and are as be by def elif else false for from if import in is it none not of on or pass return self that the this to true while " +
    "with").split(" "),
);

export const MAX_WORD = 32;

/** True if a UTF-16 unit beyond ASCII is part of a word: letters, without punctuation, surrogates and private characters. */
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

/** Returns the words of a text, in order and in lower case. Identifiers are split at "_" and at capitals; Chinese and similar scripts give pairs. */
export function splitWords(text: string): string[] {
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

/** True if a word of ASCII ends before `at`. */
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

/** Splits scripts without blanks between words into pairs; words of other scripts stay as written. */
function pushForeign(words: string[], word: string): void {
  if (word.charCodeAt(0) < 0x2e00) return push(words, word);
  if (word.length === 1) words.push(word);
  for (let i = 0; i + 1 < word.length; ++i) words.push(word.slice(i, i + 2));
}

export interface QueryWords {
  words: string[];
  /** True if the last word may be the beginning of a word. */
  prefix: boolean;
}

/** Returns the words to search for. Stop words are left out, except for one that is still being typed. */
export function queryWords(text: string): QueryWords {
  const all = splitWords(text);
  const typing = /[\p{L}\p{N}]$/u.test(text);
  const last = all.length - 1;
  const kept = all.filter((word, i) => !STOP_WORDS.has(word) || (typing && i === last && all.length === 1));
  const prefix = typing && kept.length > 0 && kept[kept.length - 1] === all[last] && all[last]!.length >= 3;
  const unique = kept.filter((word, i) => kept.lastIndexOf(word) === i);
  return { words: unique, prefix };
}
