// The commands on the backups of a server: the store or the coordinator.

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "client/console/output.h"
#include "client/grpc/backup_client.h"
#include "client/grpc/store_client.h"
#include "common/base/status.h"
#include "common/rocksdb/backup.h"
#include "common/rpc/server.h"

namespace kernelmill::client {
namespace {

std::unique_ptr<CoordinatorBackupClient> ConnectToCoordinator(const ClusterAddress& cluster,
                                                              Console& console) {
  return NewCoordinatorBackupClient(rpc::Connect(cluster.coordinator, cluster.credentials),
                                    ReconnectShortly("coordinator", console));
}

std::unique_ptr<BackupClient> ConnectTo(DataServer server, const ClusterAddress& cluster,
                                        Console& console) {
  if (server == DataServer::kCoordinator) return ConnectToCoordinator(cluster, console);
  return NewStoreClient(rpc::Connect(cluster.store, cluster.credentials),
                        ReconnectShortly("store", console));
}

absl::StatusOr<int> Prune(BackupClient& client, const PruneOptions& prune, Console& console) {
  ASSIGN_OR_RETURN(const v1::PruneBackupsResponse response,
                   client.PruneBackups(prune.keep, prune.max_age));
  console.Answer("pruned", response, PruneText(response));
  return kDone;
}

}  // namespace

absl::StatusOr<int> MakeBackup(DataServer server, const ClusterAddress& cluster,
                               const NewBackup& backup, rpc::TerminationSignal& signal,
                               Console& console) {
  const std::unique_ptr<BackupClient> client = ConnectTo(server, cluster, console);
  const OnInterrupt on_interrupt(signal, [&client] { client->Interrupt(); });
  ASSIGN_OR_RETURN(const v1::BackupResponse response, client->Backup(backup.name));
  console.Answer("backup", response, BackupText(response));
  const PruneOptions& prune = backup.prune;
  if (prune.keep == 0 && prune.max_age == absl::ZeroDuration()) return kDone;
  return Prune(*client, prune, console);
}

absl::StatusOr<int> PruneBackups(DataServer server, const ClusterAddress& cluster,
                                 const PruneOptions& prune, rpc::TerminationSignal& signal,
                                 Console& console) {
  const std::unique_ptr<BackupClient> client = ConnectTo(server, cluster, console);
  const OnInterrupt on_interrupt(signal, [&client] { client->Interrupt(); });
  return Prune(*client, prune, console);
}

absl::StatusOr<int> ListCoordinatorBackups(const ClusterAddress& cluster,
                                           rpc::TerminationSignal& signal, Console& console) {
  const std::unique_ptr<CoordinatorBackupClient> client = ConnectToCoordinator(cluster, console);
  const OnInterrupt on_interrupt(signal, [&client] { client->Interrupt(); });
  ASSIGN_OR_RETURN(const v1::ListBackupsResponse response, client->ListBackups());
  console.Answer("backups", response, BackupsText(response));
  return kDone;
}

absl::StatusOr<int> Restore(DataServer server, const std::string& backup_dir,
                            const std::string& data_dir, Console& console) {
  const char* const kind = server == DataServer::kStore ? kStoreDatabase : kCoordinatorDatabase;
  RETURN_IF_ERROR(Annotate(RestoreBackup(kind, backup_dir, data_dir), "restore"));
  console.Result(console.json() ? JsonLine("restored", {{"data", data_dir}, {"from", backup_dir}})
                                : absl::StrCat(data_dir, "  restored from ", backup_dir, "\n"));
  return kDone;
}

}  // namespace kernelmill::client
