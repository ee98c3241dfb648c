// A folder's licence files are read together, since several files are either a choice (LICENSE-MIT
// beside LICENSE-APACHE) or all hold (LICENSE beside COPYING). File names tell which. Folders are
// read when they are first asked for: a large source has hundreds of licence files of vendored code
// in which no kernel is.
#include "services/validator/core/license/tree/files.h"

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
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/source_files/source_files.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/residue.h"
#include "services/validator/core/license/text/terms.h"
#include "services/validator/core/license/text/text.h"
#include "services/validator/core/license/words/attribution.h"
#include "services/validator/core/license/words/notice.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxPathBytes = 4096;

std::string LowerName(const v1::SourceFile& file) {
  return absl::AsciiStrToLower(BaseName(file.path()));
}

// Returns whether the file is one of several choices, such as LICENSE-MIT and LICENSE.apache, and
// not a LICENSE, LICENSE.txt or COPYING.
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

// The part of a source that a licence file is about by its name: LICENSE-CODE, LICENSE-MODEL.
enum class About { kAll, kCode, kModel, kDocuments };

About WhatItIsAbout(absl::string_view name) {
  const size_t cut = name.find_first_of("-._");
  if (cut == absl::string_view::npos) return About::kAll;
  const absl::string_view rest = name.substr(cut + 1);
  const absl::string_view word = rest.substr(0, rest.find_first_of("-._"));
  const auto is = [&](std::initializer_list<absl::string_view> words) {
    return absl::c_linear_search(words, word);
  };
  if (is({"code", "source", "software"})) return About::kCode;
  if (is({"model", "models", "weights", "checkpoint", "checkpoints", "data", "dataset",
          "datasets"}))
    return About::kModel;
  if (is({"doc", "docs", "documentation", "content", "media", "images", "fonts", "logo"}))
    return About::kDocuments;
  return About::kAll;
}

// Returns the files without those that are not about code: of models and data if another file says
// that it is about the code, and of documents if any other file is there.
std::vector<const v1::SourceFile*> FilesOfCode(const std::vector<const v1::SourceFile*>& files) {
  const auto is = [](const v1::SourceFile* file, About about) {
    return WhatItIsAbout(LowerName(*file)) == about;
  };
  const bool code = absl::c_any_of(files, [&](const auto* file) { return is(file, About::kCode); });
  std::vector<const v1::SourceFile*> kept;
  for (const v1::SourceFile* file : files) {
    if (is(file, About::kDocuments) || (code && is(file, About::kModel))) continue;
    kept.push_back(file);
  }
  return kept.empty() ? files : kept;
}

bool IsAgreement(const v1::SourceFile& file) { return absl::StartsWith(LowerName(file), "eula"); }

