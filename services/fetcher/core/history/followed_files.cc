#include "services/fetcher/core/history/followed_files.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace kernelmill::fetcher {
namespace {

// Returns the folder of a path, or of a folder the one above; empty at the root.
absl::string_view FindFolder(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? "" : path.substr(0, slash);
}

// Returns the first folder of a path; empty at the root.
absl::string_view FindTop(absl::string_view path) {
  const size_t slash = path.find('/');
  return slash == absl::string_view::npos ? "" : path.substr(0, slash);
}

// Says whether a kernel may go from one path to the other: not between src/ and tests/.
bool MayHandOver(absl::string_view from, absl::string_view to) {
  const absl::string_view a = FindTop(from), b = FindTop(to);
  return a.empty() || b.empty() || a == b;
}

bool SpeaksOfKernels(absl::string_view path) {
  const std::string lower = absl::AsciiStrToLower(path);
  return absl::StrContains(lower, "kernel") || absl::StrContains(lower, "triton") ||
         absl::StrContains(lower, "ops");
}

}  // namespace

std::vector<std::string> FollowedFiles::Walk() {
  selected_.assign(steps_.size(), {});
  folders_.clear();
  above_.clear();
  parents_.clear();
  beside_.clear();
  live_.clear();
  for (const std::string& path : at_head_) Add(path);
  wanted_.clear();
  wanted_set_.clear();
  for (size_t i = 0; i < steps_.size(); ++i) WalkStep(i);
  WantBeside();
  return std::move(wanted_);
}

void FollowedFiles::Add(const std::string& path) {
  live_.insert(path);
  absl::string_view folder = FindFolder(path);
  if (!folders_.emplace(folder).second) return;
  parents_.emplace(FindFolder(folder));
  while (above_.emplace(folder).second && !folder.empty()) folder = FindFolder(folder);
}

bool FollowedFiles::IsNear(absl::string_view path) const {
  absl::string_view folder = FindFolder(path);
  if (folder.empty() || above_.contains(folder) || parents_.contains(FindFolder(folder))) {
    return true;
  }
  for (; !folder.empty(); folder = FindFolder(folder)) {
    if (folders_.contains(folder)) return true;
  }
  return false;
}

void FollowedFiles::Want(const std::string& id) {
  if (!probed_.contains(id) && wanted_set_.insert(id).second) wanted_.push_back(id);
}

// An unknown blob counts as not marked until it is probed.
bool FollowedFiles::WasMarked(const ChangedFile& file) {
  const auto found = probed_.find(file.before);
  const bool known = found != probed_.end();
  if (!known && !folders_.empty() && !IsNear(file.path) && !SpeaksOfKernels(file.path)) {
    return false;
  }
  if (file.after.empty()) {
    Want(file.before);
  } else {
    beside_[file.path].push_back(file.before);
  }
  return known && found->second;
}

void FollowedFiles::WantBeside() {
  for (const auto& [path, ids] : beside_) {
    Want(ids.front());
    Want(ids.back());
    const auto marked = [this](const std::string& id) {
      const auto found = probed_.find(id);
      return found != probed_.end() && found->second;
    };
    if (!marked(ids.front()) && !marked(ids.back())) continue;
    for (const std::string& id : ids) Want(id);
  }
}

void FollowedFiles::WalkStep(size_t index) {
  const std::vector<ChangedFile>& files = steps_[index].files;
  absl::flat_hash_map<std::string, const ChangedFile*> deleted;  // by content, the first by path
  for (const ChangedFile& file : files) {
    if (file.after.empty()) deleted.try_emplace(file.before, &file);
  }
  absl::flat_hash_set<std::string> moved_from;
  std::vector<std::string> begin;  // paths that are followed below this step
  std::vector<absl::string_view> added;
  const auto select = [&](const ChangedFile& file, const std::string& before_path,
                          const std::string& before) {
    v1::HistoryFile& out = selected_[index].emplace_back();
    out.set_path(file.path);
    out.set_before_path(before_path);
    out.set_before(before);
    out.set_after(file.after);
  };
  for (const ChangedFile& file : files) {
    if (file.after.empty() || !live_.contains(file.path)) continue;
    if (!file.before.empty()) {
      select(file, file.path, file.before);
      continue;
    }
    live_.erase(file.path);
    const auto source = deleted.find(file.after);
    if (source != deleted.end() && moved_from.insert(source->second->path).second) {
      begin.push_back(source->second->path);
      select(file, source->second->path, file.after);
    } else {
      added.push_back(file.path);
      select(file, file.path, "");
    }
  }
  size_t probed = 0;
  for (const ChangedFile& file : files) {
    if (file.before.empty() || moved_from.contains(file.path)) continue;
    const bool gone = file.after.empty();
    const bool is_origin = std::any_of(added.begin(), added.end(), [&](absl::string_view path) {
      return MayHandOver(file.path, path);
    });
    if (!gone && (live_.contains(file.path) || !is_origin || ++probed > kMostProbed)) continue;
    if (!WasMarked(file)) continue;
    select(file, file.path, file.before);
    begin.push_back(file.path);
  }
  for (const std::string& path : begin) Add(path);
}

}  // namespace kernelmill::fetcher
