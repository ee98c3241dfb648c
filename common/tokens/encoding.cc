#include "common/tokens/encoding.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "common/base/text.h"

namespace kernelmill::bpe {
namespace {

// The classes of characters in the patterns of the encodings, as bits. Categories are Unicode 15's.
enum CharClass : uint8_t {
  kUpper = 1 << 0,     // \p{Lu}, \p{Lt}
  kLower = 1 << 1,     // \p{Ll}
  kCaseless = 1 << 2,  // \p{Lm}, \p{Lo}
  kMark = 1 << 3,      // \p{M}
  kNumber = 1 << 4,    // \p{N}
  kSpace = 1 << 5,     // \s, line ends among them
  kLineEnd = 1 << 6,   // \r, \n
};
constexpr uint8_t kLetter = kUpper | kLower | kCaseless;

// The character at an offset of a text, and its classes.
struct Char {
  int32_t code = -1;  // -1: the end of the text
  uint8_t size = 0;   // bytes
  uint8_t classes = 0;

  bool Is(uint8_t any) const { return (classes & any) != 0; }
  bool Ended() const { return size == 0; }
};

// The only non-ASCII White_Space that is not a separator by category.
constexpr int32_t kNextLine = 0x85;

uint8_t Classify(int32_t code) {
  if (code == '\r' || code == '\n') return kSpace | kLineEnd;
  if (code == '\t' || code == '\v' || code == '\f' || code == kNextLine) return kSpace;
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kUpper;
    case UTF8PROC_CATEGORY_LL:
      return kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kCaseless;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return kSpace;
    default:
      return 0;
  }
}

std::array<uint8_t, 128> AsciiClasses() {
  std::array<uint8_t, 128> classes{};
  for (int32_t code = 0; code < 128; ++code) classes[code] = Classify(code);
  return classes;
}

// Returns the character at `at` of UTF-8 text.
Char CharAt(absl::string_view text, size_t at) {
  static const std::array<uint8_t, 128> ascii = AsciiClasses();
  if (at >= text.size()) return {};
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (*bytes < 128) return {*bytes, 1, ascii[*bytes]};
  utf8proc_int32_t code = 0;
  const auto left = static_cast<utf8proc_ssize_t>(text.size() - at);
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, left, &code);
  if (size <= 0) return {-1, 1, 0};  // a byte that is not UTF-8 counts as a symbol
  return {code, static_cast<uint8_t>(size), Classify(code)};
}

constexpr size_t kNoMatch = 0;     // a piece never ends at offset 0
constexpr int32_t kLongS = 0x17f;  // (?i:s) matches it too

// The functions below match one part of a pattern at `at`. Each returns the end of the match, or
// kNoMatch. The part is in the comment above the function.

// Returns the end of the run of characters of any of `classes` that begins at `at`.
size_t RunEnd(absl::string_view text, size_t at, uint8_t classes) {
  for (Char c = CharAt(text, at); c.Is(classes); c = CharAt(text, at)) at += c.size;
  return at;
}

char AsciiLower(const Char& c) {
  if (c.code == kLongS) return 's';
  return c.code >= 'A' && c.code <= 'Z'
             ? static_cast<char>(c.code - 'A' + 'a')
             : (c.code >= 0 && c.code < 128 ? static_cast<char>(c.code) : '\0');
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)
size_t Contraction(absl::string_view text, size_t at) {
  if (CharAt(text, at).code != '\'') return kNoMatch;
  const Char first = CharAt(text, at + 1);
  const char letter = AsciiLower(first);
  const size_t end = at + 1 + first.size;
  if (letter == 's' || letter == 't' || letter == 'm' || letter == 'd') return end;
  const Char second = CharAt(text, end);
  const char next = AsciiLower(second);
  const bool two =
      ((letter == 'r' || letter == 'v') && next == 'e') || (letter == 'l' && next == 'l');
  return two ? end + second.size : kNoMatch;
}

// \p{N}{1,3}
size_t Numbers(absl::string_view text, size_t at) {
  size_t end = at;
  for (int count = 0; count < 3; ++count) {
    const Char c = CharAt(text, end);
    if (!c.Is(kNumber)) break;
    end += c.size;
  }
  return end > at ? end : kNoMatch;
}

bool IsSymbol(const Char& c) { return !c.Ended() && !c.Is(kSpace | kLetter | kNumber); }

// ` ?[^\s\p{L}\p{N}]+[\r\n]*`, or [\r\n/]* with `slash`.
size_t Symbols(absl::string_view text, size_t at, bool slash) {
  size_t end = at;
  if (CharAt(text, end).code == ' ') ++end;
  const size_t begin = end;
  for (Char c = CharAt(text, end); IsSymbol(c); c = CharAt(text, end)) end += c.size;
  if (end == begin) return kNoMatch;
  for (Char c = CharAt(text, end); c.Is(kLineEnd) || (slash && c.code == '/');
       c = CharAt(text, end)) {
    end += c.size;
  }
  return end;
}

