// Unlike SupportFiles, a header may be a file that was not fetched, so a level of the walk is
// fetched before the next one can be known.
#include "services/fetcher/core/selection/cpp_support_files.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/cpp/include_paths.h"
#include "common/dsl/languages.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

// Returns all paths; empty if there is no C++, or if the paths are too many to hold twice.
std::vector<std::string> CollectPaths(const Listing& listing, size_t max_bytes) {
  std::vector<std::string> paths;
  size_t bytes = 0;
  for (const std::vector<Entry>* entries : {&listing.files, &listing.headers}) {
    for (const Entry& entry : *entries) {
      bytes += entry.path.size();
      if (bytes > max_bytes) return {};
      paths.push_back(entry.path);
    }
  }
  const bool any = std::any_of(listing.files.begin(), listing.files.end(),
                               [](const Entry& file) { return cpp::IsCppPath(file.path); });
  return any ? paths : std::vector<std::string>();
}

// Returns whether a file may launch a kernel: by <<<...>>>, a macro such as LAUNCH_KERNEL, or an
// API such as cudaLaunchKernel.
bool MayLaunch(absl::string_view content) {
  return absl::StrContains(content, "<<<") || absl::StrContains(content, "LAUNCH") ||
         absl::StrContains(content, "LaunchKernel");
}

// Returns whether a file may instantiate kernels by macros, as files of Metal do:
// instantiate_kernel("add_float", add, float).
bool MayInstantiate(absl::string_view content) {
  return absl::StrContains(content, "instantiate_");
}

// Returns whether the error concerns one file only, which is no reason to fail.
bool IsOfOneFile(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status) || absl::IsPermissionDenied(status);
}

}  // namespace

CppSupportFiles::CppSupportFiles(const Listing& listing, const SupportLimits& limits)
    : listing_(listing),
      limits_(limits),
      paths_(CollectPaths(listing, limits.path_bytes)),
      includes_(listing.files.size() + listing.headers.size()) {}

void CppSupportFiles::AddContent(size_t index, absl::string_view content, bool marked) {
  if (!cpp::IsCppPath(listing_.files[index].path)) return;
  const auto self = static_cast<uint32_t>(index);
  if (marked && dsl::HasMarkerOfC(content)) {
    roots_.push_back(self);
    root_bytes_ += static_cast<int64_t>(content.size());
  } else if (MayLaunch(content)) {
    launching_.push_back(self);
  } else if (MayInstantiate(content)) {
    instantiating_.push_back(self);
  }
  AddIncludes(self, content);
}

void CppSupportFiles::AddIncludes(uint32_t index, absl::string_view content) {
  const std::string& path = EntryAt(index).path;
  const size_t most = std::min(limits_.imports_of_file, limits_.imports - followed_);
  for (const cpp::IncludeName& name : cpp::FindIncludeLines(content, most)) {
    ++followed_;
    const std::optional<uint32_t> found = paths_.Find(path, name.path, name.angled);
    if (found && *found != index) includes_[index].push_back(*found);
  }
}

CppSupportFiles::Indexes CppSupportFiles::FindNext(const Indexes& files) {
  Indexes next;
  for (const uint32_t file : files) {
    for (const uint32_t included : includes_[file]) {
      if (seen_[included]) continue;
      seen_[included] = true;
      next.push_back(included);
    }
  }
  std::sort(next.begin(), next.end(),
            [&](uint32_t a, uint32_t b) { return EntryAt(a).path < EntryAt(b).path; });
  return next;
}

// Marks the file. Returns whether it goes on, for others or for its own sake.
bool CppSupportFiles::MarkFile(v1::FileEntry& file) {
  if (file.fate() == v1::FILE_FATE_SHARDED) return true;
  const int64_t size = file.size_bytes();
  if (file.reason() != kNoKernelMarker || size > std::min(left_, limits_.file_bytes)) return false;
  left_ -= size;
  file.set_fate(v1::FILE_FATE_SHARDED);
  file.clear_reason();
  file.set_support(true);
  return true;
}

