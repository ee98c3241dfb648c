#include "services/validator/core/license/files.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/source_files/source_files.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/attribution.h"
#include "services/validator/core/license/notice.h"
#include "services/validator/core/license/text.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxTextBytes = 1 << 20;
constexpr size_t kMaxPathBytes = 4096;
constexpr double kNoticeConfidence = 0.8;
// As much may stand around licence texts that are surely all: titles, copyright lines, an appendix.
constexpr double kTitleWords = 40;
constexpr double kAppendixShare = 0.25;

std::string LowerName(const v1::SourceFile& file) {
  return absl::AsciiStrToLower(BaseName(file.path()));
}

// LICENSE-MIT and LICENSE.apache are one of several choices; LICENSE, LICENSE.txt and COPYING are
// not.
bool IsChoice(absl::string_view name) {
  const size_t cut = name.find_first_of("-._");
  if (cut == absl::string_view::npos) return false;
  const absl::string_view rest = name.substr(cut + 1);
  for (const absl::string_view license : {"mit", "apache", "bsd", "gpl", "lgpl", "mpl", "isc",
                                          "zlib", "cc0", "unlicense", "boost", "apl", "asl"}) {
    if (absl::StartsWith(rest, license)) return true;
  }
  return false;
}

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

// All of the findings together, or any; unrecognized if one of them is.
LicenseFinding Join(std::vector<LicenseFinding> findings, bool any) {
  LicenseFinding joined;
  if (findings.empty()) return joined;
  joined.path = findings.front().path;
  for (LicenseFinding& finding : findings) {
    Append(finding.evidence, &joined.evidence);
    AddCopyrights(finding.copyrights, &joined.copyrights);
  }
  std::vector<SpdxExpression> parts;
  double confidence = 1;
  for (LicenseFinding& finding : findings) {
    if (!finding.license.has_value()) return joined;
    parts.push_back(*std::move(finding.license));
    confidence = std::min(confidence, finding.confidence);
  }
  joined.confidence = confidence;
  joined.license =
      any ? SpdxExpression::Any(std::move(parts)) : SpdxExpression::All(std::move(parts));
  return joined;
}

LicenseFinding Read(const v1::SourceFile& file) {
  LicenseFinding finding = ReadLicenseFile(file.content());
  finding.path = file.path();
  SetPath(file.path(), &finding.evidence);
  return finding;
}

// "available under either of the licenses found in LICENSE.APACHE and LICENSE.MIT"
bool OffersChoice(const v1::SourceFile& file) {
  const std::string words =
      spdx::NormalizeWords(absl::string_view(file.content()).substr(0, kMaxTextBytes));
  return spdx::CountWords(words) < 200 &&
         (spdx::FindPhrase(words, "either") != std::string::npos ||
          spdx::FindPhrase(words, "dual") != std::string::npos ||
          spdx::FindPhrase(words, "at your option") != std::string::npos);
}

// Choices among themselves are joined with OR. A plain LICENSE beside them holds as well, unless it
// only tells of the choice or repeats one of them.
LicenseFinding ReadFolder(const std::vector<const v1::SourceFile*>& files) {
  std::vector<LicenseFinding> choices;
  std::vector<LicenseFinding> plain;
  for (const v1::SourceFile* file : files) {
    const std::string name = LowerName(*file);
    if (IsChoice(name)) choices.push_back(Read(*file));
  }
  for (const v1::SourceFile* file : files) {
    const std::string name = LowerName(*file);
    if (IsChoice(name) || (source_files::IsOfThirdParties(name) && files.size() > 1)) continue;
    LicenseFinding finding = Read(*file);
    if (choices.size() > 1 && !finding.license.has_value() && OffersChoice(*file)) continue;
    const auto repeats = [&](const LicenseFinding& choice) {
      return finding.license.has_value() && choice.license.has_value() &&
             choice.license->ToString() == finding.license->ToString();
    };
    if (choices.size() > 1 && std::any_of(choices.begin(), choices.end(), repeats)) continue;
    plain.push_back(std::move(finding));
  }
  if (choices.empty()) return Join(std::move(plain), false);
  LicenseFinding choice = Join(std::move(choices), true);
  if (plain.empty()) return choice;
  plain.push_back(std::move(choice));
  return Join(std::move(plain), false);
}

bool IsBlank(const v1::SourceFile& file) {
  return absl::StripAsciiWhitespace(file.content()).empty();
}

}  // namespace

LicenseFinding ReadLicenseFile(absl::string_view text) {
  const absl::string_view head = text.substr(0, kMaxTextBytes);
  TextMatches matches = MatchLicenseTexts(head);
  LicenseFinding finding;
  if (matches.altered || !matches.licenses.empty()) {
    finding = FromTexts(std::move(matches));
  } else {
    finding = FromNotice(ReadNoticeOf(head));
    if (!finding.license.has_value()) {
      LicenseFinding named = FromName(head);
      if (named.license.has_value()) finding = std::move(named);
    }
  }
  finding.copyrights = CopyrightLines(head);
  return finding;
}

LicenseFiles::LicenseFiles(const v1::SourceTree& tree) {
  for (const v1::SourceFile& file : tree.license_files()) {
    if (IsBlank(file)) continue;
    const std::string folder(source_files::FolderItIsAbout(file.path()));
    switch (source_files::KindOf(file.path())) {
      case source_files::Kind::kLicense:
        folders_[folder].files.push_back(&file);
        break;
      case source_files::Kind::kLicenseText:
        folders_[folder].variants.push_back(&file);
        break;
      case source_files::Kind::kNotice:
        notices_.emplace(folder, ToUtf8(file.path()));
        break;
      case source_files::Kind::kMetadata:
      case source_files::Kind::kOther:
        break;
    }
  }
}

const LicenseFinding* LicenseFiles::InFolder(const std::string& name) {
  const auto found = folders_.find(name);
  if (found == folders_.end()) return nullptr;
  Folder& folder = found->second;
  if (!folder.read) {
    folder.read = true;
    folder.finding = ReadFolder(folder.files.empty() ? folder.variants : folder.files);
    if (folder.finding.path.empty() && !folder.files.empty()) {
      folder.finding.path = folder.files.front()->path();
    }
  }
  return &folder.finding;
}

const LicenseFinding* LicenseFiles::Nearest(absl::string_view path) {
  if (folders_.empty()) return nullptr;
  if (path.size() > kMaxPathBytes) return Root();
  std::string folder(FolderOf(path));
  while (true) {
    const LicenseFinding* finding = InFolder(folder);
    if (finding != nullptr || folder.empty()) return finding;
    folder = std::string(FolderOf(folder));
  }
}

std::vector<std::string> LicenseFiles::Notices(absl::string_view path) const {
  std::vector<std::string> paths;
  if (notices_.empty() || path.size() > kMaxPathBytes) return paths;
  std::string folder(FolderOf(path));
  while (true) {
    const auto [first, last] = notices_.equal_range(folder);
    for (auto notice = first; notice != last; ++notice) paths.push_back(notice->second);
    if (folder.empty()) return paths;
    folder = std::string(FolderOf(folder));
  }
}

}  // namespace kernelmill::validator
