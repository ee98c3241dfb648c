// A LICENSE file is read in three steps. It is cut if it is an aggregate (SplitAggregate). Then
// each part is matched with the texts of the SPDX list; without a match it is read as a notice,
// and at last as a bare name. The words around a text can change its meaning ("only", "or any later
// version", "code before 2017"), so they are read as a notice too.
#include "services/validator/core/license/tree/license_file.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/terms.h"
#include "services/validator/core/license/text/text.h"
#include "services/validator/core/license/words/attribution.h"
#include "services/validator/core/license/words/notice.h"

namespace kernelmill::validator {
namespace {

// An aggregate's part about one piece of other people's code.
struct AggregatePart {
  std::string title;               // its heading: "LICENSE FOR Microsoft Deepspeed"
  std::vector<std::string> paths;  // lines that are paths: "3rdparty/spdlog"
  absl::string_view text;          // the text from the heading to the next one
};

// A licence file that has the source's own licence followed by those of other people's code.
struct Aggregate {
  size_t main_bytes = 0;  // the length of the part about the source itself
  int line = 0;           // the line of the sign, from 1
  std::string sign;       // the words at which it was cut
  std::vector<AggregatePart> parts;
};

constexpr size_t kMaxParts = 64;
constexpr size_t kMaxPaths = 256;
constexpr size_t kMaxTitle = 300;
constexpr size_t kMaxTitleLines = 8;
constexpr size_t kMinRule = 4;  // characters of a line that is only a rule
constexpr absl::string_view kRuleMarks = "-=*#_~+ \t\r";

// Phrases, in the form of spdx::SentenceWords, of sentences that introduce other people's licences.
constexpr const char* kSentences[] = {
    "also contains code from",
    "also includes code from",
    "contains code derived from",
    "incorporates code from",
    "code is derived from",
    "code are derived from",
    "adapted from other open source",
    "adapted from other projects",
    "derived from other projects",
    "derived from others projects",
    "bundles some third party",
    "bundles third party",
    "bundles several",
    "bundle several",
    "includes third party",
    "contains third party",
    "includes the following third party",
    "contains the following third party",
    "the following third party",
    "third party components",
    "third party software is",
    "third party code is",
    "contains subcomponents with separate copyright notices",
    "includes a number of subcomponents",
    "includes a number of components with separate copyright notices",
    "licenses used in those files",
    "licenses of bundled",
    "licenses for bundled",
};

// The beginnings of headings that name whose licence follows.
constexpr const char* kHeadings[] = {
    "license for",           "licenses for",
    "license notice for",    "license of the third",
    "third party license",   "third party notice",
    "third party software",  "third party code",
    "third party libraries", "3rd party",
    "notices for",           "bundled",
    "licenses of third",     "open source software",
    "subcomponents",
};

struct Line {
  absl::string_view text;
  size_t at = 0;  // in the whole text
};

std::vector<Line> SplitLines(absl::string_view text) {
  std::vector<Line> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    lines.push_back({line, static_cast<size_t>(line.data() - text.data())});
  }
  return lines;
}

// Returns a line without the marks of a rule at both ends.
absl::string_view WithoutMarks(absl::string_view line) {
  const size_t begin = line.find_first_not_of(kRuleMarks);
  if (begin == absl::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kRuleMarks) + 1 - begin);
}

bool IsBlank(absl::string_view line) { return absl::StripAsciiWhitespace(line).empty(); }

// Returns whether the line is a rule: "--------------------".
bool IsRule(absl::string_view line) {
  return WithoutMarks(line).empty() && absl::StripAsciiWhitespace(line).size() >= kMinRule;
}

// Returns whether the line has rules in it: "---- LICENSE FOR X ----", but not "- a bullet".
bool HasRules(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const size_t marks = std::min(line.find_first_not_of(kRuleMarks), line.size());
  return marks >= kMinRule || absl::StartsWith(line, "--") || absl::StartsWith(line, "##");
}

bool BeginsHeading(absl::string_view line) {
  const std::string words = spdx::NormalizeWords(line.substr(0, kMaxTitle));
  return absl::c_any_of(kHeadings, [&](absl::string_view heading) {
    return absl::StartsWith(absl::string_view(words).substr(1), heading);
  });
}

