#ifndef KERNELMILL_COMMON_ACCESS_CREDENTIALS_H_
#define KERNELMILL_COMMON_ACCESS_CREDENTIALS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace kernelmill::access {

// Who a process is and whom it believes, as files; all of them are read again once they have
// changed.
struct Identity {
  std::string certificate;  // PEM: the process's own, and those between it and the authority
  std::string key;          // PEM: the certificate's private key
  std::string authority;    // PEM: the certificates of the authorities that peers' are signed by
  std::string token;        // of a client: a file with a token that goes along with each call
  std::string tokens;       // of a server: a file with the hashes of tokens that it believes

  bool uses_tls() const { return !authority.empty() || !certificate.empty() || !key.empty(); }
};

// The server's side: TLS, and the method table on every call. A caller may show a certificate,
// which must then be one of the authority's, or a token. Null without TLS. INVALID_ARGUMENT: a file
// is missing or wrong, and which.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentials(
    const Identity& identity);

// The client's side; with a certificate or a token if the identity has one. Null without TLS.
// INVALID_ARGUMENT: as above; or a token is to go over a connection without TLS.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentials(
    const Identity& identity);

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_CREDENTIALS_H_
