#include "services/fetcher/core/history/followed_files.h"

#include <utility>

namespace kernelmill::fetcher {

std::vector<std::string> FollowedFiles::Walk() {
  selected_.assign(steps_.size(), {});
  live_ = at_head_;
  wanted_.clear();
  wanted_set_.clear();
  for (size_t i = 0; i < steps_.size(); ++i) WalkStep(i);
  return std::move(wanted_);
}

// An unknown blob counts as not marked until it is probed.
bool FollowedFiles::WasMarked(const std::string& id) {
  const auto found = probed_.find(id);
  if (found != probed_.end()) return found->second;
  if (wanted_set_.insert(id).second) wanted_.push_back(id);
  return false;
}

void FollowedFiles::WalkStep(size_t index) {
  const std::vector<ChangedFile>& files = steps_[index].files;
  absl::flat_hash_map<std::string, const ChangedFile*> deleted;  // by content, the first by path
  for (const ChangedFile& file : files) {
    if (file.after.empty()) deleted.try_emplace(file.before, &file);
  }
  absl::flat_hash_set<std::string> moved_from;
  std::vector<std::string> begin;  // paths that are followed below this step
  bool added = false;
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
      added = true;
      select(file, file.path, "");
    }
  }
  size_t probed = 0;
  for (const ChangedFile& file : files) {
    if (file.before.empty() || moved_from.contains(file.path)) continue;
    const bool gone = file.after.empty();
    if (!gone && (live_.contains(file.path) || !added || ++probed > kMostProbed)) continue;
    if (!WasMarked(file.before)) continue;
    select(file, file.path, file.before);
    begin.push_back(file.path);
  }
  live_.insert(begin.begin(), begin.end());
}

}  // namespace kernelmill::fetcher
