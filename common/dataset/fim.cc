#include "common/dataset/fim.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/hash.h"
#include "common/code/python.h"

namespace kernelmill::dataset {
namespace {

absl::string_view Strip(absl::string_view text) {
  while (!text.empty() && code::IsPythonSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && code::IsPythonSpace(text.back())) text.remove_suffix(1);
  return text;
}

// The line that begins at `offset`, with its line end.
absl::string_view LineAt(absl::string_view text, size_t offset) {
  const size_t end = text.find_first_of("\r\n", offset);
  if (end == absl::string_view::npos) return text.substr(offset);
  const bool is_pair = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
  return text.substr(offset, end + (is_pair ? 2 : 1) - offset);
}

// Where the comment that a body begins with ends: the lines that hold nothing else, up to one that
// does not. `offset` where there is none.
size_t EndOfFirstComment(absl::string_view source, size_t offset) {
  size_t end = offset;
  for (size_t at = offset; at < source.size();) {
    const absl::string_view line = LineAt(source, at);
    const absl::string_view content = Strip(line);
    const bool is_comment = !content.empty() && content.front() == '#';
    const bool is_before = content.empty() && end == offset;
    if (!is_comment && !is_before) break;
    at += line.size();
    if (is_comment) end = at;
  }
  return end;
}

}  // namespace

FimPair MakeFimPair(const v1::Kernel& kernel) {
  FimPair pair;
  for (const std::string& line : kernel.imports()) {
    pair.prompt += line;
    if (line.empty() || line.back() != '\n') pair.prompt += '\n';
  }
  if (!pair.prompt.empty()) pair.prompt += '\n';
  const std::string& source = kernel.source();
  size_t body = std::min(static_cast<size_t>(std::max(kernel.body_offset(), 0)), source.size());
  if (kernel.docstring().empty()) body = EndOfFirstComment(source, body);
  pair.prompt.append(source, 0, body);
  pair.completion = source.substr(body);
  return pair;
}

std::string NormalizeCode(absl::string_view code) {
  const std::string unified = absl::StrReplaceAll(code, {{"\r\n", "\n"}});
  const absl::string_view stripped = Strip(unified);
  std::string out(stripped.size(), '\0');
  size_t size = 0;
  size_t newlines = 0;  // at the end of what is written
  for (const char c : stripped) {
    if (c == '\n') {
      if (++newlines <= 2) out[size++] = c;
      continue;
    }
    newlines = 0;
    const bool blank = c == ' ' || c == '\t';
    // No tab is ever written, so a blank at the end is this very run.
    if (blank && size > 0 && out[size - 1] == ' ') continue;
    out[size++] = blank ? ' ' : c;
  }
  out.resize(size);
  return out;
}

std::string FimPairSha1(const FimPair& pair) {
  return Sha1(absl::StrCat(NormalizeCode(pair.prompt), "|||", NormalizeCode(pair.completion)));
}

}  // namespace kernelmill::dataset
