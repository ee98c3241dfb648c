#include "services/validator/core/license/finder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/spdx/expression.h"
#include "services/validator/core/license/attribution.h"
#include "services/validator/core/license/evidence.h"

namespace kernelmill::validator {
namespace {

using spdx::LicenseTerm;

constexpr double kHeaderText = 1.0;
constexpr double kHeaderNotice = 0.95;
constexpr double kStated = 0.5;

v1::License MakeLicense(absl::string_view expression, absl::string_view evidence,
                        double confidence) {
  v1::License license;
  license.set_expression(std::string(expression));
  license.set_evidence(std::string(evidence));
  license.set_confidence(confidence);
  return license;
}

v1::License Unknown(absl::string_view evidence) { return MakeLicense(kNoAssertion, evidence, 0); }

void AddFound(const Evidence& evidence, v1::License* license) {
  for (const v1::LicenseEvidence& one : evidence) *license->add_found() = one;
}

void AddHolders(const std::vector<std::string>& from, v1::License* license) {
  std::vector<std::string> lines(license->copyrights().begin(), license->copyrights().end());
  AddCopyrights(from, &lines);
  license->mutable_copyrights()->Assign(lines.begin(), lines.end());
}

v1::License FromFinding(const LicenseFinding& finding) {
  const std::string evidence = absl::StrCat("file:", ToUtf8(finding.path));
  v1::License license = finding.license.has_value()
                            ? MakeLicense(finding.license->ToString(), evidence, finding.confidence)
                            : Unknown(evidence);
  AddFound(finding.evidence, &license);
  AddHolders(finding.copyrights, &license);
  return license;
}

// What the job file says; it is checked where the job is taken.
std::optional<v1::License> FromJob(absl::string_view stated) {
  const absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(stated);
  if (!expression.ok()) return std::nullopt;
  v1::License license = MakeLicense(expression->ToString(), "job", kStated);
  *license.add_found() = MakeEvidence("job", expression->ToString(), stated, kStated);
  return license;
}

void Append(const std::vector<SpdxExpression>& from, std::vector<SpdxExpression>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

// Whether every licence of the expression is one that a family's name may stand for.
bool IsOfFamily(const SpdxExpression& expression, absl::string_view family) {
  return absl::c_all_of(expression.Terms(),
                        [&](const LicenseTerm& term) { return absl::StartsWith(term.id, family); });
}

}  // namespace

LicenseFinder::LicenseFinder(const v1::SourceTree& tree, absl::string_view stated)
    : files_(tree), packages_(tree), stated_(FromJob(stated)) {}

v1::License LicenseFinder::Find(absl::string_view path, absl::string_view content) {
  HeaderFindings header = ReadHeader(path, content);
  SetPath(path, &header.evidence);
  const v1::License decided = Decide(path, header);
  // What the file itself says stands before what was found elsewhere.
  v1::License license = decided;
  license.clear_found();
  license.clear_copyrights();
  AddFound(header.evidence, &license);
  license.mutable_found()->MergeFrom(decided.found());
  AddHolders(header.copyrights, &license);
  AddHolders({decided.copyrights().begin(), decided.copyrights().end()}, &license);
  for (std::string& notice : files_.Notices(path)) license.add_notices(std::move(notice));
  return license;
}

v1::License LicenseFinder::Decide(absl::string_view path, const HeaderFindings& header) {
  if (header.has_tags) {
    if (header.tags.empty()) return Unknown("spdx-tag");
    // Texts and others' code that the head speaks of besides hold too; what else it says repeats
    // the tag.
    std::vector<SpdxExpression> parts = header.tags;
    Append(header.texts, &parts);
    Append(header.notice.portions, &parts);
    return MakeLicense(SpdxExpression::All(std::move(parts)).ToString(), "spdx-tag", 1.0);
  }
  std::optional<v1::License> license = FromHeader(path, header);
  return license.has_value() ? *std::move(license) : FromFilesOrMetadata(path);
}

std::optional<v1::License> LicenseFinder::FromHeader(absl::string_view path,
                                                     const HeaderFindings& header) {
  if (header.altered) return Unknown("header");
  std::vector<SpdxExpression> own = header.texts;
  Append(header.notice.own, &own);
  if (!own.empty()) {
    const bool choice = header.notice.choice && header.texts.empty();
    SpdxExpression license =
        choice ? SpdxExpression::Any(std::move(own)) : SpdxExpression::All(std::move(own));
    if (!header.notice.portions.empty()) {
      std::vector<SpdxExpression> parts = {std::move(license)};
      Append(header.notice.portions, &parts);
      license = SpdxExpression::All(std::move(parts));
    }
    return MakeLicense(license.ToString(), "header",
                       header.texts.empty() ? kHeaderNotice : kHeaderText);
  }
  std::optional<v1::License> base;
  if (!header.notice.families.empty()) {
    base = FromFamily(path, header.notice.families.front());
    for (const std::string& family : header.notice.families) {
      if (family != header.notice.families.front()) base = Unknown("header");
    }
  }
  if (header.notice.portions.empty()) return base;
  if (!base.has_value()) base = FromFilesOrMetadata(path);
  absl::StatusOr<SpdxExpression> outer = SpdxExpression::Parse(base->expression());
  if (!outer.ok()) return Unknown("header");
  std::vector<SpdxExpression> parts = {*std::move(outer)};
  Append(header.notice.portions, &parts);
  v1::License license = *std::move(base);
  license.set_expression(SpdxExpression::All(std::move(parts)).ToString());
  license.set_evidence(absl::StrCat("header+", license.evidence()));
  license.set_confidence(std::min(license.confidence(), kHeaderNotice));
  return license;
}

std::optional<v1::License> LicenseFinder::FromFamily(absl::string_view path,
                                                     absl::string_view family) {
  for (const LicenseFinding* finding : {files_.Nearest(path), files_.Root()}) {
    if (finding == nullptr || !finding->license.has_value()) continue;
    if (IsOfFamily(*finding->license, family)) return FromFinding(*finding);
  }
  return Unknown("header");
}

std::optional<v1::License> LicenseFinder::FromFiles(absl::string_view path) {
  const LicenseFinding* finding = files_.Nearest(path);
  if (finding == nullptr) return std::nullopt;
  return FromFinding(*finding);
}

v1::License LicenseFinder::FromFilesOrMetadata(absl::string_view path) {
  std::optional<v1::License> license = FromFiles(path);
  if (license.has_value()) return *std::move(license);
  license = packages_.Nearest(path);
  if (license.has_value()) return *std::move(license);
  return stated_.value_or(Unknown(""));
}

}  // namespace kernelmill::validator
