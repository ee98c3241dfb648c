#include "services/extractor/core/cuda/string_text.h"

#include <algorithm>

#include "common/code/python_escapes.h"

namespace kernelmill::extractor::cuda {

using absl::string_view;

void StringText::Open(size_t in_file) { parts_.push_back({text_.size(), 0, in_file, true}); }

// Adds bytes of the file. Those that follow the last part directly are the same part.
void StringText::AddPart(size_t begin, size_t end) {
  TextPart& last = parts_.back();
  const bool follows = last.begin + last.size == text_.size() && last.in_file + last.size == begin;
  if (!follows) parts_.push_back({text_.size(), 0, begin, false});
  parts_.back().size += end - begin;
  text_.append(file_.data() + begin, end - begin);
}

void StringText::AppendContent(size_t begin, size_t end, const code::PythonPrefix& prefix) {
  const string_view content = file_.substr(0, end);
  size_t plain = begin;
  for (size_t at = begin; at < end;) {
    const char c = content[at];
    const bool brace = prefix.replaces && (c == '{' || c == '}');
    if (!brace && (c != '\\' || prefix.raw)) {
      ++at;
      continue;
    }
    code::PythonEscape escape = {at + 1, std::string(1, c)};
    if (!brace) escape = code::ReadPythonEscape(content, at, prefix.bytes);
    if (brace && at + 1 < end && content[at + 1] == c) escape.end = at + 2;
    if (escape.end > at + 1) {
      AddPart(plain, at);
      text_ += escape.value;
      plain = escape.end;
      AddPart(plain, plain);
    }
    at = escape.end;
  }
  AddPart(plain, end);
}

void StringText::AppendValue(size_t begin, size_t end, string_view value, bool known) {
  AddPart(begin, begin);
  if (!known) guesses_.push_back(text_.size());
  text_.append(value.data(), value.size());
  AddPart(end, end);
}

void StringText::Append(const StringText& other) {
  for (TextPart part : other.parts_) {
    part.begin += text_.size();
    parts_.push_back(part);
  }
  for (const size_t guess : other.guesses_) guesses_.push_back(guess + text_.size());
  text_ += other.text_;
  is_whole_ &= other.is_whole_;
}

// Returns the index of the part with that byte of the file; their number if no part has it.
size_t StringText::FindPartOf(size_t in_file) const {
  const auto found = std::find_if(parts_.begin(), parts_.end(), [in_file](const TextPart& part) {
    return part.in_file <= in_file && in_file < part.in_file + part.size;
  });
  return static_cast<size_t>(found - parts_.begin());
}

// The part is cut in two, with the inserted text between them.
bool StringText::Insert(size_t in_file, string_view text) {
  if (!Has(in_file)) return false;
  const size_t index = FindPartOf(in_file);
  TextPart& cut = parts_[index];
  const size_t size = in_file - cut.in_file;
  const size_t offset = cut.begin + size;
  const TextPart rest = {offset, cut.size - size, in_file, false};
  cut.size = size;
  parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(index) + 1, rest);
  for (size_t i = index + 1; i < parts_.size(); ++i) parts_[i].begin += text.size();
  for (size_t& guess : guesses_) guess += guess >= offset ? text.size() : 0;
  text_.insert(offset, text.data(), text.size());
  return true;
}

// Returns the index of the part that has the byte, or after which its value comes.
size_t StringText::FindPart(size_t offset) const {
  const auto after =
      std::upper_bound(parts_.begin(), parts_.end(), offset,
                       [](size_t wanted, const TextPart& part) { return wanted < part.begin; });
  const auto index = static_cast<size_t>(after - parts_.begin());
  return index == 0 ? 0 : index - 1;
}

size_t StringText::InFile(size_t offset) const {
  const TextPart& part = parts_[FindPart(offset)];
  return part.in_file + std::min(offset - std::min(offset, part.begin), part.size);
}

bool StringText::InOneLiteral(size_t begin, size_t end) const {
  const size_t first = FindPart(begin);
  const size_t last = FindPart(end - 1);
  if (begin < parts_[first].begin) return false;
  for (size_t i = first + 1; i <= last; ++i) {
    if (parts_[i].opens) return false;
  }
  // A text after the last part of a literal, and before the next literal, is in neither.
  const bool closes = last + 1 == parts_.size() || parts_[last + 1].opens;
  return !closes || end <= parts_[last].begin + parts_[last].size;
}

bool StringText::IsGuess(size_t begin, size_t end) const {
  const auto next = std::lower_bound(guesses_.begin(), guesses_.end(), begin);
  return next != guesses_.end() && *next < end;
}

}  // namespace kernelmill::extractor::cuda
