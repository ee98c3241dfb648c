#include "services/extractor/core/embedded/json_strings.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace kernelmill::extractor::json {
namespace {

constexpr absl::string_view kTruncated = "json_truncated";
constexpr absl::string_view kSyntax = "json_syntax";
constexpr absl::string_view kDepth = "json_depth";

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// What numbers, true, false, null, NaN and Infinity are made of.
bool IsOfWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '+' || c == '.';
}

// Whether the byte at `at` follows an odd number of backslashes, those before `begin` aside.
bool IsEscaped(absl::string_view text, size_t begin, size_t at) {
  size_t first = at;
  while (first > begin && text[first - 1] == '\\') --first;
  return (at - first) % 2 == 1;
}

}  // namespace

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

// Always false, as Next() is then.
bool StringReader::Fail(absl::string_view error) {
  error_ = error;
  return false;
}

// Reads the next of what the value is made of; whether that is a string.
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

// From the quote on.
bool StringReader::ReadString(absl::string_view* raw) {
  const size_t begin = at_ + 1;
  size_t end = text_.find('"', begin);
  while (end != absl::string_view::npos && IsEscaped(text_, begin, end)) {
    end = text_.find('"', end + 1);
  }
  if (end == absl::string_view::npos) return Fail(kTruncated);
  *raw = text_.substr(begin, end - begin);
  at_ = end + 1;
  return true;
}

void StringReader::ReadWord() {
  const size_t begin = at_;
  while (at_ < text_.size() && IsOfWord(text_[at_])) ++at_;
  if (at_ == begin) {
    Fail(kSyntax);
    return;
  }
  EndValue();
}

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

void StringReader::Open(bool is_object) {
  if (frames_.size() == kMaxDepth) {
    Fail(kDepth);
    return;
  }
  ++at_;
  frames_.push_back({is_object, 0, ""});
  state_ = is_object ? State::kFirstKey : State::kFirstValue;
}

void StringReader::Close() {
  ++at_;
  frames_.pop_back();
  EndValue();
}

}  // namespace kernelmill::extractor::json
