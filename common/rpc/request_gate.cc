#include "common/rpc/request_gate.h"

#include <google/protobuf/descriptor.h>
#include <grpc/byte_buffer.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/access/authorizer.h"
#include "common/access/caller_limits.h"
#include "common/base/status.h"
#include "common/rpc/request_cost.h"
#include "common/rpc/status.h"

// gRPC parses a request in the thread that then handles it, and has no hook in between. So each
// method gets another handler, around the generated one: it keeps the bytes, lets the call in, and
// then has the generated handler parse and answer.
namespace kernelmill::rpc {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

constexpr int64_t kMebibyte = 1 << 20;
// Names and numbers, which is what most requests have.
constexpr int64_t kSmallRequest = 64 << 10;
constexpr int64_t kLargeRequest = 16 * kMebibyte;
// A call takes this at least, with its answer.
constexpr int64_t kSmallCall = kMebibyte;
// A handler copies its request, into the types of its core or of the database.
constexpr int64_t kCopies = 2;
// A call that was let in, and is not answered in this time, has a client that does not read.
constexpr absl::Duration kMemoryPatience = absl::Seconds(60);
// Calls that wait or are handled, each in a thread.
constexpr int64_t kCalls = 512;
constexpr int64_t kCallsOfCaller = 256;

struct Bounds {
  absl::string_view method;
  int64_t request = kSmallRequest;  // the largest
  int64_t answer = 0;               // if it is larger than kSmallCall
  bool waits = false;               // for something to happen; it has limits of its own
};

constexpr Bounds kBounds[] = {
    {"build.bazel.remote.execution.v2.ContentAddressableStorage.FindMissingBlobs", kLargeRequest},
    {"build.bazel.remote.execution.v2.ContentAddressableStorage.BatchUpdateBlobs", kLargeRequest},
    {"build.bazel.remote.execution.v2.ContentAddressableStorage.BatchReadBlobs", kLargeRequest,
     16 * kMebibyte},
    {"build.bazel.remote.execution.v2.ActionCache.GetActionResult", kSmallRequest, 8 * kMebibyte},
    {"build.bazel.remote.execution.v2.ActionCache.UpdateActionResult", kLargeRequest},
    {"kernelmill.v1.Store.Hold", kLargeRequest},
    {"kernelmill.v1.Work.Complete", kLargeRequest},
    {"kernelmill.v1.Work.Renew", kMebibyte},
    {"kernelmill.v1.Work.Lease", kSmallRequest, 0, /*waits=*/true},
    {"kernelmill.v1.Crawl.ListJobs", kSmallRequest, 16 * kMebibyte},
};

Bounds FindBounds(absl::string_view method) {
  for (const Bounds& bounds : kBounds) {
    if (bounds.method == method) return bounds;
  }
  return {};
}

// Gives access to the private list of a service's methods: an explicit instantiation may name it.
using Methods = std::vector<std::unique_ptr<RpcServiceMethod>>;
Methods& GetMethods(grpc::Service& service);
template <Methods grpc::Service::*kMember>
struct Access {
  friend Methods& GetMethods(grpc::Service& service) { return service.*kMember; }
};
template struct Access<&grpc::Service::methods_>;

}  // namespace

// The limits that all methods of a server share.
class RequestGate::Limits {
 public:
  explicit Limits(int64_t memory_bytes)
      : memory_of_caller_(memory_bytes / 2),
        calls_({"calls",
                {"calls-per-caller", kCallsOfCaller},
                {"calls", kCalls},
                "make fewer at a time"}),
        memory_({"bytes of requests",
                 {"request-memory-per-caller", memory_of_caller_},
                 {"request-memory", memory_bytes},
                 ""}) {}

  struct Admitted {
    access::CallerLimits::Place call, memory;
  };
  // Waits for the memory. RESOURCE_EXHAUSTED: too many calls wait. UNAVAILABLE: for too long.
  absl::StatusOr<Admitted> Admit(const std::string& caller, int64_t bytes) {
    Admitted admitted;
    auto call = calls_.Take(caller);
    if (!call.ok()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("too many calls of ", caller,
                       ", or of all callers, are under way; make fewer at a time"));
    }
    admitted.call = *std::move(call);
    auto memory = memory_.Await(caller, kMemoryPatience, std::min(bytes, memory_of_caller_));
    if (!memory.ok()) return absl::UnavailableError("the server is busy with other calls");
    admitted.memory = *std::move(memory);
    return admitted;
  }

 private:
  const int64_t memory_of_caller_;
  access::CallerLimits calls_, memory_;
};

