// Names decide, not contents: the fetcher has to choose before it has fetched anything. So the
// rules are generous where a wrong guess only costs a small file, and exclude code and markup,
// whose text would be misread.
#include "common/source_files/source_files.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"

namespace kernelmill::source_files {
namespace {

// Returns the path that a file had in the project, if it is kept in a wheel's records.
absl::string_view ProjectPath(absl::string_view path) {
  const size_t slash = path.find('/');
  if (slash == absl::string_view::npos) return path;
  const absl::string_view top = path.substr(0, slash);
  if (!absl::EndsWith(top, ".dist-info") && !absl::EndsWith(top, ".egg-info")) return path;
  path.remove_prefix(slash + 1);
  if (!absl::ConsumePrefix(&path, "licenses/")) absl::ConsumePrefix(&path, "license_files/");
  return path;
}

bool BeginsWithAny(absl::string_view name, std::initializer_list<absl::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](absl::string_view word) {
    return absl::StartsWithIgnoreCase(name, word);
  });
}

bool EndsWithAny(absl::string_view name, std::initializer_list<absl::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](absl::string_view end) { return absl::EndsWithIgnoreCase(name, end); });
}

// license.py is code about licences, not a licence.
bool IsCode(absl::string_view name) {
  return EndsWithAny(
      name, {".py", ".pyi", ".pyc", ".json", ".yml", ".yaml", ".toml",     ".js",    ".ts", ".sh",
             ".h",  ".cfg", ".c",   ".cc",   ".cpp", ".tmpl", ".template", ".ipynb", ".go", ".rb"});
}

// Returns whether the name says that the file has terms: ADDITIONAL_TERMS.md, USE_POLICY.txt.
bool IsTermsName(absl::string_view name) {
  std::string word;
  for (const char c : name.substr(0, name.find('.'))) {
    word.push_back(c == '-' || c == ' ' ? '_' : absl::ascii_tolower(c));
  }
  for (const absl::string_view known :
       {"terms", "additional_terms", "additional_conditions", "terms_of_use",
        "terms_and_conditions", "addendum", "license_addendum", "rider", "use_policy",
        "usage_policy", "acceptable_use_policy", "acceptable_use", "restrictions",
        "use_restrictions", "commons_clause", "eula"}) {
    if (word == known) return true;
  }
  return absl::EndsWith(word, "_terms") || absl::EndsWith(word, "_use_policy");
}

// Markup is not read, since its text would have to be told from its tags.
bool IsMarkup(absl::string_view name) { return EndsWithAny(name, {".html", ".xml"}); }

bool IsMetadataName(absl::string_view name) {
  return std::find(std::begin(kMetadataFiles), std::end(kMetadataFiles), name) !=
         std::end(kMetadataFiles);
}

constexpr absl::string_view kReuseToml = "REUSE.toml";
constexpr absl::string_view kDep5 = ".reuse/dep5";
constexpr absl::string_view kSideTags = ".license";

bool IsDep5(absl::string_view path) {
  return path == kDep5 || absl::EndsWith(path, absl::StrCat("/", kDep5));
}

// In lower case, without '-' and '_' except at the beginning.
constexpr absl::string_view kCertainFolders[] = {"thirdparty", "thirdparties", "3rdparty",
                                                 "3rdparties", "_vendor",      "_vendors",
                                                 "_vendored",  "vendored"};
constexpr absl::string_view kLikelyFolders[] = {"vendor", "external", "externals",
                                                "extern", "deps",     "submodules"};

// Returns a folder's name in the form of the lists below.
std::string FolderWord(absl::string_view part) {
  std::string word;
  for (const char c : part) {
    const bool joins = c == '-' || c == '_';
    if (!joins || (word.empty() && c == '_')) word.push_back(absl::ascii_tolower(c));
  }
  return word;
}

