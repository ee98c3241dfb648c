// Connections to a cluster, and the way an interrupt reaches them. A thread of OnInterrupt waits
// for the signal and calls Interrupt on the client. Calls on jobs then end at once; of the store's
// calls the next one returns CANCELLED.

#include "client/commands/cluster.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/watch.h"
#include "common/base/status.h"
#include "common/cas/grpc_blob_store.h"
#include "common/rpc/server.h"

namespace kernelmill::client {
namespace {

constexpr absl::Duration kSignalPoll = absl::Milliseconds(50);

// A store whose calls return CANCELLED after an interrupt. Keeps references to both.
class InterruptibleStore : public cas::BlobStore {
 public:
  InterruptibleStore(cas::BlobStore& store, const OnInterrupt& interrupt)
      : store_(store), interrupt_(interrupt) {}

  absl::StatusOr<std::vector<cas::Digest>> FindMissing(
      const std::vector<cas::Digest>& digests) override {
    RETURN_IF_ERROR(Check());
    return store_.FindMissing(digests);
  }

  absl::Status Put(const std::vector<cas::Blob>& blobs) override {
    RETURN_IF_ERROR(Check());
    return store_.Put(blobs);
  }

  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override {
    RETURN_IF_ERROR(Check());
    return store_.Get(digests);
  }

  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override {
    RETURN_IF_ERROR(Check());
    return store_.GetActionResult(action);
  }

  absl::Status PutActionResult(const cas::Digest& action,
                               const cas::ActionResult& result) override {
    RETURN_IF_ERROR(Check());
    return store_.PutActionResult(action, result);
  }

 private:
  // Called before each call; a call that runs is not ended.
  absl::Status Check() const {
    return interrupt_.came() ? absl::CancelledError("interrupted") : absl::OkStatus();
  }

  cas::BlobStore& store_;
  const OnInterrupt& interrupt_;
};

}  // namespace

OnInterrupt::OnInterrupt(rpc::TerminationSignal& signal, std::function<void()> call)
    : thread_([this, &signal, call = std::move(call)] {
        while (!done_) {
          if (!signal.WaitFor(kSignalPoll)) continue;
          // Set before the call: a store call that begins after it already returns CANCELLED.
          came_ = true;
          call();
          return;
        }
      }) {}

OnInterrupt::~OnInterrupt() {
  // The thread notices it within kSignalPoll.
  done_ = true;
  thread_.join();
}

ReconnectOptions ReconnectShortly(const char* server, Console& console) {
  ReconnectOptions reconnect;
  reconnect.timeout = kShortReconnectTimeout;
  reconnect.on_unreachable = [&console, server](const absl::Status& status) {
    console.Note(
        absl::StrCat("the ", server, " does not answer; trying again: ", ErrorLine(status)));
  };
  return reconnect;
}

std::string ClusterFlags(const ClusterAddress& address) {
  const ClusterAddress usual;
  std::string flags;
  const auto add = [&flags](absl::string_view flag, const std::string& value,
                            const std::string& initial) {
    if (value != initial) absl::StrAppend(&flags, " ", flag, " ", ShellWord(value));
  };
  add("--coordinator", address.coordinator, usual.coordinator);
  add("--store", address.store, usual.store);
  add("--tls-ca", address.identity.authority, "");
  add("--tls-cert", address.identity.certificate, "");
  add("--tls-key", address.identity.key, "");
  add("--token-file", address.identity.token, "");
  return flags;
}

Cluster::Cluster(std::unique_ptr<CrawlClient> jobs, std::unique_ptr<cas::BlobStore> store,
                 bool is_embedded, std::string flags, rpc::TerminationSignal& signal)
    : jobs_(std::move(jobs)),
      store_(std::move(store)),
      is_embedded_(is_embedded),
      flags_(std::move(flags)),
      on_interrupt_(signal, [this] { jobs_->Interrupt(); }),
      interruptible_store_(std::make_unique<InterruptibleStore>(*store_, on_interrupt_)) {}

Cluster::~Cluster() = default;

std::unique_ptr<Cluster> Connect(const ClusterAddress& address, absl::Duration reconnect_timeout,
                                 rpc::TerminationSignal& signal, Console& console) {
  const absl::Duration timeout = std::min(reconnect_timeout, address.reconnect_timeout);
  ReconnectOptions reconnect;
  reconnect.timeout = timeout;
  reconnect.on_unreachable = [&console, timeout](const absl::Status& status) {
    const bool silent = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
    console.Note(absl::StrCat("the coordinator ", silent ? "does not answer" : "is not ready",
                              "; trying for ", absl::FormatDuration(timeout), ": ",
                              ErrorLine(status)));
  };
  cas::GrpcBlobStoreOptions store;
  // No limit of attempts: the time ends the tries, as for the coordinator. A signal ends a pause at
  // once.
  store.retry.max_attempts = 0;
  store.retry.max_time = timeout;
  store.sleep = [&signal](absl::Duration pause) {
    return signal.WaitFor(pause) ? absl::CancelledError("interrupted") : absl::OkStatus();
  };
  return std::make_unique<Cluster>(
      NewCrawlClient(rpc::Connect(address.coordinator, address.credentials), std::move(reconnect)),
      cas::NewGrpcBlobStore(rpc::Connect(address.store, address.credentials), std::move(store)),
      /*is_embedded=*/false, ClusterFlags(address), signal);
}

std::unique_ptr<Cluster> Connect(EmbeddedCluster& embedded, rpc::TerminationSignal& signal) {
  // The servers run in this process, so there is nothing to reconnect to.
  return std::make_unique<Cluster>(NewCrawlClient(embedded.coordinator()), embedded.NewBlobStore(),
                                   /*is_embedded=*/true, /*flags=*/"", signal);
}

absl::StatusOr<v1::JobStatus> GetFinishedJob(CrawlClient& jobs, const std::string& job) {
  ASSIGN_OR_RETURN(v1::JobStatus status, jobs.GetJob(job));
  if (status.state() == v1::JOB_STATE_DONE) return status;
  return absl::FailedPreconditionError(
      absl::StrCat("job ", job, " has no dataset", HasEnded(status) ? "" : " yet"));
}

absl::Status WithRetryHint(const absl::Status& status, const std::string& job,
                           const std::string& flags) {
  if (!absl::IsNotFound(status)) return status;
  return absl::NotFoundError(
      absl::StrCat(status.message(), "; the store lost a part of the dataset: `kernelmill retry ",
                   job.empty() ? "JOB" : job, flags, "` rebuilds it"));
}

}  // namespace kernelmill::client
