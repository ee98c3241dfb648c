// Copyright lines are kept because most licences require them to be passed on with the code.
#include "services/validator/core/license/words/attribution.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/spdx/text/words.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxBytes = 200;
constexpr absl::string_view kCopyrightTag = "SPDX-FileCopyrightText:";

// Returns whether the line belongs to a licence's text rather than to the work.
bool IsOfTheText(absl::string_view line) {
  for (const absl::string_view part : {"[yyyy]", "<year>", "{yyyy}", "[year]", "yyyy name",
                                       "free software foundation", "all rights reserved"}) {
    const bool whole = part != "all rights reserved";
    if (whole ? absl::StrContains(line, part) : absl::StartsWith(line, part)) return true;
  }
  return false;
}

}  // namespace

// Returns the lines that name a holder, at most kMaxCopyrights. Lines of a licence's own text
// ("Copyright [yyyy] [name]", the Free Software Foundation's own) name no holder of this work.
std::vector<std::string> CopyrightLines(absl::string_view text) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t begin = line.find_first_not_of("#/*<!-;%{\"'`|>=_~. \t\r");
    if (begin == absl::string_view::npos) continue;
    line = absl::StripAsciiWhitespace(line.substr(begin));
    const bool tagged = absl::ConsumePrefix(&line, kCopyrightTag);
    if (!tagged && !spdx::IsCopyrightLine(line)) continue;
    if (IsOfTheText(absl::AsciiStrToLower(line))) continue;
    AddCopyrightLine(line, &lines);
    if (lines.size() == kMaxCopyrights) break;
  }
  return lines;
}

void AddCopyrightLine(absl::string_view line, std::vector<std::string>* to) {
  AddCopyrights({ToUtf8(absl::StripAsciiWhitespace(line).substr(0, kMaxBytes))}, to);
}

void AddCopyrights(absl::Span<const std::string> from, std::vector<std::string>* to) {
  for (const std::string& line : from) {
    if (to->size() == kMaxCopyrights) return;
    if (std::find(to->begin(), to->end(), line) == to->end()) to->push_back(line);
  }
}

}  // namespace kernelmill::validator
