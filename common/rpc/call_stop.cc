#include "common/rpc/call_stop.h"

#include "absl/time/time.h"

namespace kernelmill::rpc {

CallStop::CallStop(const grpc::ServerContext& context) {
  thread_ = std::thread([this, &context] {
    while (!over_.stop_requested()) {
      const uint64_t seen = wake_.generation();
      if (context.IsCancelled()) gone_.request_stop();
      if (!over_.stop_requested()) wake_.WaitFor(seen, absl::Milliseconds(100));
    }
  });
}

CallStop::~CallStop() {
  over_.request_stop();
  wake_.Notify();
  thread_.join();
}

}  // namespace kernelmill::rpc
