// Full texts of licences in a text. MatchTemplates finds texts of the SPDX list; what is left is
// searched for phrases of terms that no text of the list has, and for beginnings of licences. The
// latter make a text "altered": somebody has changed a licence so much that no match was found, and
// the result must not be that there is no licence.
#include "services/validator/core/license/text/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/match.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxText = 200;
constexpr size_t kMaxTitle = 120;

}  // namespace

v1::LicenseEvidence MakeEvidence(absl::string_view rule, absl::string_view expression,
                                 absl::string_view text, double score, LineRange lines) {
  v1::LicenseEvidence evidence;
  evidence.set_rule(std::string(rule));
  evidence.set_expression(ToUtf8(expression));
  evidence.set_text(ToUtf8(text.substr(0, kMaxText)));
  evidence.set_score(std::round(score * 1000) / 1000);
  evidence.set_first_line(lines.first);
  evidence.set_last_line(lines.last);
  return evidence;
}

void SetPath(absl::string_view path, Evidence* evidence) {
  for (v1::LicenseEvidence& one : *evidence) {
    if (one.path().empty()) one.set_path(ToUtf8(path));
  }
}

void Append(const Evidence& from, Evidence* to) { to->insert(to->end(), from.begin(), from.end()); }

namespace {

using spdx::LegalWord;

// A phrase, in the form of NormalizeWords, for terms that no text of the SPDX list has.
struct LicensePhrase {
  const char* id;  // one of our LicenseRef-, or an SPDX exception
  const char* phrase;
};

constexpr LicensePhrase kPhrases[] = {
    {"LLVM-exception", "llvm exceptions to the apache 2.0 license"},
    {"fmt-exception", "optional exception to the license"},
    {"LicenseRef-Commons-Clause", "commons clause license condition"},
    {"LicenseRef-NVIDIA-Proprietary",
     "without an express license agreement from nvidia corporation"},
    {"LicenseRef-Proprietary", "proprietary and confidential"},
    {"LicenseRef-UseRestrictions", "use based restrictions"},
    {"LicenseRef-NonCommercial", "non commercial use"},
    {"LicenseRef-NonCommercial", "non commercial purposes"},
    {"LicenseRef-NonCommercial", "noncommercial use"},
    {"LicenseRef-NonCommercial", "noncommercial purposes only"},
    {"LicenseRef-NonCommercial", "for research purposes only"},
    {"LicenseRef-NonCommercial", "research use only"},
};

// The beginnings of licences that are often altered or cut off. If one of them is there and no text
// of the list follows, nothing may be concluded.
constexpr const char* kBeginnings[] = {
    "permission is hereby granted free of charge to any person obtaining a copy",
    "permission is hereby granted free of charge to any person or organization obtaining a copy",
    "distribute this software for any purpose with or without fee is hereby granted",
    "redistribution and use in source and binary forms with or without modification are permitted",
};

// Overwrites the words of a range in `text` with blanks, and the signs between those on one line.
// Line ends stay, and so does what LegalWords leaves out: copyright lines and other scripts.
void Blank(const std::vector<LegalWord>& words, WordRange range, std::string* text) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const bool last = i + 1 == range.end;
    const size_t next = last ? text->size() : words[i + 1].at;
    for (size_t at = words[i].at; at < next && (*text)[at] != '\n'; ++at) {
      if (last && !absl::ascii_isalnum((*text)[at])) break;
      if (absl::ascii_isascii((*text)[at])) (*text)[at] = ' ';
    }
  }
}

// Returns the text of a range of words, as it is written.
absl::string_view Written(absl::string_view text, const std::vector<LegalWord>& words,
                          WordRange range) {
  const size_t begin = words[range.begin].at;
  const size_t end = range.end < words.size() ? words[range.end].at : text.size();
  return text.substr(begin, end - begin);
}

// Fills in a TextMatches, each licence once.
class TextMatcher {
 public:
  explicit TextMatcher(TextMatches* matches) : matches_(*matches) {}

