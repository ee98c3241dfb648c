#ifndef KERNELMILL_COMMON_RPC_CALL_METRICS_H_
#define KERNELMILL_COMMON_RPC_CALL_METRICS_H_

#include <memory>
#include <vector>

namespace grpc::experimental {
class ClientInterceptorFactoryInterface;
class ServerInterceptorFactoryInterface;
}  // namespace grpc::experimental

namespace kernelmill::rpc {

// Count and time every call of a server, or of a channel: rate, errors and duration by method, as
// the metrics grpc_server_* and grpc_client_*. Methods that are not ours are "unknown", since a
// caller may name any.
std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
ServerCallMetrics();
std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
ClientCallMetrics();

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_CALL_METRICS_H_
