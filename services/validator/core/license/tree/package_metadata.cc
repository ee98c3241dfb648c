#include "services/validator/core/license/tree/package_metadata.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/source_files/source_files.h"
#include "common/spdx/expression.h"
#include "services/validator/core/license/text/evidence.h"
#include "services/validator/core/license/tree/files.h"
#include "services/validator/core/license/words/notice.h"

namespace kernelmill::validator {
namespace {

using code::Token;

using spdx::LicenseTerm;

constexpr char kClassifier[] = "License ::";
constexpr double kExpressionField = 0.9;
constexpr double kLicenseField = 0.8;
constexpr double kClassifierField = 0.6;
constexpr size_t kMaxBytes = 256 << 10;
constexpr size_t kMaxDeclarations = 64;

// The string literals of a line of TOML, without their quotes; escapes are left as written.
std::vector<absl::string_view> Strings(absl::string_view line) {
  std::vector<absl::string_view> strings;
  for (size_t at = 0; at < line.size(); ++at) {
    const char quote = line[at];
    if (quote == '#') break;
    if (quote != '"' && quote != '\'') continue;
    const size_t end = line.find(quote, at + 1);
    if (end == absl::string_view::npos) break;
    strings.push_back(line.substr(at + 1, end - at - 1));
    at = end;
  }
  return strings;
}

bool IsClassifier(absl::string_view text) { return absl::StartsWith(text, kClassifier); }

// The value of "key = value"; false if the line is none or the key another.
bool TakeKey(absl::string_view line, absl::string_view key, absl::string_view* value) {
  const size_t equals = line.find('=');
  if (equals == absl::string_view::npos) return false;
  if (absl::StripAsciiWhitespace(line.substr(0, equals)) != key) return false;
  *value = absl::StripAsciiWhitespace(line.substr(equals + 1));
  return true;
}

void ReadTomlLine(absl::string_view line, int number, std::vector<Declaration>* found) {
  absl::string_view value;
  const std::vector<absl::string_view> strings = Strings(line);
  if (TakeKey(line, "license", &value) && !strings.empty()) {
    // { file = "LICENSE" } names a file, which speaks for itself.
    const bool table = absl::StartsWith(value, "{");
    if (!table || absl::StrContains(value, "text")) {
      found->push_back({std::string(strings.front()), number});
    }
    return;
  }
  for (const absl::string_view text : strings) {
    if (IsClassifier(text)) found->push_back({std::string(text), number});
  }
}

void ReadCfgLine(absl::string_view line, int number, std::vector<Declaration>* found) {
  absl::string_view value;
  if (TakeKey(line, "license", &value) && !value.empty()) {
    found->push_back({std::string(value), number});
  } else if (IsClassifier(absl::StripAsciiWhitespace(line))) {
    found->push_back({std::string(absl::StripAsciiWhitespace(line)), number});
  }
}

// Lines of the sections that are a package's: [project], [tool.poetry], [metadata].
std::vector<Declaration> ReadSections(absl::string_view content, bool toml) {
  std::vector<Declaration> found;
  bool ours = false;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(content, '\n')) {
    ++number;
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(line, "[")) {
      ours = toml ? text == "[project]" || text == "[tool.poetry]" : text == "[metadata]";
    } else if (ours && toml) {
      ReadTomlLine(text, number, &found);
    } else if (ours) {
      ReadCfgLine(line, number, &found);
    }
    if (found.size() >= kMaxDeclarations) break;
  }
  return found;
}

std::vector<Declaration> ReadSetupPy(absl::string_view content) {
  std::vector<Declaration> found;
  const std::vector<Token> tokens = code::Lex(content, code::Language::kPython);
  const char* counted = content.data();
  int line = 1;
  for (size_t i = 0; i < tokens.size() && found.size() < kMaxDeclarations; ++i) {
    const Token& token = tokens[i];
    if (token.kind != Token::kString) continue;
    line += static_cast<int>(std::count(counted, token.text.data(), '\n'));
    counted = token.text.data();
    const absl::string_view text = code::PythonStringContent(token.text);
    const bool argument = i >= 2 && tokens[i - 1].text == "=" && tokens[i - 2].text == "license";
    if (argument || IsClassifier(text)) found.push_back({std::string(text), line});
  }
  return found;
}