// A file without CUDA functions may still use a kernel that it includes. It shows how the kernel is
// used, so it goes on as well. Returns those of the files that go on.
CppSupportFiles::Indexes CppSupportFiles::MarkUsing(const Indexes& files, v1::SourceTree& tree) {
  Indexes marked;
  for (const uint32_t file : files) {
    const bool sees = std::any_of(includes_[file].begin(), includes_[file].end(),
                                  [&](uint32_t included) { return seen_[included]; });
    if (sees && MarkFile(*tree.mutable_files(static_cast<int>(file)))) marked.push_back(file);
  }
  return marked;
}

// Adds a header that the globs do not select. It gets an entry in the tree, like a selected file.
absl::Status CppSupportFiles::AddHeader(Snapshot& snapshot, uint32_t index, v1::SourceTree& tree) {
  const Entry& entry = EntryAt(index);
  ASSIGN_OR_RETURN(const int64_t size, snapshot.Size(entry));
  if (size > std::min(left_, limits_.file_bytes)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string content, snapshot.Read(entry));
  if (ContentSkipReason(content) == "lfs_pointer") return absl::OkStatus();
  left_ -= static_cast<int64_t>(content.size());
  v1::FileEntry& file = *tree.add_files();
  file.set_path(entry.path);
  file.set_size_bytes(static_cast<int64_t>(content.size()));
  file.set_sha256(Sha256Hex(content));
  file.set_fate(v1::FILE_FATE_SHARDED);
  file.set_support(true);
  AddIncludes(index, content);
  return absl::OkStatus();
}

absl::Status CppSupportFiles::BringHeaders(Snapshot& snapshot, const Indexes& wanted,
                                           v1::SourceTree& tree) {
  std::vector<Entry> entries;
  for (const uint32_t index : wanted) entries.push_back(EntryAt(index));
  if (entries.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(snapshot.Bring(entries));
  for (const uint32_t index : wanted) {
    absl::Status added = AddHeader(snapshot, index, tree);
    if (!added.ok() && !IsOfOneFile(added)) return added;
  }
  return absl::OkStatus();
}

// The walk is by levels: what the given files include, then what those files include, and so on. A
// level's headers are fetched in one transfer. More than kMaxLevels of nested headers do not occur
// in practice.
absl::Status CppSupportFiles::Walk(Indexes near, Snapshot& snapshot, v1::SourceTree& tree) {
  constexpr int kMaxLevels = 16;
  for (int level = 0; level < kMaxLevels && !near.empty(); ++level) {
    Indexes handed_on;
    Indexes headers;
    for (const uint32_t index : FindNext(near)) {
      if (IsHeader(index)) {
        headers.push_back(index);
        handed_on.push_back(index);
      } else if (MarkFile(*tree.mutable_files(static_cast<int>(index)))) {
        handed_on.push_back(index);
      }
    }
    RETURN_IF_ERROR(BringHeaders(snapshot, headers, tree));
    near = std::move(handed_on);
  }
  return absl::OkStatus();
}

absl::Status CppSupportFiles::Mark(Snapshot& snapshot, v1::SourceTree& tree) {
  seen_.assign(includes_.size(), false);
  for (const uint32_t root : roots_) seen_[root] = true;
  left_ = std::min(std::max(root_bytes_, limits_.least_bytes), limits_.most_bytes);
  const int listed = tree.files_size();
  RETURN_IF_ERROR(Walk(roots_, snapshot, tree));
  MarkUsing(launching_, tree);
  RETURN_IF_ERROR(Walk(MarkUsing(instantiating_, tree), snapshot, tree));
  if (tree.files_size() == listed) return absl::OkStatus();
  tree.set_unselected_files(tree.unselected_files() - (tree.files_size() - listed));
  std::stable_sort(
      tree.mutable_files()->begin(), tree.mutable_files()->end(),
      [](const v1::FileEntry& a, const v1::FileEntry& b) { return a.path() < b.path(); });
  return absl::OkStatus();
}

}  // namespace kernelmill::fetcher
