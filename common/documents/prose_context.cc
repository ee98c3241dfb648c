#include "common/documents/prose_context.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/code/line_index.h"

namespace kernelmill::documents {
namespace {

constexpr size_t kMostHashes = 6;
constexpr size_t kShortestUnderline = 3;

// Returns whether the line only underlines the one above it.
bool IsUnderline(absl::string_view line) {
  constexpr absl::string_view kMarks = "=-~^\"'*+#`:._";
  return line.size() >= kShortestUnderline && kMarks.find(line[0]) != absl::string_view::npos &&
         line.find_first_not_of(line[0]) == absl::string_view::npos;
}

// Returns the text of a heading that begins with "#"; empty for other lines.
absl::string_view HashHeading(absl::string_view line) {
  const size_t hashes = std::min(line.find_first_not_of('#'), line.size());
  if (hashes == 0 || hashes > kMostHashes) return "";
  const absl::string_view text = line.substr(hashes);
  if (!absl::StartsWith(text, " ") && !absl::StartsWith(text, "\t")) return "";
  const size_t last = text.find_last_not_of("# \t");
  return absl::StripAsciiWhitespace(text.substr(0, last + 1));
}

// Returns whether the line shows an image. Images in notebooks are megabytes of base64.
bool IsImage(absl::string_view line) {
  return absl::StartsWith(line, "![") || absl::StartsWith(line, "<img") ||
         absl::StrContains(line, "data:image/");
}

}  // namespace

std::string Collapse(absl::string_view text, size_t max_bytes) {
  std::string collapsed =
      absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \t\r\n\f\v"), absl::SkipEmpty()), " ");
  if (collapsed.size() <= max_bytes) return collapsed;
  size_t end = max_bytes;
  // A byte that continues a character of UTF-8 begins with the bits 10.
  while (end > 0 && (static_cast<unsigned char>(collapsed[end]) & 0xc0) == 0x80) --end;
  collapsed.resize(end);
  return collapsed;
}

void ProseContext::SetHeading(absl::string_view text) {
  heading_ = Collapse(text, kMaxHeading);
  paragraph_.clear();
}

// The paragraph is read as a view of whole lines and cut once it is known to be the last.
void ProseContext::Read(absl::string_view text) {
  absl::string_view paragraph;
  absl::string_view last;     // the line before
  bool is_last_line = false;  // of a paragraph that goes on
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = AfterLine(text, begin);
    const absl::string_view line = absl::StripAsciiWhitespace(text.substr(begin, end - begin));
    const absl::string_view heading = HashHeading(line);
    if (!heading.empty()) {
      SetHeading(heading);
      paragraph = {};
      is_last_line = false;
    } else if (is_last_line && IsUnderline(line)) {
      SetHeading(last);
      paragraph = {};
      is_last_line = false;
    } else if (line.empty() || IsUnderline(line) || IsImage(line)) {
      is_last_line = false;
    } else {
      const char* first = is_last_line ? paragraph.data() : text.data() + begin;
      paragraph = absl::string_view(first, static_cast<size_t>(text.data() + end - first));
      is_last_line = true;
      last = line;
    }
  }
  if (!paragraph.empty()) paragraph_ = Collapse(paragraph, kMaxParagraph);
}

}  // namespace kernelmill::documents
