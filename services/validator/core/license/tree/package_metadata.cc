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
#include "common/base/glob.h"
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

// Returns the first string behind `key =` in an inline table: { text = "MIT" }.
std::optional<std::string> FindInTable(absl::string_view table, absl::string_view key) {
  const size_t at = table.find(key);
  if (at == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest = absl::StripLeadingAsciiWhitespace(table.substr(at + key.size()));
  if (!absl::StartsWith(rest, "=")) return std::nullopt;
  const std::vector<absl::string_view> strings = Strings(rest);
  if (strings.empty()) return std::nullopt;
  return std::string(strings.front());
}

// Reads pyproject.toml line by line: the sections about a package, strings over several lines, and
// arrays over several lines.
class PackageTomlReader {
 public:
  std::vector<Declaration> Read(absl::string_view content) {
    for (const absl::string_view line : absl::StrSplit(content, '\n')) {
      ++number_;
      ReadLine(line);
      if (found_.size() >= kMaxDeclarations) break;
    }
    return std::move(found_);
  }

 private:
  enum class Section { kOther, kProject, kLicense, kTool };

  void ReadLine(absl::string_view line) {
    if (!quote_.empty()) {
      ReadText(line);
      return;
    }
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(text, "[") && !in_files_ && line[0] == '[') {
      section_ = text == "[project]" || text == "[tool.poetry]" ? Section::kProject
                 : text == "[project.license]"                  ? Section::kLicense
                 : text == "[tool.setuptools]"                  ? Section::kTool
                                                                : Section::kOther;
      return;
    }
    if (section_ == Section::kOther) return;
    if (in_files_) {
      AddFiles(text);
      return;
    }
    absl::string_view value;
    if (TakeKey(text, "license-files", &value) || TakeKey(text, "license-files.paths", &value) ||
        TakeKey(text, "license-files.globs", &value)) {
      AddFiles(value);
    } else if (section_ == Section::kLicense) {
      if (TakeKey(text, "text", &value)) ReadValue(value);
      if (TakeKey(text, "file", &value)) AddFiles(value);
    } else if (section_ == Section::kProject) {
      ReadProjectLine(text);
    }
  }

  void ReadProjectLine(absl::string_view text) {
    absl::string_view value;
    if (TakeKey(text, "license.text", &value)) {
      ReadValue(value);
    } else if (TakeKey(text, "license.file", &value)) {
      AddFiles(value);
    } else if (TakeKey(text, "license", &value)) {
      ReadLicense(value);
    } else {
      for (const absl::string_view one : Strings(text)) {
        if (IsClassifier(one)) found_.push_back({std::string(one), number_});
      }
    }
  }

  void ReadLicense(absl::string_view value) {
    if (!absl::StartsWith(value, "{")) {
      ReadValue(value);
      return;
    }
    const size_t quotes = std::min(value.find("\"\"\""), value.find("'''"));
    if (quotes != absl::string_view::npos && absl::StrContains(value.substr(0, quotes), "text")) {
      ReadValue(value.substr(quotes));
    } else if (const std::optional<std::string> text = FindInTable(value, "text")) {
      found_.push_back({*text, number_});
    } else if (const std::optional<std::string> file = FindInTable(value, "file")) {
      found_.push_back({*file, number_, /*is_file=*/true});
    }
  }

  // Reads a string, which may go on over several lines.
  void ReadValue(absl::string_view value) {
    for (const absl::string_view quote : {"\"\"\"", "'''"}) {
      if (!absl::ConsumePrefix(&value, quote)) continue;
      quote_ = std::string(quote);
      text_ = {"", number_};
      ReadText(value);
      return;
    }
    const std::vector<absl::string_view> strings = Strings(value);
    if (!strings.empty()) found_.push_back({std::string(strings.front()), number_});
  }

  void ReadText(absl::string_view line) {
    const size_t end = line.find(quote_);
    absl::StrAppend(&text_.text, line.substr(0, end), "\n");
    if (end == absl::string_view::npos) return;
    quote_.clear();
    found_.push_back(std::move(text_));
  }

  // Adds the names of files in an array, or in one line of it.
  void AddFiles(absl::string_view value) {
    for (const absl::string_view one : Strings(value)) {
      found_.push_back({std::string(one), number_, /*is_file=*/true});
    }
    const bool opens = absl::StartsWith(value, "[") || absl::StartsWith(value, "{");
    in_files_ = (in_files_ || opens) && !absl::StrContains(value, "]");
  }

  Section section_ = Section::kOther;
  int number_ = 0;
  std::string quote_;  // the end of the string that is being read
  Declaration text_;
  bool in_files_ = false;
  std::vector<Declaration> found_;
};

