#include "services/fetcher/core/history/walk_history.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "services/fetcher/core/history/followed_files.h"
#include "services/fetcher/core/history/imported_files.h"
#include "services/fetcher/core/history/may_hold_kernel.h"

namespace kernelmill::fetcher {
namespace {

constexpr int kMostWalks = 64;  // over the steps, each with the probes of the last one

// Returns a licence's letters and digits without the lines that name years and holders.
std::string WithoutHolders(absl::string_view text) {
  std::string kept;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::string lower = absl::AsciiStrToLower(line);
    if (absl::StrContains(lower, "copyright") && lower.size() < 200) continue;
    for (const char c : lower) {
      if (absl::ascii_isalnum(c)) kept += c;
    }
  }
  return kept;
}

class HistoryWalk {
 public:
  HistoryWalk(PastObjects& objects, const HistoryRequest& request, const HistoryLimits& limits)
      : objects_(objects), request_(request), limits_(limits) {}

  absl::StatusOr<WalkedHistory> Run() {
    RETURN_IF_ERROR(objects_.BringCommits(request_.commit, request_.depth + 1));
    RETURN_IF_ERROR(ReadCommits());
    RETURN_IF_ERROR(FindChangedFiles(objects_, request_.importable, limits_.diff, steps_));
    ImportedFiles imported(objects_, request_.importable_files, steps_, limits_.imported);
    TakeWanted();
    FollowedFiles followed(steps_, request_.at_head);
    RETURN_IF_ERROR(Follow(followed));
    RETURN_IF_ERROR(BringVersions(followed.selected()));
    RETURN_IF_ERROR(ReadVersions(followed.selected()));
    RETURN_IF_ERROR(BringImported(followed.selected(), imported));
    RETURN_IF_ERROR(AddCommits(followed.selected(), imported));
    out_.index.set_probed(static_cast<int64_t>(followed.probes()));
    return std::move(out_);
  }

 private:
  // Reads the commits along first parents, as far as the request and the transfer go.
  absl::Status ReadCommits() {
    out_.index.set_end("depth");
    absl::flat_hash_set<std::string> seen;
    ASSIGN_OR_RETURN(PastCommit commit, objects_.ReadCommit(request_.commit));
    std::string id = request_.commit;
    while (static_cast<int>(steps_.size()) < request_.depth) {
      if (request_.since != 0 && commit.commit_time < request_.since) {
        out_.index.set_end("since");
        break;
      }
      seen.insert(id);
      HistoryStep step = {id, commit, "", {}};
      if (commit.parents.empty()) {
        steps_.push_back(std::move(step));
        out_.index.set_end("root");
        break;
      }
      id = commit.parents[0];
      absl::StatusOr<PastCommit> parent = objects_.ReadCommit(id);
      if (absl::IsNotFound(parent.status())) break;  // the server's own history is shallow
      RETURN_IF_ERROR(parent.status());
      commit = *std::move(parent);
      step.parent_tree = commit.tree;
      steps_.push_back(std::move(step));
      if (seen.contains(id)) return absl::DataLossError("a commit is its own ancestor");
    }
    out_.index.set_commits_seen(static_cast<int64_t>(steps_.size()));
    return absl::OkStatus();
  }

  // Leaves the files whose history is read.
  void TakeWanted() {
    for (HistoryStep& step : steps_) {
      step.files.erase(
          std::remove_if(step.files.begin(), step.files.end(),
                         [this](const ChangedFile& file) { return !request_.wanted(file.path); }),
          step.files.end());
    }
  }

  absl::Status Follow(FollowedFiles& followed) {
    for (int walks = 0; walks < kMostWalks; ++walks) {
      std::vector<std::string> wanted = followed.Walk();
      if (wanted.empty()) return absl::OkStatus();
      if (followed.probes() + wanted.size() > limits_.probes) {
        return absl::FailedPreconditionError("the history has too many files to look into");
      }
      std::sort(wanted.begin(), wanted.end());
      RETURN_IF_ERROR(objects_.BringBlobs(wanted));
      for (const std::string& id : wanted) {
        ASSIGN_OR_RETURN(const bool marked, MayHoldKernels(id));
        followed.AddProbe(id, marked);
      }
    }
    followed.Walk();
    return absl::OkStatus();
  }

  // A blob that cannot be read holds none.
  absl::StatusOr<bool> MayHoldKernels(const std::string& id) {
    ASSIGN_OR_RETURN(const std::optional<std::string> content, ReadVersion(id));
    return content.has_value() && MayHoldKernel(*content);
  }