  // Adds the matches with the SPDX list, and blanks them out in `rest`.
  void AddTexts(absl::string_view text) {
    const std::vector<LegalWord> words = spdx::LegalWords(text);
    const LicenseMatches found = MatchTemplates(words);
    matches_.words = words.size();
    matches_.altered = found.exhausted;
    matches_.rest = std::string(text);
    for (const LicenseMatch& match : found.matches) {
      const bool altered = match.altered || HasTermsInside(text, words, match);
      const std::string expression = altered ? AlteredId(match.id) : match.id;
      matches_.evidence.push_back(
          MakeEvidence("text", expression, match.id, match.score,
                       {words[match.begin].line, words[match.end - 1].line}));
      if (match.altered)
        matches_.evidence.push_back(MakeEvidence("residue", "", match.change, match.score));
      size_t from = match.begin;
      for (const WordRange& beside : match.beside) {
        Blank(words, {from, beside.begin}, &matches_.rest);
        from = beside.end;
      }
      Blank(words, {from, match.end}, &matches_.rest);
      matches_.covered += match.end - match.begin;
      matches_.score = std::min(matches_.score, match.score);
      AddId(expression);
    }
  }

  // Adds the licence that the first lines are the title of: "CreativeML Open RAIL-M". Other
  // licences have use-based restrictions too.
  void AddTitle() {
    const std::string head = spdx::NormalizeWords(matches_.rest.substr(0, kMaxTitle));
    for (const char* title : {"open rail m", "openrail m", "openrail", "bigscience rail license"}) {
      if (spdx::FindPhrase(head, title) == std::string::npos) continue;
      if (AddId("LicenseRef-OpenRAIL"))
        matches_.evidence.push_back(MakeEvidence("phrase", "LicenseRef-OpenRAIL", title, 1));
    }
  }

  // Looks for phrases and beginnings in the rest.
  void AddPhrases() {
    AddTitle();
    const std::string rest = spdx::NormalizeWords(matches_.rest);
    for (const LicensePhrase& phrase : kPhrases) {
      if (spdx::FindPhrase(rest, phrase.phrase) == std::string::npos) continue;
      if (!AddId(phrase.id)) continue;
      matches_.evidence.push_back(MakeEvidence("phrase", phrase.id, phrase.phrase, 1));
    }
    for (const absl::string_view beginning : kBeginnings) {
      if (spdx::FindPhrase(rest, beginning) == std::string::npos) continue;
      matches_.altered = true;
      matches_.evidence.push_back(MakeEvidence("phrase", "", beginning, 0));
    }
  }

  // An exception belongs to its licence.
  void Finish() {
    JoinException("Apache-2.0", "LLVM-exception");
    JoinException("MIT", "fmt-exception");
    for (const std::string& id : ids_) {
      absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(id);
      if (expression.ok()) matches_.licenses.push_back(*std::move(expression));
    }
  }

 private:
  void JoinException(absl::string_view license, absl::string_view exception) {
    const auto found = std::find(ids_.begin(), ids_.end(), exception);
    if (found == ids_.end()) return;
    ids_.erase(found);
    for (std::string& id : ids_) {
      if (id == license) id = absl::StrCat(license, " WITH ", exception);
    }
  }

  // Names a text that the list does not have.
  static std::string AlteredId(absl::string_view id) {
    return absl::StrCat("LicenseRef-", id, "-altered");
  }

  // Judges what was put into a licence's text. The words that may be terms become evidence.
  bool HasTermsInside(absl::string_view text, const std::vector<LegalWord>& words,
                      const LicenseMatch& match) {
    bool terms = false;
    for (const WordRange& range : match.inserted) {
      for (const ResidueUnit& unit : FindResidue(Written(text, words, range), {match.id})) {
        if (!unit.paths.empty()) {
          matches_.scoped.push_back(unit);
          continue;
        }
        const int line = words[range.begin].line + unit.line - 1;
        matches_.evidence.push_back(MakeEvidence("residue", "", unit.text, 0, {line, line}));
        terms = true;
      }
    }
    return terms;
  }

  bool AddId(absl::string_view id) {
    if (std::find(ids_.begin(), ids_.end(), id) != ids_.end()) return false;
    ids_.emplace_back(id);
    return true;
  }

  TextMatches& matches_;
  std::vector<std::string> ids_;
};

}  // namespace

// Texts of the list are blanked out before phrases are searched, so that words of a known licence
// are no signs.
TextMatches MatchLicenseTexts(absl::string_view text) {
  TextMatches matches;
  TextMatcher matcher(&matches);
  matcher.AddTexts(text);
  matcher.AddPhrases();
  matcher.Finish();
  return matches;
}

}  // namespace kernelmill::validator
