#ifndef KERNELMILL_SERVICES_CLI_COMMANDS_CLUSTER_H_
#define KERNELMILL_SERVICES_CLI_COMMANDS_CLUSTER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cas/blob_store.h"
#include "common/rpc/server.h"
#include "services/cli/commands/console.h"
#include "services/cli/commands/interrupt.h"
#include "services/cli/core/crawl_client.h"
#include "services/cli/embedded/embedded_cluster.h"

namespace kernelmill::cli {

// Where a cluster is.
struct ClusterAddress {
  std::string coordinator = "127.0.0.1:7070";
  std::string store = "127.0.0.1:7071";
  absl::Duration reconnect_for = absl::Seconds(60);
};

// How long a command that asks and answers at once tries to.
inline constexpr absl::Duration kShortPatience = absl::Seconds(10);

// What commands need of a cluster, wherever it runs, until a signal ends it. Thread-safe.
class Cluster {
 public:
  Cluster(std::unique_ptr<CrawlClient> jobs, std::unique_ptr<cas::BlobStore> store,
          rpc::TerminationSignal& signal);

  CrawlClient& jobs() { return *jobs_; }
  cas::BlobStore& store() { return interruptible_; }

 private:
  const std::unique_ptr<CrawlClient> jobs_;
  const std::unique_ptr<cas::BlobStore> store_;
  const Interrupt interrupt_;
  InterruptibleStore interruptible_;
};

// One elsewhere; never fails: calls do. Says so once on the console when the coordinator is away.
std::unique_ptr<Cluster> Connect(const ClusterAddress& address, absl::Duration patience,
                                 rpc::TerminationSignal& signal, Console& console);
// The one in this process, which must outlive it.
std::unique_ptr<Cluster> Connect(EmbeddedCluster& embedded, rpc::TerminationSignal& signal);

// The status of a job that has a dataset. FAILED_PRECONDITION: it has none, or none yet.
absl::StatusOr<v1::JobStatus> FinishedJob(CrawlClient& jobs, const std::string& job);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_COMMANDS_CLUSTER_H_
