#include "services/cli/commands/cluster.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/grpc_blob_store.h"
#include "common/rpc/server.h"
#include "services/cli/adapters/grpc/grpc_crawl_client.h"
#include "services/cli/core/outcome.h"
#include "services/cli/core/watch.h"

namespace kernelmill::cli {

Cluster::Cluster(std::unique_ptr<CrawlClient> jobs, std::unique_ptr<cas::BlobStore> store,
                 rpc::TerminationSignal& signal)
    : jobs_(std::move(jobs)),
      store_(std::move(store)),
      interrupt_(signal, [this] { jobs_->Interrupt(); }),
      interruptible_(*store_, interrupt_) {}

std::unique_ptr<Cluster> Connect(const ClusterAddress& address, absl::Duration patience,
                                 rpc::TerminationSignal& signal, Console& console) {
  Patience patient;
  patient.time = std::min(patience, address.reconnect_for);
  patient.on_away = [&console, time = patient.time](const absl::Status& status) {
    const bool away = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
    console.Note(absl::StrCat("the coordinator ", away ? "does not answer" : "is not ready",
                              "; trying for ", absl::FormatDuration(time), ": ",
                              ErrorLine(status)));
  };
  cas::GrpcBlobStoreOptions store;
  store.retry.max_attempts = 0;
  store.retry.max_time = patient.time;
  store.sleep = [&signal](absl::Duration pause) {
    return signal.WaitFor(pause) ? absl::CancelledError("interrupted") : absl::OkStatus();
  };
  return std::make_unique<Cluster>(
      NewGrpcCrawlClient(rpc::Connect(address.coordinator), std::move(patient)),
      cas::NewGrpcBlobStore(rpc::Connect(address.store), std::move(store)), signal);
}

std::unique_ptr<Cluster> Connect(EmbeddedCluster& embedded, rpc::TerminationSignal& signal) {
  return std::make_unique<Cluster>(NewGrpcCrawlClient(embedded.coordinator()),
                                   cas::NewGrpcBlobStore(embedded.store(), {}), signal);
}

absl::StatusOr<v1::JobStatus> FinishedJob(CrawlClient& jobs, const std::string& job) {
  ASSIGN_OR_RETURN(v1::JobStatus status, jobs.GetJob(job));
  if (status.state() == v1::JOB_STATE_DONE) return status;
  return absl::FailedPreconditionError(
      absl::StrCat("job ", job, " has no dataset", HasEnded(status) ? "" : " yet"));
}

}  // namespace kernelmill::cli