// The handler of one method, around the generated one.
class RequestGate::Handler final : public grpc::internal::MethodHandler {
 public:
  Handler(std::shared_ptr<Limits> limits, std::unique_ptr<RpcServiceMethod> method,
          const google::protobuf::MethodDescriptor& descriptor)
      : limits_(std::move(limits)),
        method_(std::move(method)),
        type_(*descriptor.input_type()),
        bounds_(FindBounds(descriptor.full_name())) {}

  // Keeps the bytes for RunHandler, which gRPC calls next.
  void* Deserialize(grpc_call*, grpc_byte_buffer* request, grpc::Status*, void**) override {
    return request;
  }

  // The generated handler frees the bytes that it parses, and answers with a status that is an
  // error without calling the service.
  void RunHandler(const HandlerParameter& parameter) override {
    const auto& context = static_cast<const grpc::ServerContext&>(*parameter.server_context);
    auto* const bytes = static_cast<grpc_byte_buffer*>(parameter.request);
    Limits::Admitted admitted;
    grpc::Status status = ToGrpcStatus(Admit(context, bytes, &admitted));
    void* parsed = nullptr;
    if (status.ok()) {
      parsed = method_->handler()->Deserialize(parameter.call->call(), bytes, &status, nullptr);
    } else if (bytes != nullptr) {
      grpc_byte_buffer_destroy(bytes);
    }
    method_->handler()->RunHandler({parameter.call, parameter.server_context, parsed, status,
                                    parameter.internal_data, parameter.call_requester});
  }

 private:
  absl::Status Admit(const grpc::ServerContext& context, grpc_byte_buffer* bytes,
                     Limits::Admitted* admitted) const {
    if (bytes == nullptr) return absl::InvalidArgumentError("the request is missing");
    const auto size = static_cast<int64_t>(grpc_byte_buffer_length(bytes));
    if (size > bounds_.request) {
      return absl::InvalidArgumentError(
          absl::StrCat("the request must have at most ", bounds_.request, " bytes, not ", size));
    }
    ASSIGN_OR_RETURN(const int64_t parsed, Measure(bytes));
    if (bounds_.waits || method_->method_type() != RpcMethod::NORMAL_RPC) return absl::OkStatus();
    ASSIGN_OR_RETURN(*admitted,
                     limits_->Admit(access::CallerKey(context),
                                    std::max(kSmallCall, kCopies * (parsed + bounds_.answer))));
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Measure(grpc_byte_buffer* bytes) const {
    grpc::ByteBuffer view;
    grpc::Status status;
    grpc::internal::UnaryDeserializeHelper(bytes, &status, &view);
    const absl::StatusOr<int64_t> parsed = GetParsedBytes(view, type_);
    view.Release();  // the bytes stay
    return parsed;
  }

  const std::shared_ptr<Limits> limits_;
  const std::unique_ptr<RpcServiceMethod> method_;  // with the generated handler
  const google::protobuf::Descriptor& type_;        // of the request
  const Bounds bounds_;
};

RequestGate::RequestGate(int64_t memory_bytes) : limits_(std::make_shared<Limits>(memory_bytes)) {}

RequestGate::~RequestGate() = default;

void RequestGate::Guard(grpc::Service& service) const {
  for (std::unique_ptr<RpcServiceMethod>& method : GetMethods(service)) {
    if (method == nullptr || method->api_type() != RpcServiceMethod::ApiType::SYNC) continue;
    const RpcMethod::RpcType type = method->method_type();
    if (type != RpcMethod::NORMAL_RPC && type != RpcMethod::SERVER_STREAMING) continue;
    if (dynamic_cast<Handler*>(method->handler()) != nullptr) continue;
    const std::string name =
        absl::StrReplaceAll(absl::string_view(method->name()).substr(1), {{"/", "."}});
    const auto* const descriptor =
        google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
    if (descriptor == nullptr) continue;  // it has no message that could be large
    const char* const path = method->name();
    auto handler = std::make_unique<Handler>(limits_, std::move(method), *descriptor);
    method = std::make_unique<RpcServiceMethod>(path, type, handler.release());
  }
}

}  // namespace kernelmill::rpc
