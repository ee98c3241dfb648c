// Terms, the basic idea: residue.h finds what is not known to be harmless, which is right for a
// licence file, where nearly all words are about the licence. Comments, README and NOTICE files are
// mostly about something else, so here a sentence counts only if its words say something about
// terms: that something is forbidden or needs a permission (a work, a deed and a limit), that it is
// secret, or a licence that nothing else understood.
#include "services/validator/core/license/text/terms.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/residue_words.h"
#include "services/validator/core/license/text/units.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxUnits = 8;
constexpr size_t kMaxHeading = 60;

// Returns whether joined words have one of the phrases.
bool HasAny(const std::string& text, std::initializer_list<absl::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](absl::string_view phrase) {
    return absl::StrContains(text, absl::StrCat(" ", phrase, " "));
  });
}

// Returns whether the text begins with one of the phrases.
bool BeginsWith(absl::string_view text, std::initializer_list<absl::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](absl::string_view phrase) {
    return absl::StartsWith(text, absl::StrCat(" ", phrase, " "));
  });
}

size_t WordCount(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), ' ')) - 1;
}

// Returns whether the sentence limits the work to a purpose or keeps it secret, whatever it names.
bool LimitsPurpose(const std::string& text) {
  return HasAny(text, {"commons clause",
                       "trade secret",
                       "trade secrets",
                       "noncommercial",
                       "non commercial",
                       "noncommercially",
                       "research purposes only",
                       "purposes only",
                       "research only",
                       "academic only",
                       "only for research",
                       "used for research",
                       "only for academic",
                       "for evaluation only",
                       "academic use",
                       "personal use",
                       "evaluation only",
                       "evaluation use",
                       "research use",
                       "educational use",
                       "not evil",
                       "not for redistribution",
                       "not for distribution",
                       "not be redistributed",
                       "do not redistribute",
                       "under nda",
                       "non disclosure",
                       "nondisclosure"});
}

// Returns whether the sentence says that the work is a secret: "AMD proprietary.",
// "This file is confidential". Libraries may be proprietary, and computing confidential.
bool IsSecret(const std::string& text) {
  constexpr size_t kShort = 6;
  if (!HasAny(text, {"proprietary", "confidential"})) return false;
  return WordCount(text) <= kShort ||
         HasAny(text, {"this file", "this software", "this code", "this source", "this program",
                       "this material", "this work", "this is", "these materials",
                       "proprietary rights", "proprietary information", "confidential information",
                       "proprietary and confidential", "confidential and proprietary",
                       "strictly confidential", "is confidential", "are confidential"});
}

// Returns whether the text names something that a licence permits.
bool HasDeed(const std::string& text) {
  return HasAny(text,
                {"use",         "used",         "copy",           "copied",       "distribute",
                 "distributed", "distribution", "redistribution", "redistribute", "redistributed",
                 "reproduce",   "reproduced",   "reproduction",   "train",        "training",
                 "trained",     "disclosed",    "sold",           "sell",         "resold",
                 "commercial",  "commercially", "military",       "operate",      "provide",
                 "copying"});
}

// Returns whether it names a deed that sentences about code have as well.
bool HasAnyDeed(const std::string& text) {
  return HasDeed(text) || HasAny(text, {"incorporated", "shared", "hosted", "deployed", "published",
                                        "modified", "released"});
}

bool HasLimit(const std::string& text) {
  return HasAny(text, {"may not",
                       "must not",
                       "shall not",
                       "not be",
                       "cannot",
                       "can not",
                       "may only",
                       "only be used",
                       "only for",
                       "prohibited",
                       "forbidden",
                       "not permitted",
                       "not allowed",
                       "disallowed",
                       "permission",
                       "consent",
                       "shall be used",
                       "authorization",
                       "opt out",
                       "requires a license",
                       "request a license",
                       "use only",
                       "license fee",
                       "patent license",
                       "is restricted",
                       "are restricted",
                       "is limited to",
                       "are limited to",
                       "restricted to",
                       "strictly for",
                       "solely for",
                       "solely to",
                       "no part of",
                       "without written",
                       "separate license",
                       "commercial license"});
}

