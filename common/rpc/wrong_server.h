#ifndef KERNELMILL_COMMON_RPC_WRONG_SERVER_H_
#define KERNELMILL_COMMON_RPC_WRONG_SERVER_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace grpc {
class Status;
namespace experimental {
class ClientInterceptorFactoryInterface;
}
}  // namespace grpc

namespace kernelmill::rpc {

// How a call ended, in words that say what is likely wrong with the address: gRPC has none for a
// server that does not know the service, and library's words for one that does not speak gRPC. Such
// a one is FAILED_PRECONDITION, since trying again is no use. Any other status stays as it is.
// `method` is "/package.Service/Method".
grpc::Status ExplainWrongServer(const grpc::Status& status, absl::string_view target,
                                absl::string_view method, bool with_tls);

// Has every call of a channel end so.
std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> WrongServerExplainer(
    const std::string& target, bool with_tls);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_WRONG_SERVER_H_
