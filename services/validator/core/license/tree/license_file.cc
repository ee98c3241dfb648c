#include "services/validator/core/license/tree/license_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/text.h"
#include "services/validator/core/license/tree/aggregate.h"
#include "services/validator/core/license/words/attribution.h"
#include "services/validator/core/license/words/notice.h"

namespace kernelmill::validator {
namespace {

constexpr double kNoticeConfidence = 0.8;
// As much may stand around licence texts that are surely all: titles, copyright lines, an appendix.
constexpr double kTitleWords = 40;
constexpr double kAppendixShare = 0.25;

double Round(double confidence) { return std::round(confidence * 100) / 100; }

// "GPL-3.0-only", as its text is read, is "GPL-3.0-or-later" where the words around it say so.
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

struct ReadWords {
  Notice notice;
  Evidence evidence;
};

ReadWords ReadNoticeOf(absl::string_view text) {
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

// Texts, and what the words around them say: "code before 2017 is under the BSD license below".
LicenseFinding FromTexts(TextMatches matches) {
  LicenseFinding finding;
  finding.evidence = std::move(matches.evidence);
  if (matches.altered || matches.licenses.empty()) return finding;
  const ReadWords read = ReadNoticeOf(matches.rest);
  const Notice& notice = read.notice;
  Append(read.evidence, &finding.evidence);
  for (const std::string& family : notice.families) {
    const auto named = [&](const SpdxExpression& license) {
      return absl::StartsWith(license.ToString(), family);
    };
    if (!absl::c_any_of(matches.licenses, named)) return finding;
  }
  RaiseToLater(notice.own, &matches.licenses);
  std::vector<SpdxExpression> own = std::move(matches.licenses);
  own.insert(own.end(), notice.own.begin(), notice.own.end());
  std::vector<SpdxExpression> all = {notice.choice ? SpdxExpression::Any(std::move(own))
                                                   : SpdxExpression::All(std::move(own))};
  all.insert(all.end(), notice.portions.begin(), notice.portions.end());
  const double covered = static_cast<double>(matches.covered);
  const double rest = static_cast<double>(matches.words - matches.covered);
  const bool sure = rest <= kTitleWords + kAppendixShare * covered;
  const double share = sure ? 1.0 : std::max(0.3, covered / (covered + rest));
  finding.confidence = Round(share * matches.score);
  finding.license = SpdxExpression::All(std::move(all));
  return finding;
}

LicenseFinding FromNotice(ReadWords read) {
  Notice& notice = read.notice;
  LicenseFinding finding;
  finding.evidence = std::move(read.evidence);
  if (notice.own.empty() || !notice.families.empty()) return finding;
  finding.confidence = kNoticeConfidence;
  std::vector<SpdxExpression> parts = std::move(notice.portions);
  parts.insert(parts.begin(), notice.choice ? SpdxExpression::Any(std::move(notice.own))
                                            : SpdxExpression::All(std::move(notice.own)));
  finding.license = SpdxExpression::All(std::move(parts));
  return finding;
}

LicenseFinding FromName(absl::string_view text) {
  ReadWords read;
  read.notice = ReadLicenseName(text);
  if (!read.notice.own.empty()) {
    read.evidence.push_back(MakeEvidence("name", SpdxExpression::All(read.notice.own).ToString(),
                                         absl::StripAsciiWhitespace(text), kNoticeConfidence, 1,
                                         1));
  }
  return FromNotice(std::move(read));
}

// What the whole of the text is under; `matches` are those of the text.
LicenseFinding ReadWhole(absl::string_view text, TextMatches matches) {
  LicenseFinding finding;
  if (matches.altered || !matches.licenses.empty()) {
    finding = FromTexts(std::move(matches));
  } else {
    finding = FromNotice(ReadNoticeOf(text));
    if (!finding.license.has_value()) {
      LicenseFinding named = FromName(text);
      if (named.license.has_value()) finding = std::move(named);
    }
  }
  finding.copyrights = CopyrightLines(text);
  return finding;
}

LicensePart ReadPart(const AggregatePart& part) {
  LicenseFinding finding = ReadWhole(part.text, MatchLicenseTexts(part.text));
  // "MIT License", and below it only the files that it is of.
  if (!finding.license.has_value() && finding.evidence.empty()) finding = FromName(part.title);
  return {part.title, part.paths, std::move(finding.license), std::move(finding.evidence),
          std::move(finding.copyrights)};
}

// The main part's licence with the others beside it; nothing if the main part is not understood.
std::optional<LicenseFinding> FromAggregate(absl::string_view text, const Aggregate& aggregate) {
  const absl::string_view main = text.substr(0, aggregate.main_bytes);
  LicenseFinding finding = ReadWhole(main, MatchLicenseTexts(main));
  if (!finding.license.has_value()) return std::nullopt;
  finding.evidence.push_back(
      MakeEvidence("aggregate", "", aggregate.sign, 1, aggregate.line, aggregate.line));
  for (const AggregatePart& one : aggregate.parts) {
    LicensePart part = ReadPart(one);
    const bool says_something = !part.title.empty() || !part.paths.empty() || part.license;
    if (!says_something) continue;
    // The source's own licence of before ("Legacy LLVM License") holds for what is left of then.
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
