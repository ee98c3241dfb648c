#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_SOURCES_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_SOURCES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/base/file.h"
#include "common/base/glob.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/adapters/wheel/wheel_snapshot.h"
#include "services/fetcher/core/selection/snapshot.h"
#include "services/fetcher/server/fetcher_stages.h"

namespace kernelmill::fetcher {

// This process's own folder for temporary repositories. It holds a file that is locked as long as
// this object, or the process, lives. A folder whose file is not locked was left by a process that
// was killed; the next Create under the same parent removes it. Movable.
class ScratchFolder {
 public:
  // Makes a folder under `parent`, or under the system's temporary folder if that is empty.
  static absl::StatusOr<ScratchFolder> Create(const std::string& parent);

  const std::string& path() const { return folder_.path(); }
  // Returns false if the folder was deleted from outside, for example by a clean-up of /tmp.
  bool Exists() const;

 private:
  ScratchFolder(TempDir folder, FileDescriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  TempDir folder_;
  FileDescriptor lock_;  // open as long as the folder exists
};

// Returns the globs of a source. A job from a client has its defaults written out; other callers
// may leave them out. INVALID_ARGUMENT: one is malformed.
absl::StatusOr<GlobSet> CompileGlobs(const v1::Source& source);

// A source's tree, and the snapshot that it describes.
struct FetchedSource {
  std::unique_ptr<Snapshot> snapshot;
  v1::SourceTree tree;
};

// The selected files of a local source, without headers and licences.
struct LocalSize {
  int64_t files = 0;
  int64_t bytes = 0;
};

// Lists a local source's files without reading them. Errors: see OpenLocalTree.
absl::StatusOr<LocalSize> MeasureLocal(const v1::Source& source);

// Pins and fetches sources with the adapter for their origin. Thread-safe. Errors: see
// NewFetcherStages.
class Sources {
 public:
  explicit Sources(const FetcherOptions& options);

  // Returns the source with its ref or hash resolved. A pinned source stays as it is.
  // FAILED_PRECONDITION: the index gives no hash for a package, and `require_hashes` is set.
  absl::StatusOr<v1::Source> Pin(const v1::Source& source, bool require_hashes);

  // Fetches a source. INVALID_ARGUMENT: the source is not pinned.
  absl::StatusOr<FetchedSource> Fetch(const v1::Source& source, FetchCache& cache);

 private:
  absl::StatusOr<FetchedSource> ReadLocal(const v1::Source& source, const GlobSet& globs) const;
  absl::StatusOr<FetchedSource> FetchLocal(const v1::Source& source, const GlobSet& globs) const;
  absl::StatusOr<std::unique_ptr<Snapshot>> OpenRemote(const v1::Source& source,
                                                       const GlobSet& globs, FetchCache& cache);
  absl::StatusOr<WheelOptions> WheelSettings();
  absl::StatusOr<GitOptions> GitSettings();
  absl::StatusOr<std::string> FindScratch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const FetcherOptions options_;
  const std::shared_ptr<SmartHttp> smart_http_ = std::make_shared<SmartHttp>();
  absl::Mutex mutex_;
  // The last one is in use; fetches may still run in those before it.
  std::vector<ScratchFolder> scratch_ ABSL_GUARDED_BY(mutex_);
  std::string index_url_ ABSL_GUARDED_BY(mutex_);  // empty until a package is asked for
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_SOURCES_H_
