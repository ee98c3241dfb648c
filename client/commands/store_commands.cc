#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/commands/kept_datasets.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/output.h"
#include "client/grpc/store_client.h"
#include "common/base/status.h"
#include "common/rpc/server.h"
#include "kernelmill/v1/store.pb.h"
#include "services/store/server/store_server.h"

namespace kernelmill::client {
namespace {

// A store, until a signal ends its calls.
class Connection {
 public:
  Connection(const ClusterAddress& cluster, rpc::TerminationSignal& signal, Console& console)
      : store_(
            NewStoreClient(rpc::Connect(cluster.store, cluster.credentials), Reconnect(console))),
        on_interrupt_(signal, [this] { store_->Interrupt(); }) {}

  StoreClient& store() { return *store_; }

 private:
  static ReconnectOptions Reconnect(Console& console) {
    ReconnectOptions reconnect;
    reconnect.timeout = kShortReconnectTimeout;
    reconnect.on_unreachable = [&console](const absl::Status& status) {
      console.Note(absl::StrCat("the store does not answer; trying again: ", ErrorLine(status)));
    };
    return reconnect;
  }

  const std::unique_ptr<StoreClient> store_;
  const OnInterrupt on_interrupt_;
};

template <typename Message>
void Print(const Message& message, const std::string& text, Console& console) {
  console.Result(console.json() ? MessageJson(message) + "\n" : text);
}

// Whether a collection leaves the datasets of jobs whole. FAILED_PRECONDITION: it may not, and of
// which it does not; or the coordinator cannot be asked.
absl::Status CheckDatasets(const ClusterAddress& address, StoreClient& store,
                           rpc::TerminationSignal& signal, Console& console) {
  const std::unique_ptr<Cluster> cluster =
      Connect(address, kShortReconnectTimeout, signal, console);
  const absl::StatusOr<std::vector<v1::JobStatus>> jobs = cluster->jobs().ListJobs();
  if (absl::IsCancelled(jobs.status())) return jobs.status();
  if (!jobs.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("nothing was dropped: the coordinator ", address.coordinator,
                     " could not be asked which datasets are kept (", ErrorLine(jobs.status()),
                     "); --yes drops what nobody holds all the same"));
  }
  ASSIGN_OR_RETURN(const std::vector<LooseDataset> loose,
                   LooseDatasets(*jobs, cluster->store(), store));
  if (loose.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("nothing was dropped: nobody holds all of ", LooseText(loose),
                   "; a coordinator with --store holds them, and --yes drops them all the same"));
}

absl::StatusOr<int> Prune(StoreClient& store, const PruneOptions& prune, Console& console) {
  ASSIGN_OR_RETURN(const v1::PruneBackupsResponse response,
                   store.PruneBackups(prune.keep, prune.max_age));
  Print(response, PruneText(response), console);
  return kDone;
}

}  // namespace

absl::StatusOr<int> StoreStat(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                              Console& console) {
  Connection connection(cluster, signal, console);
  ASSIGN_OR_RETURN(const v1::StatResponse stat, connection.store().Stat());
  Print(stat, StatText(stat), console);
  return kDone;
}

absl::StatusOr<int> StoreVerify(const ClusterAddress& cluster, bool drop_damaged,
                                rpc::TerminationSignal& signal, Console& console) {
  Connection connection(cluster, signal, console);
  ASSIGN_OR_RETURN(const v1::StatResponse whole, connection.store().Stat());
  absl::StatusOr<v1::VerifyProgress> last =
      connection.store().Verify(drop_damaged, [&](const v1::VerifyProgress& progress) {
        console.Progress(console.json() ? MessageJson(progress) : VerifyLine(progress, whole));
      });
  console.EndProgress();
  RETURN_IF_ERROR(last.status());
  Print(*last, VerifyText(*last, drop_damaged), console);
  return last->damaged().empty() ? kDone : kInputsFailed;
}

absl::StatusOr<int> StoreCollectGarbage(const ClusterAddress& cluster,
                                        const GarbageOptions& options,
                                        rpc::TerminationSignal& signal, Console& console) {
  Connection connection(cluster, signal, console);
  if (!options.yes) {
    ASSIGN_OR_RETURN(const v1::CollectGarbageResponse told,
                     connection.store().CollectGarbage(options.target_bytes, /*dry_run=*/true));
    if (told.dropped_blobs() > 0) {
      RETURN_IF_ERROR(CheckDatasets(cluster, connection.store(), signal, console));
    }
  }
  ASSIGN_OR_RETURN(const v1::CollectGarbageResponse response,
                   connection.store().CollectGarbage(options.target_bytes, /*dry_run=*/false));
  Print(response, GarbageText(response), console);
  return kDone;
}

absl::StatusOr<int> StoreForget(const ClusterAddress& cluster, const ForgetOptions& options,
                                rpc::TerminationSignal& signal, Console& console) {
  v1::ForgetResultsRequest request;
  request.set_stage(options.stage);
  request.set_version(options.version);
  request.set_worker(options.worker);
  request.set_dry_run(options.dry_run);
  Connection connection(cluster, signal, console);
  ASSIGN_OR_RETURN(const v1::ForgetResultsResponse response,
                   connection.store().ForgetResults(request));
  Print(response, ForgetText(response, options.dry_run), console);
  return kDone;
}

absl::StatusOr<int> StoreBackup(const ClusterAddress& cluster, const std::string& name,
                                const PruneOptions& prune, rpc::TerminationSignal& signal,
                                Console& console) {
  Connection connection(cluster, signal, console);
  ASSIGN_OR_RETURN(const v1::BackupResponse response, connection.store().Backup(name));
  Print(response, BackupText(response), console);
  if (prune.keep == 0 && prune.max_age == absl::ZeroDuration()) return kDone;
  return Prune(connection.store(), prune, console);
}

absl::StatusOr<int> StorePrune(const ClusterAddress& cluster, const PruneOptions& prune,
                               rpc::TerminationSignal& signal, Console& console) {
  Connection connection(cluster, signal, console);
  return Prune(connection.store(), prune, console);
}

absl::StatusOr<int> StoreRestore(const std::string& backup_dir, const std::string& data_dir,
                                 Console& console) {
  RETURN_IF_ERROR(Annotate(store::StoreServer::Restore(backup_dir, data_dir), "restore"));
  console.Result(console.json() ? JsonLine({{"restored", data_dir}, {"from", backup_dir}})
                                : absl::StrCat(data_dir, "  restored from ", backup_dir, "\n"));
  return kDone;
}

}  // namespace kernelmill::client
