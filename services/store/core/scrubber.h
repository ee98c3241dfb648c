#ifndef KERNELMILL_SERVICES_STORE_CORE_SCRUBBER_H_
#define KERNELMILL_SERVICES_STORE_CORE_SCRUBBER_H_

#include <atomic>
#include <cstddef>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"
#include "services/store/core/content_store.h"

namespace kernelmill::store {

// Reads all blobs in the background after a damaged one was found: where one is damaged, others
// often are. Clients then learn at once what is lost, and make it again, instead of meeting one
// blob after another. Thread-safe.
class Scrubber {
 public:
  struct Options {
    // Between looks for newly found damage. Jobs begin again only some ten times, and each run may
    // meet another damaged blob until all are known.
    absl::Duration interval = absl::Milliseconds(50);
  };

  // `store` must outlive this.
  Scrubber(ContentStore* store, const Options& options);
  ~Scrubber();

  // Starts a thread that calls Pass regularly.
  void Start();
  // Stops the current pass soon, and all later ones.
  void Stop();

  // Reads all blobs if damage was found since the last pass. Returns whether it did.
  absl::StatusOr<bool> Pass();

 private:
  void Run();

  ContentStore* const store_;
  const Options options_;
  size_t known_;  // damaged blobs after the last pass; only used by Pass
  Notifier stop_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_SCRUBBER_H_
