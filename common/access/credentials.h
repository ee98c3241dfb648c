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

// The files that identify a process and its peers. Changed files are read again.
struct Identity {
  std::string certificate;  // PEM: the process's certificate and its intermediate certificates
  std::string key;          // PEM: the certificate's private key
  std::string authority;  // PEM: the certificates of the authorities that sign peers' certificates
  std::string token;      // client: the file with the token that is sent with each call
  std::string tokens;     // server: the file with the hashes of the accepted tokens

  bool uses_tls() const { return !authority.empty() || !certificate.empty() || !key.empty(); }
};

// Makes the server's credentials: TLS, and the method table for every call. A caller may have a
// certificate, which the authority must have signed, or a token. Null without TLS.
// INVALID_ARGUMENT: a file is missing or invalid; the message names its flag.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentials(
    const Identity& identity);

// Makes the client's credentials, with a certificate or a token if the identity has one. Null
// without TLS. INVALID_ARGUMENT: as above, or a token is given without TLS.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentials(
    const Identity& identity);

// Makes the credentials with which a server calls itself to see that it answers: its certificate is
// not checked, and nothing secret is sent. Null without TLS.
std::shared_ptr<grpc::ChannelCredentials> SelfCredentials(const Identity& identity);

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_CREDENTIALS_H_
