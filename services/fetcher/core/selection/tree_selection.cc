// Selection happens while a tree is listed, and a tree may have millions of entries, so only the
// paths that may be needed are held: selected files, candidates for licence files, C++ headers and
// files with requirements. Which licence files count is only known at the end: those of the folders
// above a selected file. All lists are sorted and cut by a total order, so the result does not
// depend on the order in which an adapter lists a tree.
#include "services/fetcher/core/selection/tree_selection.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/cpp/include_paths.h"
#include "common/source_files/source_files.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

absl::Status OverLimit(absl::string_view what, int64_t limit) {
  return absl::FailedPreconditionError(absl::StrCat("the tree has more than ", limit, " ", what));
}

// A total order, also for entries that share a path.
bool ByPath(const Entry& a, const Entry& b) {
  return std::tie(a.path, a.kind, a.id) < std::tie(b.path, b.kind, b.id);
}

// Returns the root and every folder that holds a selected file, directly or not.
absl::flat_hash_set<absl::string_view> Ancestors(const std::vector<Entry>& files) {
  absl::flat_hash_set<absl::string_view> folders = {absl::string_view()};
  for (const Entry& file : files) {
    absl::string_view folder = ParentFolder(file.path);
    while (!folder.empty() && folders.insert(folder).second) folder = ParentFolder(folder);
  }
  return folders;
}

// Returns whether the path is a file of tags whose file is not selected. Pictures have such files
// too.
bool IsOfOtherFile(absl::string_view path, const std::vector<Entry>& taken) {
  const absl::string_view file = source_files::FileOfSideTags(path);
  if (source_files::GetKind(path) != source_files::Kind::kSideTags) return false;
  const auto found =
      std::lower_bound(taken.begin(), taken.end(), file,
                       [](const Entry& entry, absl::string_view p) { return entry.path < p; });
  return found == taken.end() || found->path != file;
}

// Returns the key by which licence files are ordered before a limit cuts them off: metadata last,
// then by depth.
auto LicenseOrder(const Entry& entry) {
  const bool metadata = source_files::GetKind(entry.path) == source_files::Kind::kMetadata;
  const auto depth = std::count(entry.path.begin(), entry.path.end(), '/');
  return std::make_tuple(metadata, depth, absl::string_view(entry.path),
                         absl::string_view(entry.id));
}

auto RequirementOrder(const Entry& entry) {
  return std::make_tuple(source_files::RequirementRank(entry.path), absl::string_view(entry.path),
                         absl::string_view(entry.id));
}

}  // namespace

// The limits on entries and held bytes fail the source: a tree beyond them is not a repository of
// kernels, and a part of it would be arbitrary.
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

// Over the limit on headers all of them are dropped, not only the last ones, since the rest would
// depend on the order of listing.
void TreeSelection::HoldHeader(absl::string_view path, absl::string_view id) {
  header_bytes_ += path.size() + sizeof(Entry);
  if (header_bytes_ > limits_.header_bytes) {
    headers_.clear();
  } else {
    headers_.push_back({std::string(path), EntryKind::kFile, std::string(id)});
  }
}

void TreeSelection::CountKind(absl::string_view path, bool selected) {
  const absl::string_view glob = source_files::GlobOfCode(path);
  if (glob.empty()) return;
  KindCount& kind = kinds_[glob];
  if (selected) kind.selected = true;
  if (selected || globs_->Excludes(path)) return;
  ++kind.unasked;
  constexpr size_t kExamples = 3;
  const auto at = std::upper_bound(kind.paths.begin(), kind.paths.end(), path);
  if (at == kind.paths.end() && kind.paths.size() == kExamples) return;
  kind.paths.emplace(at, path);
  if (kind.paths.size() > kExamples) kind.paths.pop_back();
}

absl::Status TreeSelection::AddFolder(absl::string_view path, int depth) {
  if (depth > limits_.depth) return OverLimit("folders in folders", limits_.depth);
  return Count(path);
}