// Reads [metadata] of setup.cfg.
class CfgReader {
 public:
  std::vector<Declaration> Read(absl::string_view content) {
    for (const absl::string_view line : absl::StrSplit(content, '\n')) {
      ++number_;
      const absl::string_view text = absl::StripAsciiWhitespace(line);
      if (absl::StartsWith(line, "[")) {
        ours_ = text == "[metadata]";
        in_files_ = false;
      } else if (ours_) {
        ReadLine(line, text);
      }
      if (found_.size() >= kMaxDeclarations) break;
    }
    return std::move(found_);
  }

 private:
  void ReadLine(absl::string_view line, absl::string_view text) {
    absl::string_view value;
    if (TakeKey(line, "license", &value) && !value.empty()) {
      found_.push_back({std::string(value), number_});
    } else if (IsClassifier(text)) {
      found_.push_back({std::string(text), number_});
    } else if (TakeKey(line, "license_files", &value) || TakeKey(line, "license_file", &value) ||
               TakeKey(line, "license-files", &value)) {
      in_files_ = true;
      AddFiles(value);
    } else if (in_files_ && !line.empty() && absl::ascii_isspace(line[0])) {
      AddFiles(text);
    } else {
      in_files_ = false;
    }
  }

  void AddFiles(absl::string_view value) {
    for (const absl::string_view one :
         absl::StrSplit(value, absl::ByAnyChar(", \t\r"), absl::SkipEmpty())) {
      if (one[0] == '#') break;
      found_.push_back({std::string(one), number_, /*is_file=*/true});
    }
  }

  int number_ = 0;
  bool ours_ = false;
  bool in_files_ = false;
  std::vector<Declaration> found_;
};

