#include "client/grpc/backup_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <utility>

#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "kernelmill/v1/coordinator.grpc.pb.h"

namespace kernelmill::client {
namespace {

class GrpcCoordinatorBackupClient : public CoordinatorBackupClient {
 public:
  GrpcCoordinatorBackupClient(std::shared_ptr<grpc::Channel> channel, ReconnectOptions reconnect)
      : stub_(v1::Coordinator::NewStub(std::move(channel))), caller_(std::move(reconnect)) {}

  absl::StatusOr<v1::BackupResponse> Backup(const std::string& name) override {
    return Ask<v1::BackupResponse>("backup", &v1::Coordinator::Stub::Backup, ToBackupRequest(name));
  }
  absl::StatusOr<v1::PruneBackupsResponse> PruneBackups(int keep, absl::Duration max_age) override {
    return Ask<v1::PruneBackupsResponse>("prune", &v1::Coordinator::Stub::PruneBackups,
                                         ToPruneRequest(keep, max_age));
  }
  absl::StatusOr<v1::ListBackupsResponse> ListBackups() override {
    return Ask<v1::ListBackupsResponse>("backups", &v1::Coordinator::Stub::ListBackups,
                                        v1::ListBackupsRequest());
  }

  void Interrupt() override { caller_.Interrupt(); }

 private:
  // Makes a call without a deadline: the backup of a large database takes minutes.
  template <typename Response, typename Request>
  absl::StatusOr<Response> Ask(absl::string_view what,
                               grpc::Status (v1::Coordinator::Stub::*call)(grpc::ClientContext*,
                                                                           const Request&,
                                                                           Response*),
                               const Request& request) {
    Response response;
    const auto attempt = [&](grpc::ClientContext& context) {
      return ((*stub_).*call)(&context, request, &response);
    };
    RETURN_IF_ERROR(caller_.Call(what, attempt, absl::InfiniteDuration()));
    return response;
  }

  const std::unique_ptr<v1::Coordinator::Stub> stub_;
  RetryingCaller caller_;
};

}  // namespace

v1::BackupRequest ToBackupRequest(const std::string& name) {
  v1::BackupRequest request;
  request.set_name(name);
  return request;
}

v1::PruneBackupsRequest ToPruneRequest(int keep, absl::Duration max_age) {
  v1::PruneBackupsRequest request;
  request.set_keep(keep);
  request.set_max_age_ms(absl::ToInt64Milliseconds(max_age));
  return request;
}

std::unique_ptr<CoordinatorBackupClient> NewCoordinatorBackupClient(
    std::shared_ptr<grpc::Channel> channel, ReconnectOptions reconnect) {
  return std::make_unique<GrpcCoordinatorBackupClient>(std::move(channel), std::move(reconnect));
}

}  // namespace kernelmill::client
