#ifndef KERNELMILL_COMMON_RPC_INTERCEPTORS_H_
#define KERNELMILL_COMMON_RPC_INTERCEPTORS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace grpc::experimental {
class ClientInterceptorFactoryInterface;
class ServerInterceptorFactoryInterface;
}  // namespace grpc::experimental

namespace grpc {
class Status;
namespace experimental {
class ClientInterceptorFactoryInterface;
}
}  // namespace grpc

namespace kernelmill::rpc {

// Make the interceptors that count and time every call of a server or a channel, by method: the
// metrics grpc_server_* and grpc_client_*. Methods that are not in the method table count as
// "unknown", since a caller may name any.
std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
ServerCallMetrics();
std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
ClientCallMetrics();

// Rewrites the status of a call to a wrong address, so that its message says what is likely wrong.
// gRPC's own message is empty for a server without the service, and technical for a server that
// does not speak gRPC; the latter becomes FAILED_PRECONDITION, since a retry cannot help. Any other
// status stays. `method` is "/package.Service/Method".
grpc::Status ExplainWrongServer(const grpc::Status& status, absl::string_view target,
                                absl::string_view method, bool with_tls);

// Makes the interceptor that applies ExplainWrongServer to every call of a channel.
std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> WrongServerExplainer(
    const std::string& target, bool with_tls);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_INTERCEPTORS_H_
