#include "services/cli/commands/interrupt.h"

#include <utility>

#include "absl/time/time.h"
#include "common/base/status.h"

namespace kernelmill::cli {

Interrupt::Interrupt(rpc::TerminationSignal& signal, std::function<void()> on_signal)
    : thread_([this, &signal, on_signal = std::move(on_signal)] {
        while (!done_) {
          if (!signal.WaitFor(absl::Milliseconds(50))) continue;
          raised_ = true;
          on_signal();
          return;
        }
      }) {}

Interrupt::~Interrupt() {
  done_ = true;
  thread_.join();
}

absl::Status InterruptibleStore::Check() const {
  return interrupt_.raised() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

absl::StatusOr<std::vector<cas::Digest>> InterruptibleStore::FindMissing(
    const std::vector<cas::Digest>& digests) {
  RETURN_IF_ERROR(Check());
  return store_.FindMissing(digests);
}

absl::Status InterruptibleStore::Put(const std::vector<cas::Blob>& blobs) {
  RETURN_IF_ERROR(Check());
  return store_.Put(blobs);
}

absl::StatusOr<std::vector<std::string>> InterruptibleStore::Get(
    const std::vector<cas::Digest>& digests) {
  RETURN_IF_ERROR(Check());
  return store_.Get(digests);
}

absl::StatusOr<cas::ActionResult> InterruptibleStore::GetActionResult(const cas::Digest& action) {
  RETURN_IF_ERROR(Check());
  return store_.GetActionResult(action);
}

absl::Status InterruptibleStore::PutActionResult(const cas::Digest& action,
                                                 const cas::ActionResult& result) {
  RETURN_IF_ERROR(Check());
  return store_.PutActionResult(action, result);
}

}  // namespace kernelmill::cli