  absl::StatusOr<std::optional<std::string>> ReadVersion(const std::string& id) {
    const auto lost = [](const absl::Status& status) {
      return absl::IsNotFound(status) || absl::IsDataLoss(status);
    };
    const absl::StatusOr<int64_t> size = objects_.BlobSize(id);
    if (lost(size.status())) return std::nullopt;
    RETURN_IF_ERROR(size.status());
    if (*size > limits_.file_bytes) return std::nullopt;
    absl::StatusOr<std::string> content = objects_.ReadBlob(id);
    if (lost(content.status())) return std::nullopt;
    RETURN_IF_ERROR(content.status());
    return *std::move(content);
  }

  // The versions of a file are asked for together, so that the server can send them as deltas of
  // each other.
  absl::Status BringVersions(const std::vector<std::vector<v1::HistoryFile>>& selected) {
    std::map<std::pair<std::string, size_t>, std::vector<std::string>> by_path;
    absl::flat_hash_set<std::string> ids;
    size_t step = 0;
    for (; step < selected.size(); ++step) {
      for (const v1::HistoryFile& file : selected[step]) {
        for (const std::string& id : {file.before(), file.after()}) {
          if (!id.empty() && ids.insert(id).second) by_path[{file.path(), step}].push_back(id);
        }
      }
      if (ids.size() > limits_.versions) break;
    }
    Cut(step);
    std::vector<std::string> ordered;
    for (const auto& [place, of_file] : by_path) {
      ordered.insert(ordered.end(), of_file.begin(), of_file.end());
    }
    return objects_.BringBlobs(ordered);
  }

  // Leaves out the step and all older ones.
  void Cut(size_t step) {
    if (step >= steps_.size()) return;
    steps_.resize(step);
    out_.index.set_end("limit");
  }

  absl::Status ReadVersions(const std::vector<std::vector<v1::HistoryFile>>& selected) {
    std::map<std::string, VersionRef> versions;
    int64_t& bytes = out_.version_bytes;
    for (size_t step = 0; step < steps_.size(); ++step) {
      for (const v1::HistoryFile& file : selected[step]) {
        RETURN_IF_ERROR(AddVersion(file.before(), file.before_path(), versions, bytes));
        RETURN_IF_ERROR(AddVersion(file.after(), file.path(), versions, bytes));
      }
      if (bytes > limits_.bytes) Cut(step + 1);
    }
    for (auto& [id, version] : versions) out_.versions.push_back(std::move(version));
    out_.index.set_versions(static_cast<int64_t>(out_.versions.size()));
    return absl::OkStatus();
  }

  absl::Status AddVersion(const std::string& id, const std::string& path,
                          std::map<std::string, VersionRef>& versions, int64_t& bytes) {
    if (id.empty() || versions.contains(id) || lost_.contains(id)) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::optional<std::string> content, ReadVersion(id));
    if (!content.has_value()) {
      lost_.insert(id);
      out_.index.set_lost_versions(out_.index.lost_versions() + 1);
      return absl::OkStatus();
    }
    if (!MayHoldKernel(*content)) {
      unmarked_.insert(id);
      return absl::OkStatus();
    }
    bytes += static_cast<int64_t>(content->size());
    versions.emplace(id, VersionRef{id, path, static_cast<int64_t>(content->size())});
    return absl::OkStatus();
  }

  bool HasKernels(const std::string& id) const {
    return !id.empty() && !unmarked_.contains(id) && !lost_.contains(id);
  }

  // Brings what the versions import. A file that is a version itself is there already.
  absl::Status BringImported(const std::vector<std::vector<v1::HistoryFile>>& selected,
                             ImportedFiles& imported) {
    std::vector<ImportedFiles::Version> versions;
    for (size_t side = 0; side <= steps_.size(); ++side) {
      if (side > 0) {
        for (const v1::HistoryFile& file : selected[side - 1]) {
          if (HasKernels(file.before()))
            versions.push_back({file.before_path(), file.before(), side});
        }
      }
      if (side == steps_.size()) break;
      for (const v1::HistoryFile& file : selected[side]) {
        if (HasKernels(file.after())) versions.push_back({file.path(), file.after(), side});
      }
    }
    RETURN_IF_ERROR(imported.Bring(versions, out_.version_bytes));
    *out_.index.mutable_imported() = {imported.files().begin(), imported.files().end()};
    std::map<std::string, VersionRef> all;
    for (VersionRef& version : out_.versions) all.emplace(version.id, std::move(version));
    for (const auto& [id, blob] : imported.blobs()) {
      if (all.emplace(id, VersionRef{id, blob.first, blob.second}).second)
        out_.imported_bytes += blob.second;
    }
    out_.versions.clear();
    for (auto& [id, version] : all) out_.versions.push_back(std::move(version));
    return absl::OkStatus();
  }