// Cuts an aggregate at its first sign, and the rest into parts by headings. `text` and `rest` have
// the same lines, so a line number holds for both.
class Splitter {
 public:
  Splitter(absl::string_view text, absl::string_view rest)
      : text_(text), lines_(SplitLines(text)), rest_(rest), rest_lines_(SplitLines(rest)) {}

  std::optional<Aggregate> Split() {
    FindHeading();
    FindSentence();
    if (line_ >= lines_.size()) return std::nullopt;
    const absl::string_view main = text_.substr(0, lines_[line_].at);
    if (WithoutMarks(absl::StripAsciiWhitespace(main)).empty()) return std::nullopt;
    Aggregate aggregate;
    aggregate.main_bytes = main.size();
    aggregate.line = static_cast<int>(line_) + 1;
    aggregate.sign = sign_;
    ReadParts(&aggregate.parts);
    return aggregate;
  }

 private:
  // Returns whether line `at` has a rule of its own or beside it.
  bool IsSetOff(size_t at) const {
    return HasRules(lines_[at].text) || (at > 0 && IsRule(lines_[at - 1].text)) ||
           (at + 1 < lines_.size() && IsRule(lines_[at + 1].text));
  }

  // Finds the first line outside of licence texts that is set off as a heading about other people's
  // code.
  void FindHeading() {
    for (size_t i = 0; i < rest_lines_.size() && i < lines_.size(); ++i) {
      const absl::string_view words = WithoutMarks(rest_lines_[i].text);
      if (words.empty() || !BeginsHeading(words) || !IsSetOff(i)) continue;
      line_ = i;
      sign_ = std::string(words.substr(0, kMaxTitle));
      return;
    }
  }

  // Finds the first sentence outside of licence texts about other people's code, if it is before
  // the heading. The cut is at the sentence's first line.
  void FindSentence() {
    std::vector<int> word_lines;
    const std::vector<std::string> words = spdx::SentenceWords(rest_, &word_lines);
    size_t sentence = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == ".") {
        sentence = i + 1;
        continue;
      }
      if (static_cast<size_t>(word_lines[sentence]) > line_) return;
      const auto stands_here = [&](absl::string_view phrase) { return StandsAt(words, i, phrase); };
      const auto found = absl::c_find_if(kSentences, stands_here);
      if (found == std::end(kSentences)) continue;
      line_ = static_cast<size_t>(word_lines[sentence]) - 1;
      sign_ = *found;
      return;
    }
  }

  static bool StandsAt(const std::vector<std::string>& words, size_t at, absl::string_view phrase) {
    for (const absl::string_view word : absl::StrSplit(phrase, ' ')) {
      if (at >= words.size() || words[at++] != word) return false;
    }
    return true;
  }

  // Returns whether a part begins at line `at`: with "LICENSE FOR X", or a line with a rule under
  // it.
  bool IsPartHeading(size_t at) const {
    const absl::string_view words = WithoutMarks(lines_[at].text);
    if (words.empty()) return false;
    if (BeginsHeading(words) && IsSetOff(at)) return true;
    return at + 1 < lines_.size() && IsRule(lines_[at + 1].text) &&
           (at == 0 || IsBlank(lines_[at - 1].text) || IsRule(lines_[at - 1].text)) &&
           words.size() < 80;
  }

  void ReadParts(std::vector<AggregatePart>* parts) const {
    size_t begin = line_;
    while (begin < lines_.size() && !IsPartHeading(begin)) ++begin;
    // The text before the first heading is a part without a title.
    if (begin > line_) {
      AggregatePart part;
      ReadText(line_, begin, &part);
      parts->push_back(std::move(part));
    }
    while (begin < lines_.size() && parts->size() < kMaxParts) {
      size_t end = begin + 1;
      while (end < lines_.size() && !IsPartHeading(end)) ++end;
      parts->push_back(ReadPart(begin, end));
      begin = end;
    }
  }

  // Reads one part. Its heading goes on to a blank line: "LICENSE FOR / Facebook, Inc. and its
  // affiliates, / ...".
  AggregatePart ReadPart(size_t begin, size_t end) const {
    AggregatePart part;
    size_t at = begin;
    for (; at < end && at < begin + kMaxTitleLines && !IsBlank(lines_[at].text); ++at) {
      const absl::string_view words = WithoutMarks(lines_[at].text);
      if (words.empty() && at > begin) break;
      absl::StrAppend(&part.title, part.title.empty() ? "" : " ", words.substr(0, kMaxTitle));
    }
    part.title.resize(std::min(part.title.size(), kMaxTitle));
    ReadText(at, end, &part);
    return part;
  }

  void ReadText(size_t begin, size_t end, AggregatePart* part) const {
    const auto offset = [&](size_t line) {
      return line < lines_.size() ? lines_[line].at : text_.size();
    };
    part->text = text_.substr(offset(begin), offset(end) - offset(begin));
    for (size_t i = begin; i < end && part->paths.size() < kMaxPaths; ++i) {
      AddPath(lines_[i].text, part);
    }
  }

  // Adds the path of a line such as "3rdparty/spdlog" or "csrc/a.cuh (from X)": one word with a
  // slash that is not an address.
  static void AddPath(absl::string_view line, AggregatePart* part) {
    line = absl::StripAsciiWhitespace(line);
    const size_t begin = line.find_first_not_of("-*` ");
    if (begin == absl::string_view::npos) return;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(" \t`"), line.size());
    const absl::string_view rest = absl::StripAsciiWhitespace(line.substr(end));
    const bool alone = rest.empty() || rest[0] == '(' || rest[0] == '`';
    absl::string_view path = line.substr(0, end);
    while (absl::EndsWith(path, "/") || absl::EndsWith(path, "*")) path.remove_suffix(1);
    if (!alone || !absl::StrContains(path, '/') || absl::StrContains(path, "://")) return;
    part->paths.emplace_back(path);
  }

  const absl::string_view text_;
  const std::vector<Line> lines_;
  const absl::string_view rest_;
  const std::vector<Line> rest_lines_;
  size_t line_ = static_cast<size_t>(-1);  // the line of the first sign
  std::string sign_;
};

