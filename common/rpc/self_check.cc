#include "common/rpc/self_check.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/rpc/status.h"

namespace kernelmill::rpc {
namespace {

// Asks for the health of the whole server. Any answer will do: one that drains answers, too.
absl::Status Ask(const SelfCheck::Options& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  grpc::GenericStub stub(grpc::CreateCustomChannel(
      options.target,
      options.credentials != nullptr ? options.credentials : grpc::InsecureChannelCredentials(),
      arguments));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options.patience));
  const grpc::Slice no_fields;
  const grpc::ByteBuffer request(&no_fields, 1);
  grpc::ByteBuffer response;
  absl::Notification done;
  grpc::Status status;
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &request, &response,
                 [&](grpc::Status answer) {
                   status = std::move(answer);
                   done.Notify();
                 });
  done.WaitForNotification();
  return FromGrpcStatus(status);
}

}  // namespace

SelfCheck::SelfCheck(Options options) : options_(std::move(options)), thread_([this] { Run(); }) {}

// Waits for a call that runs at the moment, at most its patience.
SelfCheck::~SelfCheck() {
  stopping_ = true;
  stop_.Notify();
  thread_.join();
}

void SelfCheck::Run() {
  int failures = 0;
  while (true) {
    const uint64_t seen = stop_.generation();
    if (stopping_) return;
    stop_.WaitFor(seen, options_.interval);
    if (stopping_) return;
    const absl::Status status = Ask(options_);
    const bool full = options_.is_full();
    if (status.ok() || full) {
      failures = 0;
      continue;
    }
    LogWarning("does not answer itself", {{"error", status.message()}, {"times", ++failures}});
    if (failures >= options_.failures) return options_.give_up(status);
  }
}

}  // namespace kernelmill::rpc
