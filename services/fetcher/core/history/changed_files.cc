#include "services/fetcher/core/history/changed_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::fetcher {
namespace {

// A folder on both sides of a step; an empty id: it is not there.
struct FolderPair {
  size_t step = 0;
  std::string path;  // with its '/'; empty: the root
  std::string before, after;
};

// Goes down the folders of all steps, a level at a time.
class Descent {
 public:
  Descent(PastObjects& objects, const std::function<bool(absl::string_view path)>& wanted,
          const DiffLimits& limits, std::vector<HistoryStep>& steps)
      : objects_(objects), wanted_(wanted), limits_(limits), steps_(steps) {}

  absl::Status Run() {
    std::vector<FolderPair> level;
    for (size_t i = 0; i < steps_.size(); ++i) {
      level.push_back({i, "", steps_[i].parent_tree, steps_[i].read.tree});
    }
    for (int depth = 0; !level.empty(); ++depth) {
      if (depth > limits_.depth) return OverLimit("nested folders", limits_.depth);
      RETURN_IF_ERROR(Bring(level));
      next_.clear();
      for (const FolderPair& pair : level) RETURN_IF_ERROR(Compare(pair));
      level = std::exchange(next_, {});
    }
    for (HistoryStep& step : steps_) {
      std::sort(step.files.begin(), step.files.end(),
                [](const ChangedFile& a, const ChangedFile& b) { return a.path < b.path; });
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status OverLimit(absl::string_view what, int64_t limit) {
    return absl::FailedPreconditionError(
        absl::StrCat("the history must have at most ", limit, " ", what));
  }

  absl::Status Bring(const std::vector<FolderPair>& level) {
    std::set<std::string> ids;
    for (const FolderPair& pair : level) {
      if (pair.before == pair.after) continue;
      if (!pair.before.empty()) ids.insert(pair.before);
      if (!pair.after.empty()) ids.insert(pair.after);
    }
    return objects_.BringTrees({ids.begin(), ids.end()});
  }

  absl::StatusOr<std::vector<PastEntry>> Read(const std::string& id) {
    if (id.empty()) return std::vector<PastEntry>();
    absl::StatusOr<std::vector<PastEntry>> entries = objects_.ReadTree(id);
    if (absl::IsNotFound(entries.status())) {
      return absl::DataLossError(absl::StrCat("tree ", id, " is missing"));
    }
    RETURN_IF_ERROR(entries.status());
    entries_ += static_cast<int64_t>(entries->size());
    if (entries_ > limits_.entries) return OverLimit("entries of folders", limits_.entries);
    // git orders a folder as if its name ended in '/'.
    std::stable_sort(entries->begin(), entries->end(),
                     [](const PastEntry& a, const PastEntry& b) { return a.name < b.name; });
    return entries;
  }

  absl::Status Compare(const FolderPair& pair) {
    if (pair.before == pair.after) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<PastEntry> before, Read(pair.before));
    ASSIGN_OR_RETURN(const std::vector<PastEntry> after, Read(pair.after));
    auto a = before.begin();
    auto b = after.begin();
    while (a != before.end() || b != after.end()) {
      const bool has_before = a != before.end() && (b == after.end() || a->name <= b->name);
      const bool has_after = b != after.end() && (a == before.end() || b->name <= a->name);
      RETURN_IF_ERROR(CompareEntry(pair, has_before ? &*a : nullptr, has_after ? &*b : nullptr));
      if (has_before) ++a;
      if (has_after) ++b;
    }
    return absl::OkStatus();
  }

  absl::Status CompareEntry(const FolderPair& pair, const PastEntry* before,
                            const PastEntry* after) {
    if (before != nullptr && after != nullptr && before->id == after->id &&
        before->folder == after->folder && before->file == after->file) {
      return absl::OkStatus();
    }
    std::string path = absl::StrCat(pair.path, before != nullptr ? before->name : after->name);
    if (path.size() > limits_.path_bytes) return absl::OkStatus();
    const auto id_if = [](const PastEntry* entry, bool PastEntry::*kind) {
      return entry != nullptr && entry->*kind ? entry->id : std::string();
    };
    ChangedFile file = {path, id_if(before, &PastEntry::file), id_if(after, &PastEntry::file)};
    if (file.before != file.after && wanted_(path)) {
      if (++files_ > limits_.files) return OverLimit("changes of files", limits_.files);
      steps_[pair.step].files.push_back(std::move(file));
    }
    FolderPair folder = {pair.step, absl::StrCat(path, "/"), id_if(before, &PastEntry::folder),
                         id_if(after, &PastEntry::folder)};
    if (folder.before != folder.after) next_.push_back(std::move(folder));
    return absl::OkStatus();
  }

  PastObjects& objects_;
  const std::function<bool(absl::string_view path)>& wanted_;
  const DiffLimits& limits_;
  std::vector<HistoryStep>& steps_;
  std::vector<FolderPair> next_;
  int64_t entries_ = 0;
  int64_t files_ = 0;
};

}  // namespace

absl::Status FindChangedFiles(PastObjects& objects,
                              const std::function<bool(absl::string_view path)>& wanted,
                              const DiffLimits& limits, std::vector<HistoryStep>& steps) {
  return Descent(objects, wanted, limits, steps).Run();
}

}  // namespace kernelmill::fetcher
