#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETAINER_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETAINER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cas/digest.h"

namespace kernelmill::coordinator {

// Keeps the store from dropping what jobs need. A job has two holds: one for its run, one for its
// dataset. They are made in the name of one coordinator: others that share the store have theirs.
//
// Errors, of all calls: UNIMPLEMENTED: the store keeps no holds; UNAVAILABLE and the other codes
// that IsRetryable() allows: not now. What is made is durable. Every call may be repeated.
// Implementations are thread-safe.
class Retainer {
 public:
  // The jobs that have a hold, by kind.
  struct Held {
    std::vector<std::string> runs;
    std::vector<std::string> datasets;
    std::vector<std::string> incomplete;  // of the datasets: somebody has released a part
  };

  virtual ~Retainer() = default;

  virtual absl::StatusOr<Held> List() = 0;

  // Everything that is written, found or read from now on, by whomever; ends by itself `ttl` after
  // it was last renewed by the same call.
  virtual absl::Status HoldRun(const std::string& job, absl::Duration ttl) = 0;
  virtual absl::Status ReleaseRun(const std::string& job) = 0;

  // The DatasetManifest and every blob that it names: all that an export reads. NOT_FOUND: the
  // manifest is not in the store. DATA_LOSS: what is left of the dataset is held, but it is not
  // whole.
  virtual absl::Status HoldDataset(const std::string& job, const cas::Digest& manifest) = 0;
  virtual absl::Status ReleaseDataset(const std::string& job) = 0;

  // Ends the call that is running and every later one with CANCELLED.
  virtual void Cancel() = 0;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETAINER_H_