// \s*[\r\n]+|\s+(?!\S)|\s+ : white space up to its last line end. Without a line end: all of it,
// except its last character if anything follows.
size_t Spaces(absl::string_view text, size_t at) {
  size_t end = at;
  size_t last = at;
  size_t line_end = kNoMatch;
  for (Char c = CharAt(text, end); c.Is(kSpace); c = CharAt(text, end)) {
    last = end;
    end += c.size;
    if (c.Is(kLineEnd)) line_end = end;
  }
  if (line_end != kNoMatch) return line_end;
  return end == text.size() || last == at ? end : last;
}

// [^\r\n\p{L}\p{N}]?
size_t Prefix(absl::string_view text, size_t at) {
  const Char c = CharAt(text, at);
  return c.Ended() || c.Is(kLineEnd | kLetter | kNumber) ? at : at + c.size;
}

constexpr uint8_t kUpperPart = kUpper | kCaseless | kMark;  // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
constexpr uint8_t kLowerPart = kLower | kCaseless | kMark;  // [\p{Ll}\p{Lm}\p{Lo}\p{M}]

// kUpperPart* kLowerPart+. A regular expression backtracks if the second part finds nothing: it
// gives back characters of the first part, from the end. So the match then ends after the last
// character that both parts accept.
size_t Lowered(absl::string_view text, size_t at) {
  size_t end = at;
  size_t given_back = kNoMatch;  // after the last character that the second part accepts
  for (Char c = CharAt(text, end); c.Is(kUpperPart); c = CharAt(text, end)) {
    end += c.size;
    if (c.Is(kLowerPart)) given_back = end;
  }
  const size_t lower_end = RunEnd(text, end, kLowerPart);
  return lower_end > end ? lower_end : given_back;
}

// kUpperPart+ kLowerPart*
size_t Uppered(absl::string_view text, size_t at) {
  const size_t end = RunEnd(text, at, kUpperPart);
  return end > at ? RunEnd(text, end, kLowerPart) : kNoMatch;
}

// A word with its optional prefix and contraction.
size_t Word(absl::string_view text, size_t at, size_t (*part)(absl::string_view, size_t)) {
  const size_t prefix = Prefix(text, at);
  size_t end = part(text, prefix);
  if (end == kNoMatch && prefix > at) end = part(text, at);
  return end == kNoMatch ? kNoMatch : std::max(end, Contraction(text, end));
}

size_t Letters(absl::string_view text, size_t at) {
  const size_t begin = Prefix(text, at);
  const size_t end = RunEnd(text, begin, kLetter);
  return end > begin ? end : kNoMatch;
}

}  // namespace

// '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|
// \s++$|\s*[\r\n]|\s+(?!\S)|\s
size_t SplitCl100kBase(absl::string_view text, size_t begin) {
  if (const size_t end = Contraction(text, begin); end != kNoMatch) return end;
  if (const size_t end = Letters(text, begin); end != kNoMatch) return end;
  if (const size_t end = Numbers(text, begin); end != kNoMatch) return end;
  if (const size_t end = Symbols(text, begin, false); end != kNoMatch) return end;
  if (RunEnd(text, begin, kSpace) == text.size()) return text.size();
  return Spaces(text, begin);
}

// PREFIX?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+CONTRACTION?|
// PREFIX?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*CONTRACTION?|\p{N}{1,3}|
// ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+ with PREFIX [^\r\n\p{L}\p{N}]
size_t SplitO200kBase(absl::string_view text, size_t begin) {
  if (const size_t end = Word(text, begin, Lowered); end != kNoMatch) return end;
  if (const size_t end = Word(text, begin, Uppered); end != kNoMatch) return end;
  if (const size_t end = Numbers(text, begin); end != kNoMatch) return end;
  if (const size_t end = Symbols(text, begin, true); end != kNoMatch) return end;
  return Spaces(text, begin);
}

namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Merges the bytes of pieces into tokens. Keeps its buffers between pieces. Not thread-safe.
//
// The basic idea of byte-pair encoding: begin with single bytes. Repeatedly merge the two
// neighbours that together form the token of the lowest rank, the leftmost of equal ones, until no
// neighbours form a token. A heap has the candidates. A merge changes the ranks of its neighbours,
// whose old heap entries become stale; these are recognized by their rank and skipped. So n bytes
// take n log n steps.
class Merger {
 public:
  explicit Merger(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // Appends the ids of the piece's tokens.
  void Append(absl::string_view piece, std::vector<uint32_t>& tokens);

 private:
  // A part of the piece, at the index of its first byte. The parts form a list.
  struct Part {
    uint32_t previous;
    uint32_t next;  // its end; for the last part the piece's size
    uint32_t rank;  // of this part joined with the next
  };

  void Rerank(absl::string_view piece, uint32_t at);
  void Merge(absl::string_view piece, uint32_t at);

  const Vocabulary& vocabulary_;
  std::vector<Part> parts_;
  std::vector<std::pair<uint32_t, uint32_t>> heap_;  // (rank, offset), lowest first, some stale
};

void Merger::Append(absl::string_view piece, std::vector<uint32_t>& tokens) {
  if (const uint32_t rank = vocabulary_.Rank(piece); rank != kNoRank) {
    tokens.push_back(rank);
    return;
  }
  const auto size = static_cast<uint32_t>(piece.size());
  parts_.resize(size);
  heap_.clear();
  for (uint32_t i = 0; i < size; ++i) parts_[i] = {i == 0 ? kNone : i - 1, i + 1, kNoRank};
  for (uint32_t i = 0; i < size; ++i) Rerank(piece, i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [rank, at] = heap_.back();
    heap_.pop_back();
    if (parts_[at].rank == rank) Merge(piece, at);
  }
  for (uint32_t at = 0; at < size; at = parts_[at].next) {
    tokens.push_back(vocabulary_.Rank(piece.substr(at, parts_[at].next - at)));
  }
}

// Computes the rank of the part at `at` joined with the next one.
void Merger::Rerank(absl::string_view piece, uint32_t at) {
  Part& part = parts_[at];
  part.rank = kNoRank;
  if (part.next == piece.size()) return;
  part.rank = vocabulary_.Rank(piece.substr(at, parts_[part.next].next - at));
  if (part.rank == kNoRank) return;
  heap_.emplace_back(part.rank, at);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void Merger::Merge(absl::string_view piece, uint32_t at) {
  Part& part = parts_[at];
  Part& gone = parts_[part.next];
  part.next = gone.next;
  gone.rank = kNoRank;  // makes its heap entry stale
  if (part.next < piece.size()) parts_[part.next].previous = at;
  Rerank(piece, at);
  if (part.previous != kNone) Rerank(piece, part.previous);
}

// The numbers of tokens of short pieces that came before: code repeats its words, and the
// vocabulary is far larger than a processor's fast memory. A piece takes the place of another one
// with the same hash. Not thread-safe.
class CountCache {
 public:
  // Returns the number for the piece; calls count() if it is not known.
  template <typename Count>
  size_t Get(absl::string_view piece, Count count) {
    if (piece.size() > kLongest) return count();
    Place& place = places_[Hash(piece)];
    if (place.size != piece.size() || std::memcmp(place.text, piece.data(), piece.size()) != 0) {
      place.count = static_cast<uint8_t>(count());
      place.size = static_cast<uint8_t>(piece.size());
      std::memcpy(place.text, piece.data(), piece.size());
    }
    return place.count;
  }

 private:
  static constexpr size_t kLongest = 22;  // bytes; no piece has more tokens than bytes
  static constexpr int kBits = 10;

  struct Place {
    uint8_t size = 0;  // 0: no piece
    uint8_t count = 0;
    char text[kLongest];
  };

  // A piece has at least one byte.
  static size_t Hash(absl::string_view piece) {
    uint64_t first = 0;
    uint64_t last = 0;
    const size_t part = std::min(piece.size(), sizeof(first));
    std::memcpy(&first, piece.data(), part);
    std::memcpy(&last, piece.data() + piece.size() - part, part);
    const uint64_t mixed = (first * 0x9e3779b97f4a7c15) ^ (last * 0xc2b2ae3d27d4eb4f);
    return ((mixed + piece.size()) * 0x9e3779b97f4a7c15) >> (64 - kBits);
  }

  std::array<Place, size_t{1} << kBits> places_{};
};

// Parses a vocabulary that is linked in. It cannot fail: deploy/fetch_grammars.sh checks its hash.
const Encoding& NewEncoding(absl::string_view json, Split split) {
  return *new Encoding(*Vocabulary::Parse(json), split);
}

}  // namespace

std::vector<uint32_t> Encoding::Encode(absl::string_view text) const {
  std::string repaired;
  if (!IsUtf8(text)) text = repaired = ToUtf8(text);
  std::vector<uint32_t> tokens;
  Merger merger(vocabulary_);
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = split_(text, begin);
    merger.Append(text.substr(begin, end - begin), tokens);
  }
  return tokens;
}

size_t Encoding::Count(absl::string_view text) const {
  std::string repaired;
  if (!IsUtf8(text)) text = repaired = ToUtf8(text);
  Merger merger(vocabulary_);
  CountCache cache;
  std::vector<uint32_t> tokens;
  size_t count = 0;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = split_(text, begin);
    const absl::string_view piece = text.substr(begin, end - begin);
    count += cache.Get(piece, [&] {
      tokens.clear();
      merger.Append(piece, tokens);
      return tokens.size();
    });
  }
  return count;
}

const Encoding& Cl100kBase() {
  static const Encoding& encoding = NewEncoding(Cl100kBaseText(), SplitCl100kBase);
  return encoding;
}

const Encoding& O200kBase() {
  static const Encoding& encoding = NewEncoding(O200kBaseText(), SplitO200kBase);
  return encoding;
}

}  // namespace kernelmill::bpe