// The expression, if every identifier in it is a real one: "BSD" or "Other" in metadata is not.
std::optional<SpdxExpression> ParseKnown(absl::string_view text) {
  absl::StatusOr<SpdxExpression> parsed = SpdxExpression::Parse(text);
  if (!parsed.ok()) return std::nullopt;
  const auto known = [](const LicenseTerm& term) { return spdx::IsKnownLicenseId(term.id); };
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

v1::License MakeLicense(absl::string_view expression, double confidence,
                        v1::LicenseEvidence evidence) {
  v1::License license;
  license.set_expression(std::string(expression));
  license.set_confidence(confidence);
  *license.add_found() = std::move(evidence);
  return license;
}

std::optional<v1::License> ReadField(const Declaration& field) {
  if (std::optional<SpdxExpression> parsed =
          ParseKnown(absl::StrReplaceAll(field.text, {{"/", " OR "}}))) {
    return MakeLicense(parsed->ToString(), kExpressionField,
                       MakeEvidence("field", parsed->ToString(), field.text, kExpressionField,
                                    field.line, field.line));
  }
  LicenseFinding finding = ReadLicenseFile(field.text);
  if (!finding.license.has_value()) return std::nullopt;
  const double confidence = std::min(finding.confidence, kLicenseField);
  return MakeLicense(finding.license->ToString(), confidence,
                     MakeEvidence("field", finding.license->ToString(), field.text, confidence,
                                  field.line, field.line));
}

// Where it was found is set here, for a licence that is one.
v1::License Placed(absl::string_view path, v1::License license) {
  license.set_evidence(path.empty() ? "metadata" : absl::StrCat("metadata:", ToUtf8(path)));
  for (v1::LicenseEvidence& found : *license.mutable_found()) found.set_path(ToUtf8(path));
  return license;
}

}  // namespace

std::vector<Declaration> ReadDeclarations(absl::string_view path, absl::string_view content) {
  content = content.substr(0, kMaxBytes);
  const absl::string_view name = BaseName(path);
  std::vector<Declaration> found;
  if (name == "pyproject.toml") found = ReadSections(content, /*toml=*/true);
  if (name == "setup.cfg") found = ReadSections(content, /*toml=*/false);
  if (name == "setup.py") found = ReadSetupPy(content);
  std::stable_partition(found.begin(), found.end(),
                        [](const Declaration& one) { return !IsClassifier(one.text); });
  return found;
}

std::optional<v1::License> ReadDeclared(absl::string_view path,
                                        const std::vector<Declaration>& declarations) {
  v1::License classified;
  std::vector<SpdxExpression> classes;
  v1::License unclear;
  for (const Declaration& declared : declarations) {
    const absl::string_view field = absl::StripAsciiWhitespace(declared.text);
    if (field.empty() || absl::EndsWith(field, "OSI Approved")) continue;
    const bool classifier = IsClassifier(field);
    if (!classifier) {
      std::optional<v1::License> license = ReadField({std::string(field), declared.line});
      if (license.has_value()) return Placed(path, *std::move(license));
    } else if (std::optional<SpdxExpression> license = ReadClassifier(field)) {
      *classified.add_found() = MakeEvidence("classifier", license->ToString(), field,
                                             kClassifierField, declared.line, declared.line);
      classes.push_back(*std::move(license));
      continue;
    }
    *unclear.add_found() = MakeEvidence(classifier ? "classifier" : "field", "", field, 0,
                                        declared.line, declared.line);
  }
  if (!classes.empty()) {
    classified.set_expression(SpdxExpression::All(std::move(classes)).ToString());
    classified.set_confidence(kClassifierField);
    return Placed(path, std::move(classified));
  }
  if (unclear.found().empty()) return std::nullopt;
  unclear.set_expression(spdx::kNoAssertion);
  return Placed(path, std::move(unclear));
}

PackageMetadata::PackageMetadata(const v1::SourceTree& tree) {
  std::vector<Declaration> declared;
  for (const std::string& text : tree.declared_licenses()) declared.push_back({text, 0});
  wheel_ = ReadDeclared("", declared);
  for (const absl::string_view wanted : source_files::kMetadataFiles) {
    for (const v1::SourceFile& file : tree.license_files()) {
      if (BaseName(file.path()) != wanted) continue;
      std::optional<v1::License> license =
          ReadDeclared(file.path(), ReadDeclarations(file.path(), file.content()));
      if (license.has_value())
        folders_.emplace(std::string(ParentFolder(file.path())), *std::move(license));
    }
  }
}

std::optional<v1::License> PackageMetadata::Nearest(absl::string_view path,
                                                    absl::string_view top) const {
  if (top.empty() && wheel_.has_value()) return wheel_;
  if (folders_.empty()) return std::nullopt;
  std::string folder(ParentFolder(path));
  while (true) {
    const auto found = folders_.find(folder);
    if (found != folders_.end()) return found->second;
    if (folder.size() <= top.size()) return std::nullopt;
    folder = std::string(ParentFolder(folder));
  }
}

}  // namespace kernelmill::validator