// Cuts a licence file at the first sign that only other people's code follows:
//   a heading     "---- LICENSE FOR X ----", "THIRD PARTY NOTICES" beside or between rules
//   a sentence    "This repository also contains code from ...", "Some of the code is derived from
//                 others", "bundles third-party components" (kSentences has all)
// Nothing if there is no sign, or only blanks before it. `rest` is the text with blanks in place of
// licence texts, so that words of these are not signs. At most 64 parts with 256 paths each.
// Linear.
std::optional<Aggregate> SplitAggregate(absl::string_view text, absl::string_view rest) {
  return Splitter(text, rest).Split();
}

constexpr double kNoticeConfidence = 0.8;
// The most words around licence texts that leave no doubt: titles, copyright lines, an appendix.
constexpr double kTitleWords = 40;
constexpr double kAppendixShare = 0.25;

double Round(double confidence) { return std::round(confidence * 100) / 100; }

// Changes "GPL-3.0-only", which the GPL's text gives, to "GPL-3.0-or-later" if the words around the
// text say so.
void RaiseToLater(const std::vector<SpdxExpression>& named, std::vector<SpdxExpression>* texts) {
  for (SpdxExpression& text : *texts) {
    std::string later = text.ToString();
    if (!absl::EndsWith(later, "-only")) continue;
    later.replace(later.size() - 4, 4, "or-later");
    for (const SpdxExpression& name : named) {
      if (name.ToString() == later) text = name;
    }
  }
}

void AddScoped(const ResidueUnit& unit, LicenseFinding* finding) {
  const Evidence evidence = {MakeEvidence("residue", "", unit.text, 0, {unit.line, unit.line})};
  finding->parts.push_back({unit.text, unit.paths, std::nullopt, evidence, {}});
}