  // Commits whose files hold no kernel on either side are left out.
  absl::Status AddCommits(const std::vector<std::vector<v1::HistoryFile>>& selected,
                          const ImportedFiles& imported) {
    RETURN_IF_ERROR(ReadHeadLicenses());
    for (size_t i = 0; i < steps_.size(); ++i) {
      std::vector<v1::HistoryFile> files;
      for (const v1::HistoryFile& file : selected[i]) {
        if (!HasKernels(file.before()) && !HasKernels(file.after())) continue;
        v1::HistoryFile& out = files.emplace_back(file);
        const auto& before = imported.GetPlaces(file.before_path(), i + 1);
        const auto& after = imported.GetPlaces(file.path(), i);
        out.mutable_before_imports()->Assign(before.begin(), before.end());
        out.mutable_after_imports()->Assign(after.begin(), after.end());
      }
      if (files.empty()) continue;
      std::sort(files.begin(), files.end(), [](const v1::HistoryFile& a, const v1::HistoryFile& b) {
        return a.path() < b.path();
      });
      v1::HistoryCommit& out = *out_.index.add_commits();
      const HistoryStep& step = steps_[i];
      out.set_commit(step.commit);
      if (!step.read.parents.empty()) out.set_parent(step.read.parents[0]);
      out.set_parents(static_cast<int32_t>(step.read.parents.size()));
      out.set_author_time(step.read.author_time);
      out.set_commit_time(step.read.commit_time);
      out.set_message(step.read.message.substr(0, limits_.message_bytes));
      *out.mutable_files() = {files.begin(), files.end()};
      ASSIGN_OR_RETURN(std::string state, CompareLicenses(step.read.tree));
      out.set_license_files(std::move(state));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::map<std::string, std::string>> ListLicenses(const std::string& tree) {
    std::map<std::string, std::string> ids;
    RETURN_IF_ERROR(objects_.BringTrees({tree}));
    ASSIGN_OR_RETURN(const std::vector<PastEntry> entries, objects_.ReadTree(tree));
    for (const PastEntry& entry : entries) {
      const auto& names = request_.license_files;
      if (entry.file && std::find(names.begin(), names.end(), entry.name) != names.end()) {
        ids[entry.name] = entry.id;
      }
    }
    return ids;
  }

  // Brings the few licences that the commits have.
  absl::Status ReadHeadLicenses() {
    ASSIGN_OR_RETURN(const PastCommit head, objects_.ReadCommit(request_.commit));
    ASSIGN_OR_RETURN(head_licenses_, ListLicenses(head.tree));
    std::set<std::string> ids;
    for (const auto& [name, id] : head_licenses_) ids.insert(id);
    for (const HistoryStep& step : steps_) {
      ASSIGN_OR_RETURN(const auto licenses, ListLicenses(step.read.tree));
      for (const auto& [name, id] : licenses) ids.insert(id);
    }
    return objects_.BringBlobs({ids.begin(), ids.end()});
  }

  absl::StatusOr<std::string> CompareLicenses(const std::string& tree) {
    if (head_licenses_.empty()) return std::string("unknown");
    ASSIGN_OR_RETURN(const auto licenses, ListLicenses(tree));
    if (licenses.empty()) return std::string("absent");
    for (const auto& [name, id] : head_licenses_) {
      const auto then = licenses.find(name);
      if (then == licenses.end()) return std::string("changed");
      ASSIGN_OR_RETURN(const bool same, IsSameLicense(id, then->second));
      if (!same) return std::string("changed");
    }
    return std::string("same");
  }

  absl::StatusOr<bool> IsSameLicense(const std::string& head, const std::string& then) {
    if (head == then) return true;
    const auto known = same_licenses_.find({head, then});
    if (known != same_licenses_.end()) return known->second;
    ASSIGN_OR_RETURN(const std::optional<std::string> a, ReadVersion(head));
    ASSIGN_OR_RETURN(const std::optional<std::string> b, ReadVersion(then));
    const bool same = a.has_value() && b.has_value() && WithoutHolders(*a) == WithoutHolders(*b);
    return same_licenses_[{head, then}] = same;
  }

  PastObjects& objects_;
  const HistoryRequest& request_;
  const HistoryLimits& limits_;
  std::vector<HistoryStep> steps_;
  absl::flat_hash_set<std::string> lost_;
  absl::flat_hash_set<std::string> unmarked_;
  std::map<std::string, std::string> head_licenses_;  // ids by name
  std::map<std::pair<std::string, std::string>, bool> same_licenses_;
  WalkedHistory out_;
};

}  // namespace

absl::StatusOr<WalkedHistory> WalkHistory(PastObjects& objects, const HistoryRequest& request,
                                          const HistoryLimits& limits) {
  return HistoryWalk(objects, request, limits).Run();
}

}  // namespace kernelmill::fetcher
