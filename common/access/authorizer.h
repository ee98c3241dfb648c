#ifndef KERNELMILL_COMMON_ACCESS_AUTHORIZER_H_
#define KERNELMILL_COMMON_ACCESS_AUTHORIZER_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "common/access/roles.h"
#include "common/access/tokens.h"

namespace grpc {
class AuthContext;
class AuthMetadataProcessor;
class ServerContext;
class Status;
}  // namespace grpc

namespace kernelmill::access {

// Lets a call through that the method table allows its caller. UNAUTHENTICATED: the caller has
// neither a certificate with a role nor a token that is believed. PERMISSION_DENIED: the role is
// another one. `tokens` may be null: certificates alone count then.
std::shared_ptr<grpc::AuthMetadataProcessor> NewAuthorizer(std::shared_ptr<Tokens> tokens);

// Who calls, in a handler that the authorizer let through: by certificate, else by token. Where the
// server has no TLS a caller without a role, named by its address.
Caller CallerOf(const grpc::ServerContext& context);
// The same as leases and grants are tied to it: "worker w3"; empty where nobody says who they are.
std::string CallerName(const grpc::ServerContext& context);

// What CallerLimits counts the caller under: "ROLE NAME"; where nobody says who they are the host
// that the call came from, so that all behind one address are one caller.
std::string CallerKey(const grpc::ServerContext& context);
// The host of a peer as gRPC writes it (ipv4:10.0.0.7:50312), without the port.
std::string HostOfPeer(absl::string_view peer);

// A line in the log for a call that changes what others rely on: who called what, of which job,
// hold or backup, and how it ended. Returns the status.
grpc::Status Audited(const grpc::ServerContext& context, absl::string_view call,
                     absl::string_view target, grpc::Status status);

// The role and name of a certificate that the connection was made with: of its URI
// spiffe://DOMAIN/ROLE/NAME. No role where it has none.
Caller CertificateCaller(const grpc::AuthContext& context);

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_AUTHORIZER_H_