// Joins findings to all of them, or to any. The result is unrecognized if one of them is.
LicenseFinding Join(std::vector<LicenseFinding> findings, bool any) {
  LicenseFinding joined;
  if (findings.empty()) return joined;
  joined.path = findings.front().path;
  for (LicenseFinding& finding : findings) {
    Append(finding.evidence, &joined.evidence);
    AddCopyrights(finding.copyrights, &joined.copyrights);
    std::move(finding.parts.begin(), finding.parts.end(), std::back_inserter(joined.parts));
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
  for (LicensePart& part : finding.parts) SetPath(file.path(), &part.evidence);
  return finding;
}

// Returns whether the file offers a choice: "available under either of the licenses found in
// LICENSE.APACHE and LICENSE.MIT".
bool OffersChoice(const v1::SourceFile& file) {
  const std::string words =
      spdx::NormalizeWords(absl::string_view(file.content()).substr(0, kMaxLicenseBytes));
  return spdx::CountWords(words) < 200 &&
         (spdx::FindPhrase(words, "either") != std::string::npos ||
          spdx::FindPhrase(words, "dual") != std::string::npos ||
          spdx::FindPhrase(words, "at your option") != std::string::npos);
}

// Reads the licence files of a folder. Choices are joined with OR. A plain LICENSE beside them
// holds too, unless it only explains the choice or repeats one of them.
LicenseFinding ReadFolder(const std::vector<const v1::SourceFile*>& all) {
  const std::vector<const v1::SourceFile*> files = FilesOfCode(all);
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

LicenseFinding ReadTogether(const v1::SourceTree& tree,
                            const std::function<bool(const v1::SourceFile&)>& wanted) {
  std::vector<const v1::SourceFile*> files;
  for (const v1::SourceFile& file : tree.license_files()) {
    if (!IsBlank(file) && wanted(file)) files.push_back(&file);
  }
  LicenseFinding finding = ReadFolder(files);
  if (finding.path.empty() && !files.empty()) finding.path = files.front()->path();
  return finding;
}

LicenseFiles::LicenseFiles(const v1::SourceTree& tree) {
  for (const v1::SourceFile& file : tree.license_files()) {
    if (IsBlank(file)) continue;
    const std::string folder(source_files::FolderItIsAbout(file.path()));
    switch (source_files::GetKind(file.path())) {
      case source_files::Kind::kLicense:
        folders_[folder].files.push_back(&file);
        break;
      case source_files::Kind::kLicenseText:
        folders_[folder].variants.push_back(&file);
        break;
      case source_files::Kind::kNotice:
        notices_.emplace(folder, ToUtf8(file.path()));
        folders_[folder].besides.push_back(&file);
        break;
      case source_files::Kind::kTerms:
      case source_files::Kind::kReadme:
        folders_[folder].besides.push_back(&file);
        break;
      case source_files::Kind::kAnnotations:
      case source_files::Kind::kSideTags:
      case source_files::Kind::kMetadata:
      case source_files::Kind::kOther:
        break;
    }
  }
}

// Returns the finding of one folder, null without licence files. LICENSES/ only counts without a
// LICENSE: its texts are there for SPDX tags to refer to.
const LicenseFinding* LicenseFiles::InFolder(const std::string& name) {
  const auto found = folders_.find(name);
  if (found == folders_.end()) return nullptr;
  Folder& folder = found->second;
  if (folder.files.empty() && folder.variants.empty()) return nullptr;
  if (!folder.read) {
    folder.read = true;
    folder.finding = ReadFolder(folder.files.empty() ? folder.variants : folder.files);
    if (folder.finding.path.empty() && !folder.files.empty()) {
      folder.finding.path = folder.files.front()->path();
    }
  }
  return &folder.finding;
}

// Returns the findings of the folders from the file's own up to `top`, the nearest first.
std::vector<const LicenseFinding*> LicenseFiles::Above(absl::string_view path,
                                                       absl::string_view top) {
  std::vector<const LicenseFinding*> findings;
  if (folders_.empty()) return findings;
  std::string folder(path.size() > kMaxPathBytes ? top : ParentFolder(path));
  while (true) {
    const LicenseFinding* finding = InFolder(folder);
    if (finding != nullptr) findings.push_back(finding);
    if (folder.size() <= top.size()) return findings;
    folder = std::string(ParentFolder(folder));
  }
}

const LicenseFinding* LicenseFiles::Named(absl::string_view path, absl::string_view name) {
  if (path.size() > kMaxPathBytes) return nullptr;
  std::string folder(ParentFolder(path));
  while (true) {
    const auto found = folders_.find(folder);
    if (found != folders_.end()) {
      for (const auto* files : {&found->second.files, &found->second.besides}) {
        for (const v1::SourceFile* file : *files) {
          if (BaseName(file->path()) != name) continue;
          const auto [known, added] = named_.try_emplace(file->path());
          if (added) known->second = Read(*file);
          return &known->second;
        }
      }
    }
    if (folder.empty()) return nullptr;
    folder = std::string(ParentFolder(folder));
  }
}

// A file of terms counts as a whole. A NOTICE file with licence texts lists those of others. In a
// README only what is in a section about its licence, or speaks of it, counts.
Evidence LicenseFiles::ReadTerms(const v1::SourceFile& file) {
  const absl::string_view text = absl::string_view(file.content()).substr(0, kMaxLicenseBytes);
  std::vector<ResidueUnit> units;
  switch (source_files::GetKind(file.path())) {
    case source_files::Kind::kTerms:
      units = FindResidue(text, {});
      break;
    case source_files::Kind::kReadme:
      units = FindRestrictions(text, /*prose=*/true);
      break;
    default:
      // With licence texts in it, it lists those of others.
      if (MatchLicenseTexts(text).licenses.empty()) units = FindRestrictions(text, false);
  }
  Evidence found;
  for (const ResidueUnit& unit : units) {
    found.push_back(
        MakeEvidence("residue", kAdditionalTerms, unit.text, 0, {unit.line, unit.line}));
  }
  SetPath(file.path(), &found);
  return found;
}

namespace {

// Returns the licences that a README names for the folder that it is in: "The files in this folder
// are licensed under CC BY-NC 4.0".
Evidence ReadFolderNotices(const v1::SourceFile& file) {
  Evidence found;
  const absl::string_view text = absl::string_view(file.content()).substr(0, kMaxLicenseBytes);
  for (const ResidueUnit& unit : FindStatementsOfFolder(text)) {
    const Notice notice = ReadNotice(spdx::SentenceWords(unit.text));
    for (const SpdxExpression& license : notice.own) {
      found.push_back(
          MakeEvidence("notice", license.ToString(), unit.text, 0, {unit.line, unit.line}));
    }
  }
  SetPath(file.path(), &found);
  return found;
}

// Returns whether the folder's licence says for which paths the agreement is, and none of them has
// the file.
bool IsAgreementOfOthers(const LicenseFinding& finding, absl::string_view path) {
  bool of_some = false;
  for (const LicensePart& part : finding.parts) {
    if (!absl::StrContains(part.title, "EULA")) continue;
    of_some = true;
    if (ListsPath(part, path)) return false;
  }
  return of_some;
}

}  // namespace

Evidence LicenseFiles::FindTerms(absl::string_view path, absl::string_view top, bool states_own) {
  Evidence terms;
  std::string folder(path.size() > kMaxPathBytes ? top : ParentFolder(path));
  while (true) {
    const auto found = folders_.find(folder);
    if (found != folders_.end()) {
      Folder& here = found->second;
      if (!here.terms_read) {
        here.terms_read = true;
        const bool licensed = !here.files.empty() || folder.empty();
        for (const v1::SourceFile* file : here.besides) {
          Append(ReadTerms(*file), IsAgreement(*file) ? &here.agreement : &here.terms);
          const bool readme = source_files::GetKind(file->path()) == source_files::Kind::kReadme;
          if (readme && !licensed) Append(ReadFolderNotices(*file), &here.terms);
        }
      }
      Append(here.terms, &terms);
      const LicenseFinding* finding = here.agreement.empty() ? nullptr : InFolder(folder);
      const bool others = finding != nullptr && IsAgreementOfOthers(*finding, path);
      if (!states_own && !others) Append(here.agreement, &terms);
    }
    if (folder.size() <= top.size()) return terms;
    folder = std::string(ParentFolder(folder));
  }
}

// Returns the NOTICE files that apply to the path, the nearest first.
std::vector<std::string> LicenseFiles::Notices(absl::string_view path) const {
  std::vector<std::string> paths;
  if (notices_.empty() || path.size() > kMaxPathBytes) return paths;
  std::string folder(ParentFolder(path));
  while (true) {
    const auto [first, last] = notices_.equal_range(folder);
    for (auto notice = first; notice != last; ++notice) paths.push_back(notice->second);
    if (folder.empty()) return paths;
    folder = std::string(ParentFolder(folder));
  }
}

}  // namespace kernelmill::validator