absl::Status TreeSelection::AddFile(absl::string_view path, EntryKind kind, absl::string_view id) {
  RETURN_IF_ERROR(Count(path));
  const bool selected = globs_->Matches(path);
  if (kind == EntryKind::kFile) CountKind(path, selected);
  if (selected) {
    RETURN_IF_ERROR(Hold(path));
    files_.push_back({std::string(path), kind, std::string(id)});
  } else {
    ++unselected_;
    const bool header = kind == EntryKind::kFile && cpp::IsHeaderPath(path);
    if (header && !globs_->Excludes(path) && !IsUnsafePath(path)) HoldHeader(path, id);
  }
  const bool linked =
      kind == EntryKind::kSymlink && source_files::GetKind(path) == source_files::Kind::kLicense;
  if ((kind == EntryKind::kFile || linked) &&
      source_files::GetKind(path) != source_files::Kind::kOther && !IsUnsafePath(path)) {
    RETURN_IF_ERROR(Hold(path));
    candidates_.push_back({std::string(path), kind, std::string(id)});
  }
  if (kind == EntryKind::kFile && source_files::RequirementRank(path).has_value()) {
    RETURN_IF_ERROR(Hold(path));
    requirements_.push_back({std::string(path), kind, std::string(id)});
  }
  return absl::OkStatus();
}

// Decides what could not be decided during the listing, and sorts all lists. A limit that cuts a
// list keeps the entries that matter most by its order (LicenseOrder, RequirementOrder). Duplicated
// paths keep the first entry.
void TreeSelection::Finish(Listing& listing, PathRule always) {
  std::sort(files_.begin(), files_.end(), ByPath);
  const absl::flat_hash_set<absl::string_view> folders = Ancestors(files_);
  // A link may lead to a licence anywhere, so all of them are kept then.
  const bool linked = std::any_of(candidates_.begin(), candidates_.end(), [&](const Entry& entry) {
    return entry.kind == EntryKind::kSymlink &&
           folders.contains(source_files::FolderItIsAbout(entry.path));
  });
  candidates_.erase(
      std::remove_if(candidates_.begin(), candidates_.end(),
                     [&](const Entry& entry) {
                       const bool wanted = always != nullptr && always(entry.path);
                       if (IsOfOtherFile(entry.path, files_)) return true;
                       const bool target =
                           linked && entry.kind == EntryKind::kFile &&
                           source_files::GetKind(entry.path) == source_files::Kind::kLicense;
                       return !wanted && !target &&
                              !folders.contains(source_files::FolderItIsAbout(entry.path));
                     }),
      candidates_.end());
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Entry& a, const Entry& b) { return LicenseOrder(a) < LicenseOrder(b); });
  if (candidates_.size() > limits_.licenses) candidates_.resize(limits_.licenses);
  std::sort(candidates_.begin(), candidates_.end(), ByPath);
  const auto same_path = [](const Entry& a, const Entry& b) { return a.path == b.path; };
  candidates_.erase(std::unique(candidates_.begin(), candidates_.end(), same_path),
                    candidates_.end());
  listing.licenses = std::move(candidates_);
  std::sort(requirements_.begin(), requirements_.end(), [](const Entry& a, const Entry& b) {
    return RequirementOrder(a) < RequirementOrder(b);
  });
  if (requirements_.size() > limits_.requirements) requirements_.resize(limits_.requirements);
  listing.requirements = std::move(requirements_);
  const bool has_cpp = std::any_of(files_.begin(), files_.end(),
                                   [](const Entry& file) { return cpp::IsCppPath(file.path); });
  if (has_cpp) {
    std::sort(headers_.begin(), headers_.end(), ByPath);
    headers_.erase(std::unique(headers_.begin(), headers_.end(), same_path), headers_.end());
    listing.headers = std::move(headers_);
  }
  for (const auto& [glob, kind] : kinds_) {
    if (kind.selected || kind.unasked == 0) continue;
    v1::UnaskedFiles& unasked = listing.unasked.emplace_back();
    unasked.set_glob(std::string(glob));
    unasked.set_files(kind.unasked);
    *unasked.mutable_paths() = {kind.paths.begin(), kind.paths.end()};
  }
  listing.unselected = unselected_;
  listing.files = std::move(files_);
}

}  // namespace kernelmill::fetcher
