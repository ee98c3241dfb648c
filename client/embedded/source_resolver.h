#ifndef KERNELMILL_CLIENT_EMBEDDED_SOURCE_RESOLVER_H_
#define KERNELMILL_CLIENT_EMBEDDED_SOURCE_RESOLVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/embedded/embedded_cluster.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {

// The selected files of a source, without headers and licences.
struct SourceFiles {
  int64_t files = 0;
  int64_t bytes = 0;
};

// The place from which a crawl would take the files of a source.
enum class FilesFrom {
  kCache,    // an earlier fetch of the same version
  kChanges,  // the network, but only files that another version in the cache lacks
  kNetwork,
  kDisk,  // a folder of this machine
};

// A source of a job as its first stages resolve it. A search is replaced by the repositories that
// it found; one that failed stays.
struct ResolvedSource {
  v1::Source source;                       // with its defaults; pinned if `status` is OK
  absl::Status status = absl::OkStatus();  // why it could not be resolved
  FilesFrom from = FilesFrom::kNetwork;
  std::optional<SourceFiles> files = std::nullopt;  // unknown before a fetch
};

struct ResolveOptions {
  int threads = 1;   // sources that are resolved at a time
  int attempts = 3;  // for errors that may pass
  // Called now and then. Returns false to end the work.
  std::function<bool(size_t done, size_t all)> on_progress;
};

// Resolves every source of a job with the stages discover and pin of the cluster, in the order of
// the job. CANCELLED: on_progress ended it; a call may still run, so the cluster must live until
// the process ends.
absl::StatusOr<std::vector<ResolvedSource>> ResolveSources(EmbeddedCluster& cluster,
                                                           const v1::JobSpec& job,
                                                           const ResolveOptions& options);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EMBEDDED_SOURCE_RESOLVER_H_
