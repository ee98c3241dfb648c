#include "services/fetcher/server/history_output.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "common/base/glob.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/cpp/include_paths.h"
#include "common/source_files/source_files.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/history.pb.h"
#include "services/fetcher/core/history/imported_files.h"
#include "services/fetcher/core/history/may_hold_kernel.h"
#include "services/fetcher/core/selection/file_policy.h"
#include "services/fetcher/core/sharder.h"
#include "services/fetcher/server/sources.h"

namespace kernelmill::fetcher {
namespace {

constexpr ShardLimits kVersionShard = {4 << 20, 256};

// Returns the first second of the day; 0 without a day.
absl::StatusOr<int64_t> ParseDay(const std::string& day) {
  if (day.empty()) return 0;
  absl::Time time;
  std::string error;
  if (!absl::ParseTime("%Y-%m-%d", day, &time, &error)) {
    return absl::InvalidArgumentError("history.since must be YYYY-MM-DD");
  }
  return absl::ToUnixSeconds(time);
}

// Adds the files of the pinned commit that may be imported, and the paths that may hold kernels
// there. A file that cannot be read holds none.
void FindFilesAtHead(Snapshot& snapshot, const HistoryLimits& limits, HistoryRequest& request) {
  for (const Entry& header : snapshot.listing().headers) {
    if (request.importable(header.path)) request.importable_files[header.path] = header.id;
  }
  for (const Entry& entry : snapshot.listing().files) {
    if (entry.kind != EntryKind::kFile || !request.importable(entry.path)) continue;
    if (ImportedFiles::MayBe(entry.path)) request.importable_files[entry.path] = entry.id;
    if (!request.wanted(entry.path)) continue;
    const absl::StatusOr<int64_t> size = snapshot.Size(entry);
    if (!size.ok() || *size > limits.file_bytes) continue;
    const absl::StatusOr<std::string> content = snapshot.Read(entry);
    if (content.ok() && MayHoldKernel(*content)) request.at_head.push_back(entry.path);
  }
}

absl::Status WriteVersions(PastObjects& past, const std::vector<VersionRef>& versions,
                           cas::BlobStore& store, v1::StageResult& result) {
  std::vector<ShardItem> items;
  items.reserve(versions.size());
  for (const VersionRef& version : versions) items.push_back({version.id, version.bytes});
  for (const std::vector<size_t>& cut : CutShards(items, kVersionShard)) {
    v1::VersionShard shard;
    for (const size_t at : cut) {
      v1::FileVersion& out = *shard.add_versions();
      out.set_id(versions[at].id);
      out.set_path(versions[at].path);
      ASSIGN_OR_RETURN(*out.mutable_content(), past.ReadBlob(versions[at].id));
    }
    ASSIGN_OR_RETURN(const cas::Digest digest, cas::PutMessage(store, shard));
    worker::AddOutput(result, "versions", digest, shard.versions_size());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddHistory(Snapshot& snapshot, const v1::Source& source, const HistoryLimits& limits,
                        cas::BlobStore& store, v1::StageResult& result) {
  PastObjects* past = snapshot.past();
  if (past == nullptr) return absl::FailedPreconditionError("the source has no commits");
  const int64_t received = snapshot.listing().bytes_received;
  ASSIGN_OR_RETURN(const GlobSet globs, CompileGlobs(source));
  const v1::History& asked = source.history();
  std::vector<std::string> paths(asked.paths().begin(), asked.paths().end());
  if (paths.empty()) paths.emplace_back("**");
  ASSIGN_OR_RETURN(const GlobSet of_history, GlobSet::Compile(paths, {}));
  HistoryRequest request;
  request.commit = source.ref();
  request.depth = asked.depth();
  ASSIGN_OR_RETURN(request.since, ParseDay(asked.since()));
  const bool has_headers = !snapshot.listing().headers.empty();  // a glob selects C++
  request.importable = [&](absl::string_view path) {
    return (globs.Matches(path) || (has_headers && cpp::IsHeaderPath(path))) && !IsUnsafePath(path);
  };
  request.wanted = [&](absl::string_view path) {
    return globs.Matches(path) && !IsUnsafePath(path) && of_history.Matches(path);
  };
  FindFilesAtHead(snapshot, limits, request);
  for (const Entry& license : snapshot.listing().licenses) {
    if (absl::StrContains(license.path, '/') || license.kind != EntryKind::kFile) continue;
    if (source_files::GetKind(license.path) != source_files::Kind::kLicense) continue;
    request.license_files.push_back(license.path);
  }
  ASSIGN_OR_RETURN(const WalkedHistory walked, WalkHistory(*past, request, limits));
  ASSIGN_OR_RETURN(const cas::Digest index, cas::PutMessage(store, walked.index));
  worker::AddOutput(result, "history", index, walked.index.commits_size());
  RETURN_IF_ERROR(WriteVersions(*past, walked.versions, store, result));
  worker::AddCounter(result, "history.commits", walked.index.commits_seen());
  worker::AddCounter(result, "history.commits_with_kernels", walked.index.commits_size());
  worker::AddCounter(result, "history.versions", walked.index.versions());
  worker::AddCounter(result, "history.probed", walked.index.probed());
  worker::AddCounter(result, "bytes.history.versions", walked.version_bytes);
  worker::AddCounter(result, "bytes.history.imported", walked.imported_bytes);
  worker::AddCounter(result, "bytes.history", snapshot.listing().bytes_received - received);
  return absl::OkStatus();
}

}  // namespace kernelmill::fetcher
