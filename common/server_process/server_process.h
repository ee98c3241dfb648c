#ifndef KERNELMILL_COMMON_SERVER_PROCESS_SERVER_PROCESS_H_
#define KERNELMILL_COMMON_SERVER_PROCESS_SERVER_PROCESS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/flags/server_flags.h"
#include "common/metrics/endpoint.h"
#include "common/rpc/server.h"

namespace kernelmill {

// The common part of every server program, controlled by its flags: TLS is required for
// non-loopback addresses, and the process has an identity and serves metrics and gRPC.
class ServerProcess {
 public:
  // Reads the identity's files and checks that both addresses are free. Call it before slow work.
  // INVALID_ARGUMENT, FAILED_PRECONDITION: a flag's value does not work here; the message names the
  // flag.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Open(const flags::ServerFlags& flags);

  // The credentials for calls to other servers; null without TLS.
  const std::shared_ptr<grpc::ChannelCredentials>& client_credentials() const {
    return client_credentials_;
  }

  // Starts serving metrics and the services, which must outlive the server. Call once.
  absl::StatusOr<std::unique_ptr<rpc::Server>> Serve(const std::vector<grpc::Service*>& services);

 private:
  explicit ServerProcess(const flags::ServerFlags& flags) : flags_(flags) {}

  const flags::ServerFlags flags_;
  std::shared_ptr<grpc::ServerCredentials> server_credentials_;
  std::shared_ptr<grpc::ChannelCredentials> client_credentials_;
  metrics::MayRead metrics_readers_;
  std::unique_ptr<metrics::Endpoint> metrics_;
};

// Sets health to NOT_SERVING, runs `finish`, and then gives running calls `grace` to end.
void Drain(rpc::Server& server, absl::Duration grace, const std::function<void()>& finish);

// Returns the exit status of a server that ended with `status`: 0 if OK, 2 if a flag is wrong, else
// 1. Logs that the server stopped, or an error, which it also prints on a terminal.
int ServerExitStatus(const absl::Status& status);

// Checks that this process can listen on `address` (host:port, unix:/path), by trying it for a
// moment: gRPC and civetweb do not report why they cannot. INVALID_ARGUMENT: not an address, or not
// one of this machine. FAILED_PRECONDITION: it is in use, or not permitted.
absl::Status CheckCanListen(const std::string& address);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_SERVER_PROCESS_SERVER_PROCESS_H_
