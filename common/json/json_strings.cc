#include "common/json/json_strings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/utf8.h"

namespace kernelmill::json {
namespace {

constexpr absl::string_view kTruncated = "json_truncated";
constexpr absl::string_view kSyntax = "json_syntax";
constexpr absl::string_view kDepth = "json_depth";

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Returns true for the characters of numbers, true, false, null, NaN and Infinity.
bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '+' || c == '.';
}

// Returns true if an odd number of backslashes, from `begin` on, precedes the byte at `at`.
bool IsEscaped(absl::string_view text, size_t begin, size_t at) {
  size_t first = at;
  while (first > begin && text[first - 1] == '\\') --first;
  return (at - first) % 2 == 1;
}

constexpr size_t kUnitSize = 6;  // \uXXXX
constexpr uint32_t kReplacement = 0xfffd;

// Returns the value of a hexadecimal digit in either case.
std::optional<uint32_t> ToDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Returns the UTF-16 unit of the escape \uXXXX at `at`, or nothing if another text is there.
std::optional<uint32_t> UnitAt(absl::string_view raw, size_t at) {
  if (raw.size() < kUnitSize || at > raw.size() - kUnitSize) return std::nullopt;
  if (raw[at] != '\\' || raw[at + 1] != 'u') return std::nullopt;
  uint32_t unit = 0;
  for (size_t i = at + 2; i < at + kUnitSize; ++i) {
    const std::optional<uint32_t> digit = ToDigit(raw[i]);
    if (!digit.has_value()) return std::nullopt;
    unit = unit * 16 + *digit;
  }
  return unit;
}

bool IsHighSurrogate(uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool IsLowSurrogate(uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

// Appends the character of the escape \uXXXX at `at`, joined with the other half of its surrogate
// pair. Returns the length of the escapes, or 0 if another text is there.
size_t AppendUnit(absl::string_view raw, size_t at, std::string& out) {
  const std::optional<uint32_t> unit = UnitAt(raw, at);
  if (!unit.has_value()) return 0;
  if (IsHighSurrogate(*unit)) {
    const std::optional<uint32_t> low = UnitAt(raw, at + kUnitSize);
    if (low.has_value() && IsLowSurrogate(*low)) {
      AppendUtf8(0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00), &out);
      return 2 * kUnitSize;
    }
  }
  const bool is_half = IsHighSurrogate(*unit) || IsLowSurrogate(*unit);
  AppendUtf8(is_half ? kReplacement : *unit, &out);
  return kUnitSize;
}

// Returns the character of the escape of a backslash and `c`, or nothing if there is no such
// escape.
std::optional<char> Escaped(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

}  // namespace

// The basic idea: a state machine. The state says which syntax may come next, and frames_ has the
// open arrays and objects. So there is no recursion, and deep nesting cannot overflow the stack.
bool StringReader::Next() {
  while (error_.empty()) {
    SkipBlanks();
    if (state_ == State::kEnd) {
      if (at_ < text_.size()) Fail(kSyntax);
      return false;
    }
    if (at_ == text_.size()) return Fail(kTruncated);
    if (Step()) return true;
  }
  return false;
}

// The size is checked first, before keys are unescaped. In a pointer, ~ and / in a key are written
// as ~0 and ~1.
std::optional<std::string> StringReader::Pointer() const {
  size_t size = 0;
  for (const Frame& frame : frames_) size += frame.key.size();
  if (size > kMaxPointer) return std::nullopt;
  std::string pointer;
  for (const Frame& frame : frames_) {
    if (frame.is_object) {
      absl::StrAppend(&pointer, "/",
                      absl::StrReplaceAll(Unescape(frame.key), {{"~", "~0"}, {"/", "~1"}}));
    } else {
      absl::StrAppend(&pointer, "/", frame.index);
    }
  }
  return pointer;
}

void StringReader::SkipBlanks() {
  while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
}

// Records an error. Returns false, for Next().
bool StringReader::Fail(absl::string_view error) {
  error_ = error;
  return false;
}

// Reads the next part of the value. Returns true if it is a string.
bool StringReader::Step() {
  const char c = text_[at_];
  switch (state_) {
    case State::kFirstValue:
      if (c == ']') {
        Close();
        return false;
      }
      return ReadValue();
    case State::kValue:
      return ReadValue();
    case State::kFirstKey:
      if (c == '}') {
        Close();
      } else {
        ReadKey();
      }
      return false;
    case State::kKey:
      ReadKey();
      return false;
    case State::kAfterValue:
      ReadSeparator();
      return false;
    case State::kEnd:
      break;
  }
  return false;
}

// Returns true for a string, whose text is then in raw_ and still has its escapes. The state is
// that after the value, so that the next Step() goes on behind it.
bool StringReader::ReadValue() {
  const char c = text_[at_];
  if (c == '"') {
    if (!ReadString(&raw_)) return false;
    EndValue();
    return true;
  }
  if (c == '{' || c == '[') {
    Open(c == '{');
  } else {
    ReadWord();
  }
  return false;
}

// Reads a string from its opening quote on.
bool StringReader::ReadString(absl::string_view* raw) {
  const size_t begin = at_ + 1;
  size_t end = text_.find('"', begin);
  // Jumps from quote to quote, since most text between them has none.
  while (end != absl::string_view::npos && IsEscaped(text_, begin, end)) {
    end = text_.find('"', end + 1);
  }
  if (end == absl::string_view::npos) return Fail(kTruncated);
  *raw = text_.substr(begin, end - begin);
  at_ = end + 1;
  return true;
}

// Reads a number or a word like true. It only checks that there is one.
void StringReader::ReadWord() {
  const size_t begin = at_;
  while (at_ < text_.size() && IsWordChar(text_[at_])) ++at_;
  if (at_ == begin) {
    Fail(kSyntax);
    return;
  }
  EndValue();
}

// Reads a key and the colon after it. The key stays in the frame, for Pointer().
void StringReader::ReadKey() {
  if (text_[at_] != '"') {
    Fail(kSyntax);
    return;
  }
  if (!ReadString(&frames_.back().key)) return;
  SkipBlanks();
  if (at_ == text_.size()) {
    Fail(kTruncated);
  } else if (text_[at_] != ':') {
    Fail(kSyntax);
  } else {
    ++at_;
    state_ = State::kValue;
  }
}

// The index counts the elements of an array; in an object it is not used.
void StringReader::ReadSeparator() {
  const bool in_object = frames_.back().is_object;
  const char c = text_[at_];
  if (c == (in_object ? '}' : ']')) {
    Close();
  } else if (c == ',') {
    ++at_;
    ++frames_.back().index;
    state_ = in_object ? State::kKey : State::kValue;
  } else {
    Fail(kSyntax);
  }
}

// Opens an array or object, up to kMaxDepth of them.
void StringReader::Open(bool is_object) {
  if (frames_.size() == kMaxDepth) {
    Fail(kDepth);
    return;
  }
  ++at_;
  frames_.push_back({is_object, 0, ""});
  state_ = is_object ? State::kFirstKey : State::kFirstValue;
}

// The closed array or object is itself a value of the one around it.
void StringReader::Close() {
  ++at_;
  frames_.pop_back();
  EndValue();
}

// Copies the text between escapes in whole pieces. No escape decodes to more bytes than it has.
std::string Unescape(absl::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t at = 0; at < raw.size();) {
    const size_t escape = raw.find('\\', at);
    out.append(raw.data() + at, std::min(escape, raw.size()) - at);
    if (escape == absl::string_view::npos) break;
    at = escape;
    if (const size_t size = AppendUnit(raw, at, out); size > 0) {
      at += size;
      continue;
    }
    // A backslash before anything else stays in the text.
    const std::optional<char> known =
        at + 1 < raw.size() ? Escaped(raw[at + 1]) : std::optional<char>();
    out += known.value_or('\\');
    at += known.has_value() ? 2 : 1;
  }
  return out;
}

}  // namespace kernelmill::json