// Returns whether a sentence of a file about the work forbids a deed with it, or limits it to a
// purpose. A sentence about weights or data alone is not about code.
bool Restricts(const std::string& text) {
  const bool code = HasAny(text, {"software", "code", "file", "files", "program", "repository",
                                  "library", "product", "project", "package", "materials",
                                  "this work", "the work", "kernels", "source", "redistribution"});
  const bool others =
      HasAny(text, {"weights", "checkpoint", "checkpoints", "dataset", "datasets", "images"});
  if (others && !code) return false;
  if (LimitsPurpose(text) || IsSecret(text)) return true;
  const bool work =
      code || HasAny(text, {"commercial use", "commercial users", "commercial purposes"});
  return work && HasAnyDeed(text) && HasLimit(text);
}

// Returns whether a sentence of a comment does. Sentences about functions, buffers and users' code
// have the same words, so it must speak of this file or begin with the deed.
bool RestrictsInComment(const std::string& text, bool prose) {
  if (IsSecret(text)) return true;
  constexpr size_t kShort = 8;
  const bool brief = WordCount(text) <= kShort;
  if (!prose && brief && HasAny(text, {"internal use only", "do not distribute"})) return true;
  const bool work =
      HasAny(text, {"this software", "this code",       "this file",
                    "this program",  "this source",     "this work",
                    "this material", "this library",    "this repository",
                    "this package",  "this project",    "this module",
                    "these files",   "the software",    "the program",
                    "the work",      "the source code", "these materials",
                    "said software", "source code",     "software and related documentation"}) ||
      (!prose && HasAny(text, {"the code"}));
  if (LimitsPurpose(text) && (work || !prose || brief)) return true;
  const bool begins =
      BeginsWith(text, {"use", "any use", "redistribution", "reproduction", "copying",
                        "distribution", "commercial use", "no part", "not to be", "unauthorized"});
  return (work || begins || HasAny(text, {"commercial use"})) && HasDeed(text) && HasLimit(text);
}

// Returns whether a sentence of a comment speaks of what may be done with the work.
bool SpeaksOfTerms(const std::string& text) {
  return RestrictsInComment(text, /*prose=*/false) ||
         HasAny(text,
                {"license", "licenses", "licensed", "licence", "licensing", "eula", "copyleft",
                 "gpl", "gplv2", "gplv3", "lgpl", "agpl", "cc by", "cc0", "creative commons",
                 "terms of use", "terms of service", "some rights reserved"});
}

// Returns whether a sentence of a docstring, or of a comment below code, states terms. There the
// words of licences are often about what the code does: "Reports the license of each package".
bool StatesTerms(const std::string& text) {
  constexpr size_t kShort = 6;
  if (RestrictsInComment(text, /*prose=*/true)) return true;
  if (!SpeaksOfTerms(text)) return false;
  return WordCount(text) <= kShort ||
         BeginsWith(text, {"license", "licence", "licensed", "copyright"}) ||
         HasAny(text, {"licensed under",
                       "licensed by",
                       "licensed to",
                       "released under",
                       "distributed under",
                       "available under",
                       "provided under",
                       "published under",
                       "governed by",
                       "subject to",
                       "covered by",
                       "under the terms",
                       "terms of this",
                       "license agreement",
                       "license agreements",
                       "see license",
                       "see the license",
                       "see copyright",
                       "under license",
                       "under the license",
                       "under this license",
                       "in the license file",
                       "compliance with the license",
                       "not have a license",
                       "original license",
                       "their license",
                       "its license is"});
}

// Phrases of other scripts that speak of what may be done with the work.
bool SpeaksOfTermsElsewhere(absl::string_view unit) {
  static constexpr absl::string_view kPhrases[] = {
      // Chinese: for commercial ends, without permission, for study or research or private use only
      "\u5546\u4e1a\u7528\u9014", "\u5546\u7528", "\u672a\u7ecf\u8bb8\u53ef",
      "\u672a\u7ecf\u6388\u6743", "\u4ec5\u4f9b\u5b66", "\u4ec5\u4f9b\u7814\u7a76",
      "\u4ec5\u4f9b\u4e2a\u4eba", "\u4ec5\u4f9b\u5185\u90e8",
      // Japanese: without permission, commercial use
      "\u7121\u65ad", "\u5546\u7528\u5229\u7528"};
  return absl::c_any_of(kPhrases,
                        [&](absl::string_view phrase) { return absl::StrContains(unit, phrase); });
}

