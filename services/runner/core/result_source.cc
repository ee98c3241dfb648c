#include "services/runner/core/result_source.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/hash.h"
#include "common/job/source_spec.h"
#include "common/source_files/content_hash.h"

namespace kernelmill::runner {
namespace {

constexpr char kFile[] = "results.jsonl";
constexpr size_t kMaxBytes = 16 << 20;  // fetchers and the export read no larger file

}  // namespace

absl::StatusOr<ResultSource> MakeResultSource(const std::string& device,
                                              std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  std::string content = absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
  if (content.size() > kMaxBytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("the results have ", content.size(), " bytes, more than ", kMaxBytes,
                     ": name known ones as evidence, or divide the job"));
  }
  ResultSource source;
  v1::FileEntry& entry = *source.tree.add_files();
  entry.set_path(kFile);
  entry.set_size_bytes(static_cast<int64_t>(content.size()));
  entry.set_sha256(Sha256Hex(content));
  entry.set_fate(v1::FILE_FATE_SHARDED);
  source.sha256 = source_files::ContentHash(source.tree);
  source.tree.set_repository(job::RunSourceName(device, source.sha256));
  source.tree.set_commit(absl::StrCat("sha256:", source.sha256));
  v1::SourceFile& file = *source.shard.add_files();
  file.set_path(kFile);
  file.set_content(std::move(content));
  return source;
}

}  // namespace kernelmill::runner
