#ifndef KERNELMILL_COMMON_RPC_LIMITED_CALLS_H_
#define KERNELMILL_COMMON_RPC_LIMITED_CALLS_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/access/caller_limits.h"
#include "common/rpc/stall_guard.h"
#include "common/rpc/status.h"

namespace kernelmill::rpc {

// How many calls may be under way at a time, of a caller and of all. 0: no limit.
struct CallLimits {
  int64_t each = 0;
  int64_t all = 0;
};

// Answers the unary calls of a service whose work or requests are large, as many at a time as there
// may be. A call beyond that is refused before its request is read, so that it costs no memory; and
// whoever is too slow to send a request loses its place. Thread-safe; must outlive its calls.
//
// The service derives from the WithStreamedUnaryMethod_... of each such method, for a handler that
// runs before the request has come.
class LimitedCalls {
 public:
  struct Options {
    CallLimits under_way;  // beyond it calls are refused
    // Of these, how many are read and worked on at a time; the others wait for their turn.
    CallLimits at_work;
    std::string flag = "max-calls";  // sets `under_way` of all; with "-per-caller" of each
  };

  explicit LimitedCalls(const Options& options);

  // Reads the request, and writes what `handle(request, &response)`, a grpc::Status, makes of it.
  template <typename Request, typename Response, typename Handle>
  grpc::Status Answer(grpc::ServerContext& context,
                      grpc::ServerUnaryStreamer<Request, Response>& call, const Handle& handle) {
    absl::StatusOr<Admitted> admitted = Admit(context);
    if (!admitted.ok()) return ToGrpcStatus(admitted.status());
    Request request;
    bool read = false;
    admitted->stream->Wait([&] {
      read = call.Read(&request);
      return static_cast<int64_t>(request.ByteSizeLong());
    });
    if (!read) return ToGrpcStatus(NotRead(*admitted->stream));
    Response response;
    grpc::Status status = handle(request, &response);
    if (status.ok()) call.Write(response);
    return status;
  }

 private:
  struct Admitted {
    access::CallerLimits::Place place, turn;
    std::unique_ptr<StallGuard::Stream> stream;
  };
  // RESOURCE_EXHAUSTED: the caller, or all callers, have as many calls as may be.
  absl::StatusOr<Admitted> Admit(grpc::ServerContext& context);
  static absl::Status NotRead(const StallGuard::Stream& stream);

  access::CallerLimits limits_, turns_;
  StallGuard guard_;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_LIMITED_CALLS_H_
