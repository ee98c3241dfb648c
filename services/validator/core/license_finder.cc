#include "services/validator/core/license_finder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "services/validator/core/license_notice.h"
#include "common/spdx/expression.h"

namespace kernelmill::validator {
namespace {

constexpr char kClassifier[] = "License ::";
constexpr double kHeaderText = 1.0;
constexpr double kHeaderNotice = 0.95;
constexpr double kExpressionField = 0.9;
constexpr double kLicenseField = 0.8;
constexpr double kClassifierField = 0.6;

v1::License MakeLicense(absl::string_view expression, absl::string_view evidence,
                        double confidence) {
  v1::License license;
  license.set_expression(std::string(expression));
  license.set_evidence(std::string(evidence));
  license.set_confidence(confidence);
  return license;
}

v1::License Unknown(absl::string_view evidence) { return MakeLicense(kNoAssertion, evidence, 0); }

v1::License FromFinding(const LicenseFinding& finding) {
  const std::string evidence = absl::StrCat("file:", ToUtf8(finding.path));
  if (!finding.license.has_value()) return Unknown(evidence);
  return MakeLicense(finding.license->ToString(), evidence, finding.confidence);
}

void Append(const std::vector<SpdxExpression>& from, std::vector<SpdxExpression>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

// Whether every licence of the expression is one that a family's name may stand for.
bool IsOfFamily(const SpdxExpression& expression, absl::string_view family) {
  return absl::c_all_of(expression.Terms(),
                        [&](const LicenseTerm& term) { return absl::StartsWith(term.id, family); });
}

// The expression, if every identifier in it is a real one: "BSD" or "Other" in metadata is not.
std::optional<SpdxExpression> ParseKnown(absl::string_view text) {
  absl::StatusOr<SpdxExpression> parsed = SpdxExpression::Parse(text);
  if (!parsed.ok()) return std::nullopt;
  const auto known = [](const LicenseTerm& term) { return IsKnownLicenseId(term.id); };
  if (!absl::c_all_of(parsed->Terms(), known)) return std::nullopt;
  return *std::move(parsed);
}

// "License :: OSI Approved :: MIT License" -> the licence; the version of Apache's is not named
// there, but no version before 2.0 is in use.
std::optional<SpdxExpression> ReadClassifier(absl::string_view classifier) {
  const size_t at = classifier.rfind("::");
  const absl::string_view name = absl::StripAsciiWhitespace(classifier.substr(at + 2));
  if (name == "Apache Software License") return ParseKnown("Apache-2.0");
  Notice notice = ReadLicenseName(name);
  if (notice.own.size() != 1) return std::nullopt;
  return std::move(notice.own.front());
}

std::optional<v1::License> ReadLicenseField(absl::string_view field) {
  if (std::optional<SpdxExpression> parsed =
          ParseKnown(absl::StrReplaceAll(field, {{"/", " OR "}}))) {
    return MakeLicense(parsed->ToString(), "metadata", kExpressionField);
  }
  LicenseFinding finding = ReadLicenseFile(field);
  if (!finding.license.has_value()) return std::nullopt;
  return MakeLicense(finding.license->ToString(), "metadata",
                     std::min(finding.confidence, kLicenseField));
}

}  // namespace

std::optional<v1::License> ReadDeclaredLicenses(const v1::SourceTree& tree) {
  std::vector<SpdxExpression> classified;
  bool unclear = false;
  bool unclear_classifier = false;
  for (const std::string& declared : tree.declared_licenses()) {
    const absl::string_view field = absl::StripAsciiWhitespace(declared);
    if (field.empty()) continue;
    if (absl::StartsWith(field, kClassifier)) {
      std::optional<SpdxExpression> license = ReadClassifier(field);
      if (license.has_value()) {
        classified.push_back(*std::move(license));
      } else if (!absl::EndsWith(field, "OSI Approved")) {
        unclear = unclear_classifier = true;
      }
      continue;
    }
    std::optional<v1::License> license = ReadLicenseField(field);
    if (license.has_value()) return license;
    unclear = true;
  }
  // "BSD" in one field and "BSD License" in a classifier leave it open; so does one unclear
  // classifier.
  if (!classified.empty()) {
    return MakeLicense(SpdxExpression::All(std::move(classified)).ToString(), "metadata",
                       kClassifierField);
  }
  if (unclear) return Unknown("metadata");
  return std::nullopt;
}

LicenseFinder::LicenseFinder(const v1::SourceTree& tree)
    : files_(tree), metadata_(ReadDeclaredLicenses(tree)) {}

v1::License LicenseFinder::Find(absl::string_view path, absl::string_view content) {
  HeaderFindings header = ReadHeader(path, content);
  if (header.has_tags) {
    if (header.tags.empty()) return Unknown("spdx-tag");
    Append(header.notice.portions, &header.tags);
    return MakeLicense(SpdxExpression::All(std::move(header.tags)).ToString(), "spdx-tag", 1.0);
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
  return MakeLicense(SpdxExpression::All(std::move(parts)).ToString(),
                     absl::StrCat("header+", base->evidence()),
                     std::min(base->confidence(), kHeaderNotice));
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
  return metadata_.value_or(Unknown(""));
}

}  // namespace kernelmill::validator
