#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/access/authorizer.h"
#include "common/base/status.h"
#include "common/rpc/status.h"
#include "services/coordinator/server/services.h"

namespace kernelmill::coordinator {
namespace {

void Fill(const BackupEntry& backup, v1::BackupInfo* info) {
  info->set_name(backup.name);
  info->set_bytes(backup.bytes);
  info->set_made_unix_ms(backup.made_unix_ms);
}

absl::Status MakeBackup(Backups& backups, const std::string& name, v1::BackupResponse* response) {
  ASSIGN_OR_RETURN(const Backups::Made made, backups.Make(name));
  response->set_path(made.path);
  response->set_bytes(made.bytes);
  return absl::OkStatus();
}

absl::Status Prune(Backups& backups, const v1::PruneBackupsRequest& request,
                   v1::PruneBackupsResponse* response) {
  ASSIGN_OR_RETURN(
      const std::vector<BackupEntry> dropped,
      backups.Prune(request.keep(), absl::Milliseconds(request.max_age_ms()), absl::Now()));
  for (const BackupEntry& backup : dropped) Fill(backup, response->add_dropped());
  return absl::OkStatus();
}

absl::Status List(Backups& backups, v1::ListBackupsResponse* response) {
  ASSIGN_OR_RETURN(const std::vector<BackupEntry> found, backups.List());
  for (const BackupEntry& backup : found) Fill(backup, response->add_backups());
  return absl::OkStatus();
}

}  // namespace

grpc::Status CoordinatorService::Backup(grpc::ServerContext* context,
                                        const v1::BackupRequest* request,
                                        v1::BackupResponse* response) {
  return access::Audited(*context, "Backup", request->name(),
                         rpc::ToGrpcStatus(MakeBackup(backups_, request->name(), response)));
}

grpc::Status CoordinatorService::PruneBackups(grpc::ServerContext* context,
                                              const v1::PruneBackupsRequest* request,
                                              v1::PruneBackupsResponse* response) {
  const std::string bounds =
      absl::StrCat("all but ", request->keep(), ", older than ", request->max_age_ms(), " ms");
  return access::Audited(*context, "PruneBackups", bounds,
                         rpc::ToGrpcStatus(Prune(backups_, *request, response)));
}

grpc::Status CoordinatorService::ListBackups(grpc::ServerContext*, const v1::ListBackupsRequest*,
                                             v1::ListBackupsResponse* response) {
  return rpc::ToGrpcStatus(List(backups_, response));
}

}  // namespace kernelmill::coordinator
