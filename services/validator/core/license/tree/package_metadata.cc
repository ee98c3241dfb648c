// Licences that packages declare about themselves. They are the last resort of the finder, since
// they are written once and forgotten, and they rarely mention other people's code. A declaration
// that is seen but not understood still gives NOASSERTION, except for values that say nothing ("OSI
// Approved").
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
#include "services/validator/core/license/text/text.h"
#include "services/validator/core/license/tree/files.h"
#include "services/validator/core/license/words/notice.h"

namespace kernelmill::validator {
namespace {

using code::Token;

using spdx::LicenseTerm;

constexpr char kClassifier[] = "License ::";
// The confidence of a declaration: an SPDX expression is exact, a name in free text is nearly so,
// and a classifier such as "BSD License" leaves open which one it means.
constexpr double kExpressionField = 0.9;
constexpr double kLicenseField = 0.8;
constexpr double kClassifierField = 0.6;
constexpr size_t kMaxBytes = 256 << 10;
constexpr size_t kMaxDeclarations = 64;

// Returns the string literals of a line of TOML without their quotes; escapes stay as written.
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

// Gets the value of a line "key = value". Returns false if the line is different or has another
// key.
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
    // { file = "LICENSE" } names a file, which is read on its own.
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

// Reads the sections about a package: [project], [tool.poetry], [metadata].
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

// Finds license="..." and classifiers among the string literals, wherever they are in the file.
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

// Returns the expression if the SPDX list has every identifier in it; "BSD" or "Other" in metadata
// is not an identifier.
std::optional<SpdxExpression> ParseKnown(absl::string_view text) {
  absl::StatusOr<SpdxExpression> parsed = SpdxExpression::Parse(text);
  if (!parsed.ok()) return std::nullopt;
  const auto known = [](const LicenseTerm& term) { return spdx::IsKnownLicenseId(term.id); };
  if (!absl::c_all_of(parsed->Terms(), known)) return std::nullopt;
  return *std::move(parsed);
}

// Returns the licence of "License :: OSI Approved :: MIT License". The classifier for Apache's
// licence has no version, but no version before 2.0 is in use.
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

// Reads a `license` field: an expression, in which '/' means OR, else a licence's text or name.
std::optional<v1::License> ReadField(const Declaration& field) {
  if (std::optional<SpdxExpression> parsed =
          ParseKnown(absl::StrReplaceAll(field.text, {{"/", " OR "}}))) {
    return MakeLicense(parsed->ToString(), kExpressionField,
                       MakeEvidence("field", parsed->ToString(), field.text, kExpressionField,
                                    {field.line, field.line}));
  }
  LicenseFinding finding = ReadLicenseFile(field.text);
  if (!finding.license.has_value()) return std::nullopt;
  const double confidence = std::min(finding.confidence, kLicenseField);
  return MakeLicense(finding.license->ToString(), confidence,
                     MakeEvidence("field", finding.license->ToString(), field.text, confidence,
                                  {field.line, field.line}));
}

// Adds the place to a licence.
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

// The first field that is understood decides. Only without one do the classifiers count, all
// together.
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
                                             kClassifierField, {declared.line, declared.line});
      classes.push_back(*std::move(license));
      continue;
    }
    *unclear.add_found() = MakeEvidence(classifier ? "classifier" : "field", "", field, 0,
                                        {declared.line, declared.line});
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

// A wheel is one package, so its metadata is about all its files; a repository may have a package
// in each folder.
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