template <typename List>
bool Has(const List& list, absl::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool IsInLicensesFolder(absl::string_view path) {
  return absl::EqualsIgnoreCase(BaseName(ParentFolder(path)), "licenses");
}

constexpr size_t kMaxSpecifier = 256;

// Returns whether the text is one clause, an operator and a version: ">= 3.0.0".
bool IsClause(absl::string_view clause) {
  clause = absl::StripAsciiWhitespace(clause);
  const size_t end = clause.find_first_not_of("<>=!~");
  if (end == absl::string_view::npos) return false;
  static constexpr absl::string_view kOperators[] = {"===", "==", "!=", "~=", "<=", ">=", "<", ">"};
  const bool known = std::find(std::begin(kOperators), std::end(kOperators),
                               clause.substr(0, end)) != std::end(kOperators);
  const absl::string_view version = absl::StripLeadingAsciiWhitespace(clause.substr(end));
  return known && !version.empty() && std::all_of(version.begin(), version.end(), [](char c) {
           return absl::ascii_isalnum(c) || absl::StrContains(".*+!_-", c);
         });
}

// Returns the text without blanks around it if it is a PEP 440 specifier; else empty.
absl::string_view AsSpecifier(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty() || text.size() > kMaxSpecifier) return "";
  for (const absl::string_view clause : absl::StrSplit(text, ',')) {
    if (!IsClause(clause)) return "";
  }
  return text;
}

// Returns ">=1.0" for "name[extra] (>=1.0) ; marker"; empty if it names another package or no
// version.
absl::string_view ReadRequirement(absl::string_view text, absl::string_view package) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::StartsWithIgnoreCase(text, package)) return "";
  text = absl::StripLeadingAsciiWhitespace(text.substr(package.size()));
  if (absl::ConsumePrefix(&text, "[")) {
    const size_t close = text.find(']');
    if (close == absl::string_view::npos) return "";
    text = absl::StripLeadingAsciiWhitespace(text.substr(close + 1));
  }
  for (const absl::string_view end : {";", "#", " --", "\\"}) text = text.substr(0, text.find(end));
  text = absl::StripAsciiWhitespace(text);
  if (absl::ConsumePrefix(&text, "(")) absl::ConsumeSuffix(&text, ")");
  return AsSpecifier(text);
}

// Returns the first specifier among the string literals of a line, each read as a requirement.
absl::string_view ReadLiterals(absl::string_view line, absl::string_view package) {
  for (size_t begin = line.find_first_of("'\""); begin != absl::string_view::npos;) {
    const size_t end = line.find(line[begin], begin + 1);
    if (end == absl::string_view::npos) break;
    const absl::string_view found =
        ReadRequirement(line.substr(begin + 1, end - begin - 1), package);
    if (!found.empty()) return found;
    begin = line.find_first_of("'\"", end + 1);
  }
  return "";
}

// Reads triton = ">=3.0.0" and triton = {version = ">=3.0.0", ...}.
absl::string_view ReadTomlValue(absl::string_view line, absl::string_view package) {
  if (!absl::ConsumePrefix(&line, package)) return "";
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "=")) return "";
  const size_t begin = line.find_first_of("'\"");
  if (begin == absl::string_view::npos) return "";
  const size_t end = line.find(line[begin], begin + 1);
  if (end == absl::string_view::npos) return "";
  return AsSpecifier(line.substr(begin + 1, end - begin - 1));
}

absl::string_view ReadLine(absl::string_view name, absl::string_view line,
                           absl::string_view package) {
  if (name == "METADATA") {
    return absl::ConsumePrefix(&line, "Requires-Dist:") ? ReadRequirement(line, package) : "";
  }
  if (name != "pyproject.toml" && name != "setup.py") return ReadRequirement(line, package);
  const absl::string_view literal = ReadLiterals(line, package);
  return literal.empty() && name == "pyproject.toml" ? ReadTomlValue(line, package) : literal;
}

}  // namespace

// The order of the tests matters: a file NOTICE in a folder LICENSES is a notice.
Kind GetKind(absl::string_view path) {
  // A wheel lists its licence files, whatever their names (PEP 639).
  const bool recorded = IsInDistInfo(path) && absl::StrContains(path, ".dist-info/licenses/");
  path = ProjectPath(path);
  const absl::string_view name = BaseName(path);
  if (IsMetadataName(name)) return Kind::kMetadata;
  if (name == kReuseToml || IsDep5(path)) return Kind::kAnnotations;
  if (!FileOfSideTags(path).empty()) return Kind::kSideTags;
  const bool notice = BeginsWithAny(name, {"notice", "copyright"});
  if (notice) return IsCode(name) ? Kind::kOther : Kind::kNotice;
  if (BeginsWithAny(name, {"readme"}))
    return IsCode(name) || IsMarkup(name) ? Kind::kOther : Kind::kReadme;
  if (IsTermsName(name)) return IsCode(name) || IsMarkup(name) ? Kind::kOther : Kind::kTerms;
  const bool named = BeginsWithAny(name, {"license", "licence", "copying", "unlicense"});
  const bool kept = IsInLicensesFolder(path);
  const bool people = BeginsWithAny(name, {"author", "contributor", "citation", "changelog"});
  if (recorded && !named && !people && !IsCode(name) && !IsMarkup(name)) return Kind::kLicenseText;
  if ((!named && !kept) || IsCode(name) || IsMarkup(name)) return Kind::kOther;
  const std::string lower = absl::AsciiStrToLower(name);
  if (kept && !IsOfThirdParties(lower)) return Kind::kLicenseText;
  // license_header.txt is a text to put above code, not the source's licence.
  return named && !absl::StrContains(lower, "header") ? Kind::kLicense : Kind::kOther;
}

