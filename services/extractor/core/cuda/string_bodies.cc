#include "services/extractor/core/cuda/string_bodies.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/code/bytes.h"

namespace kernelmill::extractor::cuda {

using absl::string_view;

namespace {

// Returns the name at the end of a text.
string_view NameAtEnd(string_view text) {
  size_t begin = text.size();
  while (begin > 0 && code::IsNameByte(text[begin - 1])) --begin;
  return text.substr(begin);
}

std::string Fill(string_view form, string_view name, string_view type) {
  return absl::StrReplaceAll(form, {{"$", name}, {"#", type}});
}

bool HasName(string_view text, string_view name) {
  for (size_t at = text.find(name); at != string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !code::IsNameByte(text[at - 1]);
    const size_t end = at + name.size();
    if (begins && (end == text.size() || !code::IsNameByte(text[end]))) return true;
  }
  return false;
}

}  // namespace

BodyFrame MakeBodyFrame(const dsl::BodyMaker& maker, string_view name,
                        const std::vector<std::string>& parameters, string_view body) {
  std::vector<std::string> head;
  BodyFrame frame;
  for (size_t i = 0; i < maker.parameters.size(); ++i) {
    const dsl::BodyMaker::Parameters& forms = maker.parameters[i];
    for (string_view declared : absl::StrSplit(parameters[i], absl::ByAnyChar(",\n"))) {
      declared = absl::StripAsciiWhitespace(declared);
      const bool raw = !forms.raw_head.empty() && absl::ConsumePrefix(&declared, "raw ");
      const string_view own = NameAtEnd(declared);
      if (own.empty()) continue;
      declared.remove_suffix(own.size());
      const string_view type = absl::StripAsciiWhitespace(declared);
      const std::string unknown = absl::StrCat(own, "_t");
      head.push_back(Fill(raw ? forms.raw_head : forms.head, own, type.empty() ? unknown : type));
      if (raw || forms.statement.empty()) continue;
      absl::StrAppend(&frame.before, Fill(forms.statement, own, type), "\n");
    }
  }
  for (const string_view implied : maker.implied) {
    const string_view own = NameAtEnd(implied);
    if (HasName(body, own)) head.push_back(absl::StrCat(implied, " [[", own, "]]"));
  }
  if (!maker.last.empty()) head.emplace_back(maker.last);
  const string_view opening = maker.opening;
  frame.before = absl::StrCat(Fill(maker.head, name, ""), "(", absl::StrJoin(head, ", "), ") {\n",
                              opening, opening.empty() ? "" : "\n", frame.before);
  frame.after = absl::StrCat("\n", maker.closing, maker.closing.empty() ? "" : "\n", "}");
  return frame;
}

bool AddBodyFrame(string_view file, size_t begin, size_t end, const BodyFrame& frame,
                  StringText& text) {
  const string_view content = file.substr(begin, end - begin);
  const size_t first = content.find('\n');
  const size_t last = content.rfind('\n');
  if (first == last) return false;
  const string_view before = absl::StripAsciiWhitespace(content.substr(0, first));
  const string_view after = absl::StripAsciiWhitespace(content.substr(last));
  if ((!before.empty() && before != "\\") || !after.empty()) return false;
  // From the end, so that the first place stays what it is.
  return text.Has(begin + first + 1) && text.Insert(begin + last, frame.after) &&
         text.Insert(begin + first + 1, frame.before);
}

}  // namespace kernelmill::extractor::cuda
