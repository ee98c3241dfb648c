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

// Makes the processor that checks each call against the method table. UNAUTHENTICATED: the caller
// has neither a certificate with a role nor a known token. PERMISSION_DENIED: the caller has a
// different role. `tokens`: null if only certificates count.
std::shared_ptr<grpc::AuthMetadataProcessor> NewAuthorizer(std::shared_ptr<Tokens> tokens);

// Returns the caller of a call that passed the authorizer, by its token or its certificate. Without
// TLS, the caller has no role, and its name is its address.
Caller GetCaller(const grpc::ServerContext& context);
// Returns the name that leases and grants are tied to: "worker w3"; empty if the caller is unknown.
std::string CallerName(const grpc::ServerContext& context);

// Returns the key of the caller in CallerLimits: "ROLE NAME", or the caller's host if it is
// unknown, so that all callers behind one address count as one.
std::string CallerKey(const grpc::ServerContext& context);
// Returns the host of a peer in gRPC's notation (ipv4:10.0.0.7:50312), without the port.
std::string HostOfPeer(absl::string_view peer);

// Logs a call that changes shared state, or that was refused another client's job: the caller, the
// method, the job, hold or backup, and the status. Returns the status.
grpc::Status Audited(const grpc::ServerContext& context, absl::string_view call,
                     absl::string_view target, grpc::Status status);

// Returns the role and name in the URI of the peer's certificate, spiffe://DOMAIN/ROLE/NAME. No
// role if there is no such URI.
Caller CertificateCaller(const grpc::AuthContext& context);

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_AUTHORIZER_H_
