#include "common/source_files/source_files.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
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

bool IsInLicensesFolder(absl::string_view path) {
  return absl::EqualsIgnoreCase(BaseName(FolderOf(path)), "licenses");
}

}  // namespace

Kind KindOf(absl::string_view path) {
  path = ProjectPath(path);
  const absl::string_view name = BaseName(path);
  if (IsMetadataName(name)) return Kind::kMetadata;
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
  const bool kept = KindOf(path) == Kind::kLicenseText;
  const absl::string_view folder = FolderOf(ProjectPath(path));
  return kept ? FolderOf(folder) : folder;
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