// Finds license="...", license_files=[...] and classifiers among the string literals, wherever they
// are in the file.
std::vector<Declaration> ReadSetupPy(absl::string_view content) {
  std::vector<Declaration> found;
  const std::vector<Token> tokens = code::Lex(content, code::Language::kPython);
  const char* counted = content.data();
  int line = 1;
  bool in_files = false;
  for (size_t i = 0; i < tokens.size() && found.size() < kMaxDeclarations; ++i) {
    const Token& token = tokens[i];
    const bool assigned = i >= 2 && tokens[i - 1].text == "=";
    const absl::string_view name = assigned ? tokens[i - 2].text : absl::string_view();
    const bool files = name == "license_files" || name == "license_file";
    in_files = (in_files || files) && token.text != "]" && token.text != ")";
    if (token.kind != Token::kString) continue;
    line += static_cast<int>(std::count(counted, token.text.data(), '\n'));
    counted = token.text.data();
    const absl::string_view text = code::PythonStringContent(token.text);
    const bool is_file = in_files && !IsClassifier(text);
    if (name == "license" || IsClassifier(text) || is_file)
      found.push_back({std::string(text), line, is_file});
    if (files) in_files = false;  // one string, not a list
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
  if (name == "pyproject.toml") found = PackageTomlReader().Read(content);
  if (name == "setup.cfg") found = CfgReader().Read(content);
  if (name == "setup.py") found = ReadSetupPy(content);
  std::stable_partition(found.begin(), found.end(), [](const Declaration& one) {
    return !one.is_file && !IsClassifier(one.text);
  });
  return found;
}

namespace {

// Returns the licence of the files of a tree that the declarations name, all of them together;
// nothing if none of them is a licence file of the tree.
std::optional<v1::License> ReadDeclaredFiles(absl::string_view path,
                                             const std::vector<Declaration>& declarations,
                                             const v1::SourceTree& tree) {
  std::vector<std::string> globs;
  for (const Declaration& declared : declarations) {
    const absl::string_view name = absl::StripPrefix(declared.text, "./");
    if (declared.is_file && !name.empty())
      globs.push_back(
          absl::StrCat(ParentFolder(path), ParentFolder(path).empty() ? "" : "/", name));
  }
  const absl::StatusOr<GlobSet> named = GlobSet::Compile(globs, {});
  if (globs.empty() || !named.ok()) return std::nullopt;
  const LicenseFinding finding = ReadTogether(tree, [&](const v1::SourceFile& file) {
    const source_files::Kind kind = source_files::GetKind(file.path());
    return (kind == source_files::Kind::kLicense || kind == source_files::Kind::kLicenseText) &&
           named->Matches(file.path());
  });
  if (finding.path.empty()) return std::nullopt;
  v1::License license;
  license.set_expression(finding.license.has_value() ? finding.license->ToString()
                                                     : std::string(spdx::kNoAssertion));
  license.set_confidence(finding.license.has_value() ? std::min(finding.confidence, kLicenseField)
                                                     : 0);
  license.set_evidence(absl::StrCat("metadata:", ToUtf8(path)));
  for (const v1::LicenseEvidence& one : finding.evidence) *license.add_found() = one;
  license.mutable_copyrights()->Assign(finding.copyrights.begin(), finding.copyrights.end());
  return license;
}

// Returns the rule that a declaration is evidence of.
absl::string_view GetRule(const Declaration& declared) {
  return declared.is_file ? "file" : IsClassifier(declared.text) ? "classifier" : "field";
}

}  // namespace

// The first field that is understood decides. Only without one do the classifiers count, all
// together. The name of a file is nothing that is understood.
std::optional<v1::License> ReadDeclared(absl::string_view path,
                                        const std::vector<Declaration>& declarations) {
  v1::License classified;
  std::vector<SpdxExpression> classes;
  v1::License unclear;
  for (const Declaration& declared : declarations) {
    const absl::string_view field = absl::StripAsciiWhitespace(declared.text);
    if (field.empty() || absl::EndsWith(field, "OSI Approved")) continue;
    if (!declared.is_file && !IsClassifier(field)) {
      std::optional<v1::License> license = ReadField({std::string(field), declared.line});
      if (license.has_value()) return Placed(path, *std::move(license));
    } else if (std::optional<SpdxExpression> license =
                   declared.is_file ? std::nullopt : ReadClassifier(field)) {
      *classified.add_found() = MakeEvidence("classifier", license->ToString(), field,
                                             kClassifierField, {declared.line, declared.line});
      classes.push_back(*std::move(license));
      continue;
    }
    *unclear.add_found() =
        MakeEvidence(GetRule(declared), "", field, 0, {declared.line, declared.line});
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

// The text of a file that a package names is surer than the name of its licence, so it comes first.
PackageMetadata::PackageMetadata(const v1::SourceTree& tree) {
  std::vector<Declaration> declared;
  for (const std::string& text : tree.declared_licenses()) declared.push_back({text, 0});
  wheel_ = ReadDeclared("", declared);
  for (const absl::string_view wanted : source_files::kMetadataFiles) {
    for (const v1::SourceFile& file : tree.license_files()) {
      if (BaseName(file.path()) != wanted) continue;
      const std::vector<Declaration> declarations = ReadDeclarations(file.path(), file.content());
      std::optional<v1::License> license = ReadDeclaredFiles(file.path(), declarations, tree);
      if (!license.has_value()) license = ReadDeclared(file.path(), declarations);
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