absl::string_view GlobOfCode(absl::string_view path) {
  const auto ends_with = [path](absl::string_view end) { return absl::EndsWith(path, end); };
  if (ends_with(".ipynb")) return "**/*.ipynb";
  if (ends_with(".cu") || ends_with(".cuh") || ends_with(".hip")) return "**/*.{cu,cuh,hip}";
  if (ends_with(".metal")) return "**/*.metal";
  return "";
}

absl::string_view FolderItIsAbout(absl::string_view path) {
  const bool kept = GetKind(path) == Kind::kLicenseText || IsDep5(path);
  const absl::string_view folder = ParentFolder(ProjectPath(path));
  return kept ? ParentFolder(folder) : folder;
}

absl::string_view FileOfSideTags(absl::string_view path) {
  if (!absl::EndsWith(path, kSideTags)) return {};
  path.remove_suffix(kSideTags.size());
  const absl::string_view name = BaseName(path);
  // "x.license" may be a licence named x, so the name must have an ending of its own.
  return absl::StrContains(name, '.') ? path : absl::string_view();
}

// The innermost folder counts: third_party/a/vendor/b is b's code.
std::optional<VendoredFolder> FindVendoredFolder(absl::string_view path) {
  std::optional<VendoredFolder> found;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = path.find('/', begin);
    if (end == absl::string_view::npos) break;
    const std::string word = FolderWord(path.substr(begin, end - begin));
    const bool certain = Has(kCertainFolders, word);
    if (certain || Has(kLikelyFolders, word)) {
      const size_t next = path.find('/', end + 1);
      found = {path.substr(0, next == absl::string_view::npos ? end : next), path.substr(0, end),
               certain};
    }
    begin = end + 1;
  }
  return found;
}

bool IsOfThirdParties(absl::string_view name) {
  return absl::StrContains(name, "third") || absl::StrContains(name, "3rd") ||
         absl::StrContains(name, "bundled") || absl::StrContains(name, "vendor");
}

bool IsInDistInfo(absl::string_view path) {
  const size_t slash = path.find('/');
  return slash != absl::string_view::npos && absl::EndsWith(path.substr(0, slash), ".dist-info");
}

bool IsWheelMetadata(absl::string_view path) {
  return IsInDistInfo(path) && path.substr(path.find('/')) == "/METADATA";
}

// A wheel's METADATA is what installers obey; requirements.txt often pins a developer's
// environment.
std::optional<int> RequirementRank(absl::string_view path) {
  if (IsWheelMetadata(path)) return 0;
  const auto metadata = std::find(std::begin(kMetadataFiles), std::end(kMetadataFiles), path);
  if (metadata != std::end(kMetadataFiles)) {
    return 1 + static_cast<int>(metadata - std::begin(kMetadataFiles));
  }
  const bool listed = absl::StartsWith(path, "requirements") && absl::EndsWith(path, ".txt") &&
                      !absl::StrContains(path, '/');
  if (listed) return 1 + static_cast<int>(std::size(kMetadataFiles));
  return std::nullopt;
}

std::string RequiredVersion(absl::string_view path, absl::string_view content,
                            absl::string_view package) {
  const absl::string_view name = BaseName(path);
  for (absl::string_view line : absl::StrSplit(content, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (name == "METADATA" && line.empty()) break;  // the description follows
    if (absl::StartsWith(line, "#")) continue;
    const absl::string_view found = ReadLine(name, line, package);
    if (!found.empty()) return std::string(found);
  }
  return "";
}

}  // namespace kernelmill::source_files
