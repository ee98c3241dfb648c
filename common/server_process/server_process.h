#ifndef KERNELMILL_COMMON_SERVER_PROCESS_SERVER_PROCESS_H_
#define KERNELMILL_COMMON_SERVER_PROCESS_SERVER_PROCESS_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/flags/server_flags.h"
#include "common/metrics/endpoint.h"
#include "common/rpc/server.h"

namespace kernelmill {

// What every server program does by its flags: it listens to other machines with TLS or not at all,
// has an identity, serves metrics and gRPC, and drains.
class ServerProcess {
 public:
  // Reads the files of the identity, and finds out whether both addresses are free: call it before
  // what takes long. INVALID_ARGUMENT and FAILED_PRECONDITION: a flag's value cannot be had here;
  // the message names the flag.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Open(const flags::ServerFlags& flags);

  // Who the process is towards the servers that it calls; null without TLS.
  const std::shared_ptr<grpc::ChannelCredentials>& client_credentials() const {
    return client_credentials_;
  }

  // Serves metrics from now on, and the services, which must outlive the server. Call once.
  absl::StatusOr<std::unique_ptr<rpc::Server>> Serve(const std::vector<grpc::Service*>& services);

 private:
  explicit ServerProcess(const flags::ServerFlags& flags) : flags_(flags) {}

  const flags::ServerFlags flags_;
  std::shared_ptr<grpc::ServerCredentials> server_credentials_;
  std::shared_ptr<grpc::ChannelCredentials> client_credentials_;
  metrics::MayRead metrics_readers_;
  std::unique_ptr<metrics::Endpoint> metrics_;
};

// Health says NOT_SERVING while `finish` runs; then calls in flight have `grace` to end.
void Drain(rpc::Server& server, absl::Duration grace, const std::function<void()>& finish);

// The exit status of a server that ended with this, which is logged unless it is OK, and on a
// terminal said in plain words: 0; 2 where its flags ask for what cannot be had; else 1.
int ServerExitStatus(const absl::Status& status);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_SERVER_PROCESS_SERVER_PROCESS_H_
