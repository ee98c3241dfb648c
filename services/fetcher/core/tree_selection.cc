#include "services/fetcher/core/tree_selection.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "services/fetcher/core/path_policy.h"
#include "services/fetcher/core/requirements.h"

namespace kernelmill::fetcher {
namespace {

absl::Status OverLimit(absl::string_view what, int64_t limit) {
  return absl::FailedPreconditionError(absl::StrCat("the tree has more than ", limit, " ", what));
}

bool IsLicenseName(absl::string_view name) {
  const bool named =
      absl::StartsWithIgnoreCase(name, "license") || absl::StartsWithIgnoreCase(name, "licence") ||
      absl::StartsWithIgnoreCase(name, "copying") || absl::StartsWithIgnoreCase(name, "notice");
  if (!named) return false;
  // license.py holds code about licences, not one.
  for (const char* code :
       {".py", ".pyi", ".pyc", ".c", ".cc", ".cpp", ".h", ".js", ".sh", ".json"}) {
    if (absl::EndsWithIgnoreCase(name, code)) return false;
  }
  return true;
}

// What a Python package says of itself, its licence too.
bool IsMetadataName(absl::string_view name) {
  return name == "pyproject.toml" || name == "setup.cfg" || name == "setup.py";
}

// The folder whose files the licence file is about: its own, or that which holds its LICENSES
// folder.
absl::string_view LicensedFolderOf(absl::string_view path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t slash = path.find('/', begin);
    if (slash == absl::string_view::npos) break;
    if (absl::EqualsIgnoreCase(path.substr(begin, slash - begin), "licenses")) {
      return begin == 0 ? absl::string_view() : path.substr(0, begin - 1);
    }
    begin = slash + 1;
  }
  return FolderOf(path);
}

bool ByPath(const Entry& a, const Entry& b) {
  return std::tie(a.path, a.kind, a.id) < std::tie(b.path, b.kind, b.id);
}

// The root and every folder that a file is in, directly or not.
absl::flat_hash_set<absl::string_view> Ancestors(const std::vector<Entry>& files) {
  absl::flat_hash_set<absl::string_view> folders = {absl::string_view()};
  for (const Entry& file : files) {
    absl::string_view folder = FolderOf(file.path);
    while (!folder.empty() && folders.insert(folder).second) folder = FolderOf(folder);
  }
  return folders;
}

}  // namespace

bool IsLicensePath(absl::string_view path) {
  if (IsLicenseName(BaseName(path)) || IsMetadataName(BaseName(path))) return true;
  for (const absl::string_view part : absl::StrSplit(FolderOf(path), '/')) {
    if (absl::EqualsIgnoreCase(part, "licenses")) return true;
  }
  return false;
}

absl::Status TreeSelection::Count(absl::string_view path) {
  if (++entries_ > limits_.entries) return OverLimit("entries", limits_.entries);
  if (path.size() > limits_.path_bytes) return OverLimit("bytes in a path", limits_.path_bytes);
  return absl::OkStatus();
}

absl::Status TreeSelection::Hold(absl::string_view path) {
  held_bytes_ += static_cast<int64_t>(path.size() + sizeof(Entry));
  if (held_bytes_ > limits_.held_bytes) return OverLimit("bytes of paths", limits_.held_bytes);
  return absl::OkStatus();
}

absl::Status TreeSelection::AddFolder(absl::string_view path, int depth) {
  if (depth > limits_.depth) return OverLimit("folders in folders", limits_.depth);
  return Count(path);
}

absl::Status TreeSelection::AddFile(absl::string_view path, EntryKind kind, absl::string_view id) {
  RETURN_IF_ERROR(Count(path));
  if (globs_->Matches(path)) {
    RETURN_IF_ERROR(Hold(path));
    files_.push_back({std::string(path), kind, std::string(id)});
  } else {
    ++unselected_;
  }
  if (kind == EntryKind::kFile && IsLicensePath(path) && !IsUnsafePath(path)) {
    RETURN_IF_ERROR(Hold(path));
    candidates_.push_back({std::string(path), kind, std::string(id)});
  }
  if (kind == EntryKind::kFile && StatesRequirements(path)) {
    RETURN_IF_ERROR(Hold(path));
    requirements_.push_back({std::string(path), kind, std::string(id)});
  }
  return absl::OkStatus();
}

void TreeSelection::Finish(Listing& listing, PathRule always) {
  std::sort(files_.begin(), files_.end(), ByPath);
  const absl::flat_hash_set<absl::string_view> folders = Ancestors(files_);
  candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(),
                                   [&](const Entry& entry) {
                                     const bool wanted = always != nullptr && always(entry.path);
                                     return !wanted &&
                                            !folders.contains(LicensedFolderOf(entry.path));
                                   }),
                    candidates_.end());
  const auto depth = [](const Entry& entry) {
    return std::count(entry.path.begin(), entry.path.end(), '/');
  };
  std::sort(candidates_.begin(), candidates_.end(), [&](const Entry& a, const Entry& b) {
    return std::make_tuple(IsMetadataName(BaseName(a.path)), depth(a), absl::string_view(a.path),
                           absl::string_view(a.id)) <
           std::make_tuple(IsMetadataName(BaseName(b.path)), depth(b), absl::string_view(b.path),
                           absl::string_view(b.id));
  });
  if (candidates_.size() > limits_.licenses) candidates_.resize(limits_.licenses);
  std::sort(candidates_.begin(), candidates_.end(), ByPath);
  const auto same_path = [](const Entry& a, const Entry& b) { return a.path == b.path; };
  candidates_.erase(std::unique(candidates_.begin(), candidates_.end(), same_path),
                    candidates_.end());
  listing.licenses = std::move(candidates_);
  std::sort(requirements_.begin(), requirements_.end(), [](const Entry& a, const Entry& b) {
    return std::make_tuple(RequirementRank(a.path), absl::string_view(a.path),
                           absl::string_view(a.id)) < std::make_tuple(RequirementRank(b.path),
                                                                      absl::string_view(b.path),
                                                                      absl::string_view(b.id));
  });
  if (requirements_.size() > limits_.requirements) requirements_.resize(limits_.requirements);
  listing.requirements = std::move(requirements_);
  listing.unselected = unselected_;
  listing.files = std::move(files_);
}

}  // namespace kernelmill::fetcher