// Adds the words of `rest` that may be terms: to the evidence, and as a licence to `all`. Words
// that a phrase in the evidence names are known already. Statements about some paths only become
// parts without a known licence.
void AddTerms(absl::string_view rest, LicenseFinding* finding, std::vector<SpdxExpression>* all) {
  Evidence* const evidence = &finding->evidence;
  std::vector<std::string> ids;
  bool listed = false;
  for (const SpdxExpression& license : *all) {
    for (const spdx::LicenseTerm& term : license.Terms()) {
      ids.push_back(term.id);
      if (!term.exception.empty()) ids.push_back(term.exception);
      listed = listed || !absl::StartsWith(term.id, "LicenseRef-");
    }
  }
  // A text that the list does not have is terms already.
  if (!listed) return;
  Evidence terms;
  for (const ResidueUnit& unit : FindResidue(rest, ids)) {
    const std::string words = spdx::NormalizeWords(unit.text);
    const bool known = absl::c_any_of(*evidence, [&](const v1::LicenseEvidence& one) {
      return one.rule() == "phrase" && spdx::FindPhrase(words, one.text()) != std::string::npos;
    });
    if (known) continue;
    if (!unit.paths.empty()) {
      AddScoped(unit, finding);
      continue;
    }
    terms.push_back(
        MakeEvidence("residue", kAdditionalTerms, unit.text, 0, {unit.line, unit.line}));
  }
  if (terms.empty()) return;
  Append(terms, evidence);
  all->push_back(*SpdxExpression::Parse(kAdditionalTerms));
}

struct ReadWords {
  Notice notice;
  Evidence evidence;
};

ReadWords ReadNoticeWords(absl::string_view text) {
  std::vector<int> lines;
  const std::vector<std::string> words = spdx::SentenceWords(text, &lines);
  ReadWords read;
  read.notice = ReadNotice(words);
  if (read.notice.end > read.notice.begin) {
    read.evidence.push_back(
        NoticeEvidence(read.notice, words, lines[read.notice.begin], lines[read.notice.end - 1]));
  }
  return read;
}

// Combines licence texts with the words around them: "code before 2017 is under the BSD license
// below".
LicenseFinding FromTexts(TextMatches matches) {
  LicenseFinding finding;
  finding.evidence = std::move(matches.evidence);
  if (matches.altered || matches.licenses.empty()) return finding;
  const ReadWords read = ReadNoticeWords(matches.rest);
  const Notice& notice = read.notice;
  Append(read.evidence, &finding.evidence);
  for (const std::string& family : notice.families) {
    const auto named = [&](const SpdxExpression& license) {
      return absl::StartsWith(license.ToString(), family);
    };
    if (!absl::c_any_of(matches.licenses, named) && !absl::c_any_of(notice.own, named))
      return finding;
  }
  RaiseToLater(notice.own, &matches.licenses);
  std::vector<SpdxExpression> own = std::move(matches.licenses);
  own.insert(own.end(), notice.own.begin(), notice.own.end());
  std::vector<SpdxExpression> all = {notice.choice ? SpdxExpression::Any(std::move(own))
                                                   : SpdxExpression::All(std::move(own))};
  all.insert(all.end(), notice.portions.begin(), notice.portions.end());
  for (const ResidueUnit& unit : matches.scoped) AddScoped(unit, &finding);
  AddTerms(matches.rest, &finding, &all);
  const double covered = static_cast<double>(matches.covered);
  const double rest = static_cast<double>(matches.words - matches.covered);
  const bool sure = rest <= kTitleWords + kAppendixShare * covered;
  const double share = sure ? 1.0 : std::max(0.3, covered / (covered + rest));
  finding.confidence = Round(share * matches.score);
  finding.license = SpdxExpression::All(std::move(all));
  return finding;
}

// A notice that names only a family, such as "BSD", does not settle a licence file.
LicenseFinding FromNotice(ReadWords read, absl::string_view text) {
  Notice& notice = read.notice;
  LicenseFinding finding;
  finding.evidence = std::move(read.evidence);
  if (notice.own.empty() || !notice.families.empty()) return finding;
  finding.confidence = kNoticeConfidence;
  std::vector<SpdxExpression> parts = std::move(notice.portions);
  parts.insert(parts.begin(), notice.choice ? SpdxExpression::Any(std::move(notice.own))
                                            : SpdxExpression::All(std::move(notice.own)));
  AddTerms(text, &finding, &parts);
  finding.license = SpdxExpression::All(std::move(parts));
  return finding;
}

