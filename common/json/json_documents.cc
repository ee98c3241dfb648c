#include "common/json/json_documents.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/json/json_strings.h"

// Data sets of code come as .json files that have a value on each line, and as .jsonl files that
// are one value over many lines. So the content decides, and the extension only breaks the tie. The
// text is not copied: a Document is a view into it.
namespace kernelmill::json {
namespace {

constexpr absl::string_view kLinesEnd = ".jsonl";
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// Returns true if the text is one JSON value. It is read once and nothing is stored.
bool IsWhole(absl::string_view text) {
  StringReader reader(text);
  while (reader.Next()) {
  }
  return reader.error().empty();
}

// Decides whether the file has a value on each line. It looks at the first line and, only if that
// does not fit the extension, at the whole text.
bool HasValueALine(absl::string_view path, absl::string_view text) {
  // Most files are decided by their first line, which is cheap.
  const size_t end = std::min(text.find('\n'), text.size());
  const bool first_line_is_whole = IsWhole(text.substr(0, end));
  if (absl::EndsWith(path, kLinesEnd)) return first_line_is_whole || !IsWhole(text);
  return first_line_is_whole && !absl::StripAsciiWhitespace(text.substr(end)).empty();
}

}  // namespace

bool IsJsonPath(absl::string_view path) {
  return absl::EndsWith(path, ".json") || absl::EndsWith(path, kLinesEnd);
}

Documents::Documents(absl::string_view path, absl::string_view text) : text_(text) {
  if (absl::StartsWith(text, kByteOrderMark)) at_ = kByteOrderMark.size();
  by_line_ = HasValueALine(path, text.substr(at_));
}

// Returns the next value that is not blank. A value that is not valid JSON is returned too; its
// reader reports the error.
bool Documents::Next(Document* document) {
  while (at_ < text_.size()) {
    const size_t begin = at_;
    const size_t line_end = by_line_ ? text_.find('\n', begin) : absl::string_view::npos;
    const size_t end = std::min(line_end, text_.size());
    at_ = std::min(end + 1, text_.size());
    // Lines are counted also when they are blank, since pointers name the line in the file.
    ++line_;
    const absl::string_view text = text_.substr(begin, end - begin);
    if (by_line_ && absl::StripAsciiWhitespace(text).empty()) continue;
    *document = {text, begin, by_line_ ? absl::StrCat("/", line_) : ""};
    return true;
  }
  return false;
}

}  // namespace kernelmill::json