// Returns the names of files in the unit that hold a licence other than the source's own:
// COPYRIGHT, LICENSE.bsd, COPYING-NV. Empty for LICENSE, LICENSE.txt and COPYING.
std::vector<std::string> LicenseFileNames(absl::string_view unit) {
  std::vector<std::string> names;
  for (absl::string_view token :
       absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    while (!token.empty() && absl::StrContains("`'\"(<[./", token.front())) token.remove_prefix(1);
    while (!token.empty() && absl::StrContains("`'\")>].,:;", token.back())) token.remove_suffix(1);
    const absl::string_view name = token.substr(token.rfind('/') + 1);
    if (absl::StrContains(token, "://")) continue;
    for (const absl::string_view stem : {"COPYRIGHT", "LICENSE", "LICENCE", "COPYING", "License"}) {
      absl::string_view end = name;
      if (!absl::ConsumePrefix(&end, stem)) continue;
      const bool more = !end.empty() && absl::StrContains("-_.", end.front());
      const bool plain = end.empty() || end == ".txt" || end == ".md" || end == ".rst";
      if ((more && !plain) || (stem == "COPYRIGHT" && plain && unit != name))
        names.emplace_back(name);
      break;
    }
  }
  return names;
}

// Returns whether the paragraph is a heading: of Markdown, or underlined.
bool IsHeading(absl::string_view text) {
  const absl::string_view line = absl::StripAsciiWhitespace(text.substr(0, text.find('\n')));
  const size_t next = text.find('\n');
  const bool underlined = next != absl::string_view::npos && next + 1 < text.size() &&
                          absl::StrContains("=-", text[next + 1]);
  return line.size() <= kMaxHeading && (absl::StartsWith(line, "#") || underlined) &&
         !absl::EndsWith(line, ".") && !absl::StrContains(line, "Copyright");
}

}  // namespace

std::vector<ResidueUnit> FindTermsInComments(absl::string_view comments,
                                             const std::vector<std::string>& licenses,
                                             const std::function<bool(int)>& prose) {
  std::vector<ResidueUnit> terms;
  VisitResidue(comments, licenses, [&](absl::string_view unit, int line) {
    const std::string words = Joined(Tokens(unit));
    const bool states = prose(line) ? StatesTerms(words) : SpeaksOfTerms(words);
    if (states || SpeaksOfTermsElsewhere(unit)) terms.push_back({Shown(unit), line, {}});
    return terms.size() < kMaxUnits;
  });
  return terms;
}

bool LimitsLicense(absl::string_view sentence, bool prose) {
  const std::string text = Joined(Tokens(sentence));
  if (prose) return RestrictsInComment(text, prose);
  return Restricts(text) ||
         HasAny(text, {"except", "excluding", "only", "additional", "commons", "must", "not",
                       "prohibited", "forbidden", "conditions", "research", "academic", "rider"});
}

// A section lasts up to the next heading.
std::vector<ResidueUnit> FindRestrictions(absl::string_view text, bool prose) {
  std::vector<ResidueUnit> found;
  bool section = false;
  VisitSentences(text, [&](absl::string_view sentence, int line) {
    const std::string words = Joined(Tokens(sentence));
    const bool licenses =
        HasAny(words, {"license", "licence", "licensed", "licensing", "terms", "legal", "mit",
                       "apache", "bsd", "commercial use", "commercial users"}) ||
        (LimitsPurpose(words) &&
         HasAny(words, {"code", "software", "repository", "repo", "project"}));
    if (IsHeading(absl::StripLeadingAsciiWhitespace(sentence))) section = licenses;
    if (found.size() == kMaxUnits || (prose && !section && !licenses)) return;
    if (Restricts(words) &&
        !HasAny(words, {"endorse", "as is", "warranty", "warranties", "except in compliance with",
                        "or open source", "and open source"}))
      found.push_back({Shown(sentence), line, {}});
  });
  return found;
}

std::vector<ResidueUnit> FindStatementsOfFolder(absl::string_view text) {
  std::vector<ResidueUnit> found;
  VisitSentences(text, [&](absl::string_view sentence, int line) {
    const std::string words = Joined(Tokens(sentence));
    const bool here =
        HasAny(words, {"this folder", "this directory", "this subfolder", "this subdirectory",
                       "these files", "files here", "code here", "this package", "this module"});
    if (here && found.size() < kMaxUnits) found.push_back({Shown(sentence), line, {}});
  });
  return found;
}

