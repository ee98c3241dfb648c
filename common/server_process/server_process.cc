#include "common/server_process/server_process.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/access/credentials.h"
#include "common/access/tokens.h"
#include "common/base/listen_address.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelmill {
namespace {

// Both addresses of a server are taken where it runs already.
absl::Status CheckFree(const std::string& address, const char* flag) {
  const absl::Status status = CheckCanListen(address);
  if (status.ok()) return status;
  const std::string another =
      absl::IsFailedPrecondition(status)
          ? absl::StrCat("; is another ", program_invocation_short_name, " running?")
          : "";
  return absl::Status(status.code(), absl::StrCat(status.message(), another, " (", flag, ")"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Open(
    const flags::ServerFlags& flags) {
  std::unique_ptr<ServerProcess> process(new ServerProcess(flags));
  RETURN_IF_ERROR(flags::CheckListen(flags));
  RETURN_IF_ERROR(CheckFree(flags.listen, "--listen"));
  if (!flags.metrics.empty()) RETURN_IF_ERROR(CheckFree(flags.metrics, "--metrics"));
  ASSIGN_OR_RETURN(process->server_credentials_, access::ServerCredentials(flags.identity));
  ASSIGN_OR_RETURN(process->client_credentials_, access::ChannelCredentials(flags.identity));
  ASSIGN_OR_RETURN(process->metrics_readers_, access::MetricsReaders(flags.identity.tokens));
  return process;
}

absl::StatusOr<std::unique_ptr<rpc::Server>> ServerProcess::Serve(
    const std::vector<grpc::Service*>& services) {
  if (!flags_.metrics.empty()) {
    ASSIGN_OR_RETURN(metrics_,
                     metrics::Endpoint::Start(flags_.metrics, flags_.version, metrics_readers_));
  }
  return rpc::Server::Start({.address = flags_.listen,
                             .reflection = flags_.reflection,
                             .credentials = server_credentials_},
                            services);
}

void Drain(rpc::Server& server, absl::Duration grace, const std::function<void()>& finish) {
  LogInfo("draining");
  server.StopServing();
  finish();
  server.Shutdown(grace);
}

int ServerExitStatus(const absl::Status& status) {
  if (status.ok()) return 0;
  if (::isatty(STDERR_FILENO) == 1) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name,
                 std::string(status.message()).c_str());
  }
  LogError("cannot serve",
           {{"error", status.message()}, {"code", absl::StatusCodeToString(status.code())}});
  const bool ours = absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status) ||
                    absl::IsUnimplemented(status);
  return ours ? 2 : 1;
}

}  // namespace kernelmill
