#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_SOURCES_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_SOURCES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/base/glob.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/adapters/git/fetch_cache.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/adapters/wheel/wheel_snapshot.h"
#include "services/fetcher/core/selection/snapshot.h"
#include "services/fetcher/server/fetcher_stages.h"
#include "services/fetcher/server/scratch_folder.h"

namespace kernelmill::fetcher {

// A source's tree, and the snapshot that it describes.
struct FetchedSource {
  std::unique_ptr<Snapshot> snapshot;
  v1::SourceTree tree;
};

// Goes to the adapter that a source's origin calls for. Thread-safe. Errors: see NewFetcherStages.
class Sources {
 public:
  explicit Sources(const FetcherOptions& options);

  // The source with its ref or hash resolved; one that is pinned stays as it is.
  absl::StatusOr<v1::Source> Pin(const v1::Source& source);

  // INVALID_ARGUMENT: the source is not pinned.
  absl::StatusOr<FetchedSource> Fetch(const v1::Source& source, FetchCache& cache);

 private:
  absl::StatusOr<FetchedSource> ReadLocal(const v1::Source& source, const GlobSet& globs) const;
  absl::StatusOr<FetchedSource> FetchLocal(const v1::Source& source, const GlobSet& globs) const;
  absl::StatusOr<std::unique_ptr<Snapshot>> OpenRemote(const v1::Source& source,
                                                       const GlobSet& globs, FetchCache& cache);
  absl::StatusOr<WheelOptions> WheelSettings();
  absl::StatusOr<GitOptions> GitSettings();

  const FetcherOptions options_;
  const std::shared_ptr<SmartHttp> smart_http_ = std::make_shared<SmartHttp>();
  absl::Mutex mutex_;
  // The last is in use; fetches may still run in those before it.
  std::vector<ScratchFolder> scratch_ ABSL_GUARDED_BY(mutex_);
  std::string index_url_ ABSL_GUARDED_BY(mutex_);  // once known
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_SOURCES_H_
