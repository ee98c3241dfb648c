#include "common/source_files/source_files.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"

namespace kernelmill::source_files {
namespace {

absl::string_view ProjectPath(absl::string_view path) {
  const size_t slash = path.find('/');
  if (slash == absl::string_view::npos) return path;
  const absl::string_view top = path.substr(0, slash);
  if (!absl::EndsWith(top, ".dist-info") && !absl::EndsWith(top, ".egg-info")) return path;
  path.remove_prefix(slash + 1);
  if (!absl::ConsumePrefix(&path, "licenses/")) absl::ConsumePrefix(&path, "license_files/");
  return path;
}

bool BeginsWithOneOf(absl::string_view name, std::initializer_list<absl::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](absl::string_view word) {
    return absl::StartsWithIgnoreCase(name, word);
  });
}

bool EndsWithOneOf(absl::string_view name, std::initializer_list<absl::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](absl::string_view end) { return absl::EndsWithIgnoreCase(name, end); });
}

// license.py holds code about licences, not one.
bool IsCode(absl::string_view name) {
  return EndsWithOneOf(
      name, {".py", ".pyi", ".pyc", ".json", ".yml", ".yaml", ".toml",     ".js",    ".ts", ".sh",
             ".h",  ".cfg", ".c",   ".cc",   ".cpp", ".tmpl", ".template", ".ipynb", ".go", ".rb"});
}

// Its text is not told from its tags.
bool IsMarkup(absl::string_view name) { return EndsWithOneOf(name, {".html", ".xml"}); }

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

// In lower case, without '-' and '_' but for those that it begins with.
constexpr absl::string_view kCertainFolders[] = {"thirdparty", "thirdparties", "3rdparty",
                                                 "3rdparties", "_vendor",      "_vendors",
                                                 "_vendored",  "vendored"};
constexpr absl::string_view kLikelyFolders[] = {"vendor", "external", "externals",
                                                "extern", "deps",     "submodules"};

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

}  // namespace

Kind KindOf(absl::string_view path) {
  path = ProjectPath(path);
  const absl::string_view name = BaseName(path);
  if (IsMetadataName(name)) return Kind::kMetadata;
  if (name == kReuseToml || IsDep5(path)) return Kind::kAnnotations;
  if (!FileOfSideTags(path).empty()) return Kind::kSideTags;
  const bool notice = BeginsWithOneOf(name, {"notice"});
  if (notice) return IsCode(name) ? Kind::kOther : Kind::kNotice;
  const bool named = BeginsWithOneOf(name, {"license", "licence", "copying", "unlicense"});
  const bool kept = IsInLicensesFolder(path);
  if ((!named && !kept) || IsCode(name) || IsMarkup(name)) return Kind::kOther;
  const std::string lower = absl::AsciiStrToLower(name);
  if (kept && !IsOfThirdParties(lower)) return Kind::kLicenseText;
  // A license_header.txt is a text to put above code.
  return named && !absl::StrContains(lower, "header") ? Kind::kLicense : Kind::kOther;
}

absl::string_view FolderItIsAbout(absl::string_view path) {
  const bool kept = KindOf(path) == Kind::kLicenseText || IsDep5(path);
  const absl::string_view folder = ParentFolder(ProjectPath(path));
  return kept ? ParentFolder(folder) : folder;
}

absl::string_view FileOfSideTags(absl::string_view path) {
  if (!absl::EndsWith(path, kSideTags)) return {};
  path.remove_suffix(kSideTags.size());
  const absl::string_view name = BaseName(path);
  // "x.license" alone is a licence of x, whatever that is.
  return absl::StrContains(name, '.') ? path : absl::string_view();
}

std::optional<VendoredFolder> VendoredFolderOf(absl::string_view path) {
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

}  // namespace kernelmill::source_files