absl::string_view GetTrainingUse(absl::string_view sentence) {
  const std::string words = Joined(Tokens(sentence));
  const bool trains = HasAny(words, {"train", "training", "trained", "data mining",
                                     "machine learning", "fine tune", "finetune", "pretraining"});
  const bool models =
      HasAny(words, {"model", "models", "ai", "llm", "llms", "machine learning",
                     "artificial intelligence", "neural", "data mining", "language models"});
  const bool modal = HasAny(
      words, {"may", "must", "shall", "permitted", "allowed", "prohibited", "forbidden", "granted",
              "grant", "disallowed", "consent", "reserved", "reserves", "not", "no", "if"});
  const bool work =
      HasAny(words, {"software", "code", "work", "use", "used", "repository", "materials",
                     "project", "data", "dataset", "it", "file", "files", "content", "license"});
  if (!trains || !models || !modal || !work) return "";
  if (HasAny(words, {"only", "unless", "consent", "permission", "provided", "subject", "must", "if",
                     "requires", "except", "authorization"})) {
    return "limited";
  }
  const bool forbids = HasAny(words, {"not", "no", "never", "prohibited", "forbidden", "disallowed",
                                      "reserved", "reserves", "cannot", "excluding"});
  return forbids ? "forbidden" : "permitted";
}

std::vector<ResidueUnit> FindTrainingTerms(absl::string_view text) {
  std::vector<ResidueUnit> found;
  VisitSentences(text, [&](absl::string_view sentence, int line) {
    if (found.size() < kMaxUnits && !GetTrainingUse(sentence).empty())
      found.push_back({Shown(sentence), line, {}});
  });
  return found;
}

// Between such a word and "license" there must be a word that is not plain: the licence's name.
bool NamesLicense(absl::string_view sentence) {
  constexpr size_t kMaxWords = 14;  // from the trigger to "license"
  static constexpr absl::string_view kTriggers[] = {"under", "of", "by", "to", "with"};
  const std::vector<std::string> words = Tokens(sentence);
  for (size_t i = 0; i < words.size(); ++i) {
    if (!absl::c_linear_search(kTriggers, words[i])) continue;
    bool named = false;
    for (size_t j = i + 1; j < std::min(words.size(), i + kMaxWords); ++j) {
      if (words[j] == "license" || words[j] == "licence" || words[j] == "eula") {
        if (named) return true;
        break;
      }
      named = named || (!PlainWords().contains(words[j]) && !DecisiveWords().contains(words[j]));
    }
  }
  return false;
}

namespace {

// Returns the text behind the last copyright line that is before the first of the names: the notice
// of the holder whose licence the file has.
absl::string_view NoticeOfFile(absl::string_view text, absl::string_view name) {
  absl::string_view notice = text;
  for (size_t at = 0; at < text.find(name);) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1);
    if (spdx::IsCopyrightLine(text.substr(at, end - at))) notice = text.substr(end + 1);
    at = end + 1;
  }
  return notice;
}

}  // namespace

std::vector<ResidueUnit> FindOtherLicenseFiles(absl::string_view comments,
                                               const std::vector<std::string>& licenses) {
  std::vector<ResidueUnit> named;
  for (const Unit& paragraph : Paragraphs(comments)) {
    const absl::string_view text =
        comments.substr(paragraph.begin, paragraph.end - paragraph.begin);
    if (!SpeaksOfTerms(Joined(Tokens(text)))) continue;
    std::vector<std::string> names = LicenseFileNames(text);
    if (names.empty()) continue;
    const auto line = std::count(
        comments.begin(), comments.begin() + static_cast<std::ptrdiff_t>(paragraph.begin), '\n');
    const bool harmless = FindResidue(text, licenses).empty();
    const absl::string_view notice = NoticeOfFile(text, names.front());
    named.push_back({std::string(notice), static_cast<int>(line) + 1, std::move(names), harmless});
    if (named.size() == kMaxUnits) break;
  }
  return named;
}

bool NamesLicenseFile(absl::string_view sentence) { return !LicenseFileNames(sentence).empty(); }

}  // namespace kernelmill::validator
