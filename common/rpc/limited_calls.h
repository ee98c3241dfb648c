#ifndef KERNELMILL_COMMON_RPC_LIMITED_CALLS_H_
#define KERNELMILL_COMMON_RPC_LIMITED_CALLS_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/access/caller_limits.h"
#include "common/rpc/stall_guard.h"
#include "common/rpc/status.h"
#include "common/rpc/unparsed.h"

namespace kernelmill::rpc {

// The largest number of calls at a time, for each caller and for all. 0: no limit.
struct CallLimits {
  int64_t each = 0;
  int64_t all = 0;
};

// A limit on concurrent unary calls whose requests or work are large. A call above the limit is
// refused before its request is read, so that it costs no memory. A caller that sends its request
// or reads its answer too slowly loses its place: DEADLINE_EXCEEDED. Must outlive its calls.
// Thread-safe.
//
// The service registers each such method with NewHandler, so that the handler runs before the
// request has arrived, and parses it after it has seen its size.
class LimitedCalls {
 public:
  struct Options {
    CallLimits under_way;  // calls above it are refused
    // How many of these calls are read and handled at a time; the others wait for their turn.
    CallLimits at_work;
    std::string flag = "max-calls";  // the flag of under_way.all; with "-per-caller": of each
  };

  explicit LimitedCalls(const Options& options);

  // Makes the handler of a method, for grpc::Service::MarkMethodStreamed, which owns it. It reads
  // the request, calls `handle(context, request, response)` and writes the response.
  template <typename Request, typename Response>
  grpc::internal::MethodHandler* NewHandler(
      std::function<grpc::Status(grpc::ServerContext&, Request&, Response*)> handle) {
    using Call = grpc::ServerUnaryStreamer<Unparsed<Request>, Response>;
    return new grpc::internal::StreamedUnaryHandler<Unparsed<Request>, Response>(
        [this, handle = std::move(handle)](grpc::ServerContext* context, Call* call) {
          return Answer<Request, Response>(*context, *call, handle);
        });
  }

 private:
  struct Admitted {
    access::CallerLimits::Place place, turn;
    std::unique_ptr<StallGuard::Stream> stream;
  };
  template <typename Request, typename Response, typename Handle>
  grpc::Status Answer(grpc::ServerContext& context,
                      grpc::ServerUnaryStreamer<Unparsed<Request>, Response>& call,
                      const Handle& handle) {
    absl::StatusOr<Admitted> admitted = Admit(context);
    if (!admitted.ok()) return ToGrpcStatus(admitted.status());
    Unparsed<Request> bytes;
    bool read = false;
    admitted->stream->Wait([&] {
      read = call.Read(&bytes);
      return bytes.size();
    });
    if (!read) return ToGrpcStatus(NotRead(*admitted->stream));
    Request request;
    const absl::Status parsed = bytes.Parse(request);
    if (!parsed.ok()) return ToGrpcStatus(parsed);
    Response response;
    grpc::Status status = handle(context, request, &response);
    if (!status.ok()) return status;
    admitted->stream->Wait([&] {
      call.Write(response);
      return static_cast<int64_t>(response.ByteSizeLong());
    });
    return status;
  }

  // Takes a place and waits for a turn. RESOURCE_EXHAUSTED: the caller, or all callers, have too
  // many calls.
  absl::StatusOr<Admitted> Admit(grpc::ServerContext& context);
  static absl::Status NotRead(const StallGuard::Stream& stream);

  access::CallerLimits limits_, turns_;
  StallGuard guard_;
};

// Returns the index of a method among those of its service, by its full name
// (package.Service.Method), which must exist.
int GetMethodIndex(const std::string& method);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_LIMITED_CALLS_H_
