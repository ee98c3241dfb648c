// Recognizes licence texts by phrases. The basic idea: families of licences begin alike
// ("Redistribution and use in source and binary forms..."), so each such anchor opens a segment of
// the text, which lasts until a form's closing phrase or the next anchor of the same kind. The
// forms of the family are tried from the most special to the most general; one fits if its phrases
// are in the segment, those of its neighbours are not, and the segment is about as long as the
// original: words slipped in between
// ("...for non-commercial purposes...") make it too long or break a phrase. A segment that no form
// fits is an altered licence, of which nothing is concluded.
//
// Phrases are written as NormalizeWords leaves them. Texts of titles and dates alone (the GNU
// licences) have no closing phrase; their length is what the original has.
#include "services/validator/core/license_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "services/validator/core/license_forms.h"
#include "common/spdx/words.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kNone = std::string::npos;

struct Found {
  size_t at;
  size_t bytes;
  size_t words;
  const LicenseForm* form;  // null: altered
};

// The byte one past the first `words` words of text[from, to).
size_t SkipWords(const std::string& text, size_t from, size_t to, size_t words) {
  while (from < to && words > 0) {
    ++from;
    from = std::min(text.find(' ', from), to);
    --words;
  }
  return from;
}

// Whether the form fits the segment of the text from match->at to `to`; if so, sets its size.
bool Fits(const LicenseForm& form, const std::string& text, Found* match, size_t to) {
  const absl::string_view segment(text.data() + match->at, to - match->at);
  const absl::string_view end_phrase(form.end);
  size_t length = SkipWords(text, match->at, to, form.max_words) - match->at;
  if (!end_phrase.empty()) {
    length = segment.find(end_phrase);
    if (length == absl::string_view::npos) return false;
  }
  const absl::string_view body = segment.substr(0, length);
  const size_t words = CountWords(body);
  if (words < form.min_words || words > form.max_words) return false;
  for (const char* phrase : form.has) {
    if (phrase != nullptr && !absl::StrContains(body, phrase)) return false;
  }
  for (const char* phrase : form.lacks) {
    if (phrase != nullptr && absl::StrContains(body, phrase)) return false;
  }
  match->bytes = length + end_phrase.size();
  match->words = words + std::count(end_phrase.begin(), end_phrase.end(), ' ');
  return true;
}

// Tries the forms [first, last), which share an anchor, on every segment that it opens.
void MatchAnchor(const LicenseForm* first, const LicenseForm* last, const std::string& text,
                 std::vector<Found>* found) {
  size_t at = FindPhrase(text, first->anchor);
  while (at != kNone) {
    const size_t next = FindPhrase(text, first->anchor, at + 1);
    const size_t to = next == kNone ? text.size() : next + 1;
    Found match{at, 0, 0, nullptr};
    for (const LicenseForm* form = first; form != last && match.form == nullptr; ++form) {
      if (Fits(*form, text, &match, to)) match.form = form;
    }
    found->push_back(match);
    at = next;
  }
}

// An exception belongs to its licence, and X11 is MIT's text with one sentence more.
void JoinRelated(std::vector<std::string>* ids) {
  const auto has = [&](absl::string_view id) {
    return std::find(ids->begin(), ids->end(), id) != ids->end();
  };
  const auto erase = [&](absl::string_view id) {
    ids->erase(std::remove(ids->begin(), ids->end(), id), ids->end());
  };
  if (has("LLVM-exception")) {
    for (std::string& id : *ids) {
      if (id == "Apache-2.0") id = "Apache-2.0 WITH LLVM-exception";
    }
    erase("LLVM-exception");
  }
  if (has("X11")) erase("MIT");
}

}  // namespace

TextMatches MatchLicenseTexts(const std::string& normalized) {
  std::vector<Found> found;
  const absl::Span<const LicenseForm> forms = LicenseForms();
  const LicenseForm* const end = forms.data() + forms.size();
  for (const LicenseForm* first = forms.data(); first != end;) {
    const LicenseForm* last = first + 1;
    while (last != end && absl::string_view(last->anchor) == first->anchor) ++last;
    MatchAnchor(first, last, normalized, &found);
    first = last;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.at < b.at; });

  TextMatches matches;
  std::vector<std::string> ids;
  size_t rest = 0;  // where what no match has covered goes on
  for (const Found& match : found) {
    if (match.form == nullptr) {
      matches.altered = true;
      continue;
    }
    if (match.at > rest) {
      matches.rest.append(normalized, rest, match.at - rest);
      rest = match.at;
    }
    rest = std::max(rest, match.at + match.bytes);
    matches.covered += match.words;
    if (std::find(ids.begin(), ids.end(), match.form->id) == ids.end()) {
      ids.emplace_back(match.form->id);
    }
  }
  matches.rest.append(normalized, std::min(rest, normalized.size()), std::string::npos);
  JoinRelated(&ids);
  for (const std::string& id : ids) {
    absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(id);
    if (expression.ok()) matches.licenses.push_back(*std::move(expression));
  }
  return matches;
}

}  // namespace kernelmill::validator
