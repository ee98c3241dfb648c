#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETAINER_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETAINER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cas/digest.h"

namespace kernelmill::coordinator {

// The port to the store's holds, which protect the blobs of jobs from eviction. A job has two
// holds: one for its run, and one for its dataset. Holds belong to one coordinator; others that
// share the store have their own. Implementations are thread-safe.
//
// Holds are durable, and every call may be repeated. Errors of all calls: UNIMPLEMENTED: the store
// has no holds. Retryable codes (IsRetryable): try again later.
class Retainer {
 public:
  // The jobs that have holds.
  struct Held {
    std::vector<std::string> runs;
    std::vector<std::string> datasets;
    std::vector<std::string> incomplete;  // datasets with a released part
  };

  virtual ~Retainer() = default;

  virtual absl::StatusOr<Held> List() = 0;

  // Holds everything that any client writes, finds or reads from now on. The hold expires `ttl`
  // after the last such call for the job.
  virtual absl::Status HoldRun(const std::string& job, absl::Duration ttl) = 0;
  virtual absl::Status ReleaseRun(const std::string& job) = 0;

  // Holds the DatasetManifest and every blob that it names, which is everything that an export
  // reads. NOT_FOUND: the manifest is not in the store. DATA_LOSS: blobs are missing; the others
  // are held.
  virtual absl::Status HoldDataset(const std::string& job, const cas::Digest& manifest) = 0;
  virtual absl::Status ReleaseDataset(const std::string& job) = 0;

  // Ends the running call and all later ones with CANCELLED.
  virtual void Cancel() = 0;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETAINER_H_
