#ifndef KERNELMILL_SERVICES_CLI_COMMANDS_INTERRUPT_H_
#define KERNELMILL_SERVICES_CLI_COMMANDS_INTERRUPT_H_

#include <atomic>
#include <functional>
#include <thread>

#include "common/cas/blob_store.h"
#include "common/rpc/server.h"

namespace kernelmill::cli {

// Calls a function once when SIGINT or SIGTERM comes, on a thread of its own, for as long as it
// lives.
class Interrupt {
 public:
  Interrupt(rpc::TerminationSignal& signal, std::function<void()> on_signal);
  ~Interrupt();

  bool raised() const { return raised_; }

 private:
  std::atomic<bool> done_{false};
  std::atomic<bool> raised_{false};
  std::thread thread_;
};

// A store whose reads end with CANCELLED once the interrupt is raised. Keeps references to both.
class InterruptibleStore : public cas::BlobStore {
 public:
  InterruptibleStore(cas::BlobStore& store, const Interrupt& interrupt)
      : store_(store), interrupt_(interrupt) {}

  absl::StatusOr<std::vector<cas::Digest>> FindMissing(
      const std::vector<cas::Digest>& digests) override;
  absl::Status Put(const std::vector<cas::Blob>& blobs) override;
  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override;
  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override;
  absl::Status PutActionResult(const cas::Digest& action, const cas::ActionResult& result) override;

 private:
  absl::Status Check() const;

  cas::BlobStore& store_;
  const Interrupt& interrupt_;
};

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_COMMANDS_INTERRUPT_H_