LicenseFinding FromName(absl::string_view text) {
  ReadWords read;
  read.notice = ReadLicenseName(text);
  if (!read.notice.own.empty()) {
    read.evidence.push_back(MakeEvidence("name", SpdxExpression::All(read.notice.own).ToString(),
                                         absl::StripAsciiWhitespace(text), kNoticeConfidence,
                                         {1, 1}));
  }
  return FromNotice(std::move(read), text);
}

// Returns the licence of the whole text, whose `matches` were found before.
LicenseFinding ReadWhole(absl::string_view text, TextMatches matches) {
  LicenseFinding finding;
  if (matches.altered || !matches.licenses.empty()) {
    finding = FromTexts(std::move(matches));
  } else {
    finding = FromNotice(ReadNoticeWords(text), text);
    if (!finding.license.has_value()) {
      LicenseFinding named = FromName(text);
      if (named.license.has_value()) finding = std::move(named);
    }
  }
  finding.copyrights = CopyrightLines(text);
  for (const ResidueUnit& unit : FindTrainingTerms(text)) {
    finding.evidence.push_back(MakeEvidence("training", "", unit.text, 1, {unit.line, unit.line}));
  }
  return finding;
}

LicensePart ReadPart(const AggregatePart& part) {
  LicenseFinding finding = ReadWhole(part.text, MatchLicenseTexts(part.text));
  // The title may be the licence ("MIT License"), with only the names of files below it.
  if (!finding.license.has_value() && finding.evidence.empty()) finding = FromName(part.title);
  return {part.title, part.paths, std::move(finding.license), std::move(finding.evidence),
          std::move(finding.copyrights)};
}

// Returns the main part's licence with the other parts; nothing if the main part cannot be
// understood.
std::optional<LicenseFinding> FromAggregate(absl::string_view text, const Aggregate& aggregate) {
  const absl::string_view main = text.substr(0, aggregate.main_bytes);
  LicenseFinding finding = ReadWhole(main, MatchLicenseTexts(main));
  if (!finding.license.has_value()) return std::nullopt;
  finding.evidence.push_back(
      MakeEvidence("aggregate", "", aggregate.sign, 1, {aggregate.line, aggregate.line}));
  for (const AggregatePart& one : aggregate.parts) {
    LicensePart part = ReadPart(one);
    const bool says_something = !part.title.empty() || !part.paths.empty() || part.license;
    if (!says_something) continue;
    // The source's own earlier licence ("Legacy LLVM License") still holds for older code in it.
    if (!absl::StartsWithIgnoreCase(one.title, "legacy")) {
      finding.parts.push_back(std::move(part));
      continue;
    }
    if (!part.license.has_value()) return std::nullopt;
    finding.license = SpdxExpression::All({*std::move(finding.license), *std::move(part.license)});
    Append(part.evidence, &finding.evidence);
    AddCopyrights(part.copyrights, &finding.copyrights);
  }
  return finding;
}

}  // namespace

bool ListsPath(const LicensePart& part, absl::string_view path) {
  return absl::c_any_of(part.paths, [&](absl::string_view listed) {
    return absl::StartsWith(path, listed) &&
           (path.size() == listed.size() || path[listed.size()] == '/');
  });
}

// Reads at most kMaxLicenseBytes. If the main part of an aggregate is not understood, the file is
// read as one text.
LicenseFinding ReadLicenseFile(absl::string_view text) {
  const absl::string_view head = text.substr(0, kMaxLicenseBytes);
  TextMatches matches = MatchLicenseTexts(head);
  if (const std::optional<Aggregate> aggregate = SplitAggregate(head, matches.rest)) {
    std::optional<LicenseFinding> finding = FromAggregate(head, *aggregate);
    if (finding.has_value()) return *std::move(finding);
  }
  return ReadWhole(head, std::move(matches));
}

}  // namespace kernelmill::validator
