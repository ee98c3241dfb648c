#ifndef KERNELMILL_CLIENT_COMMANDS_CLUSTER_H_
#define KERNELMILL_CLIENT_COMMANDS_CLUSTER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/commands/console.h"
#include "client/embedded/embedded_cluster.h"
#include "client/grpc/crawl_client.h"
#include "common/access/credentials.h"
#include "common/cas/blob_store.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

// A watcher for SIGINT and SIGTERM: calls a function once, on a thread of its own, when a signal
// arrives during its lifetime.
class OnInterrupt {
 public:
  OnInterrupt(rpc::TerminationSignal& signal, std::function<void()> call);
  ~OnInterrupt();

  bool came() const { return came_; }

 private:
  std::atomic<bool> done_{false};
  std::atomic<bool> came_{false};
  std::thread thread_;
};

// The addresses of a cluster, and the credentials for it.
struct ClusterAddress {
  std::string coordinator = "127.0.0.1:7070";
  std::string store = "127.0.0.1:7071";
  access::Identity identity;                              // the files of the credentials
  std::shared_ptr<grpc::ChannelCredentials> credentials;  // for both; null: no TLS
  absl::Duration reconnect_timeout = absl::Seconds(60);
};

// Returns the flags with which another command reaches the cluster, " --coordinator host:1 --tls-ca
// ca.pem", without those that have their defaults.
std::string ClusterFlags(const ClusterAddress& address);

// The limit for commands that do not wait for a job.
inline constexpr absl::Duration kShortReconnectTimeout = absl::Seconds(10);

// Tries for kShortReconnectTimeout, and notes that `server` ("store") does not answer.
ReconnectOptions ReconnectShortly(const char* server, Console& console);

// A connection to a cluster, in this process or elsewhere. A signal ends its calls. Thread-safe.
class Cluster {
 public:
  // `flags`: as ClusterFlags; empty for one in this process.
  Cluster(std::unique_ptr<CrawlClient> jobs, std::unique_ptr<cas::BlobStore> store,
          bool is_embedded, std::string flags, rpc::TerminationSignal& signal);
  ~Cluster();

  CrawlClient& jobs() { return *jobs_; }
  cas::BlobStore& store() { return *interruptible_store_; }
  bool is_embedded() const { return is_embedded_; }  // runs in this process
  const std::string& flags() const { return flags_; }
  bool is_interrupted() const { return on_interrupt_.came(); }

 private:
  const std::unique_ptr<CrawlClient> jobs_;
  const std::unique_ptr<cas::BlobStore> store_;
  const bool is_embedded_;
  const std::string flags_;
  const OnInterrupt on_interrupt_;
  const std::unique_ptr<cas::BlobStore> interruptible_store_;
};

// Connects to a cluster elsewhere. Never fails; calls fail once the cluster stays out of reach for
// the shorter of `reconnect_timeout` and the address's. The console gets one note about that.
std::unique_ptr<Cluster> Connect(const ClusterAddress& address, absl::Duration reconnect_timeout,
                                 rpc::TerminationSignal& signal, Console& console);
// Connects to the cluster in this process, which must outlive the connection.
std::unique_ptr<Cluster> Connect(EmbeddedCluster& embedded, rpc::TerminationSignal& signal);

// Returns the status of a job that has a dataset. FAILED_PRECONDITION: the job has no dataset, or
// is still running.
absl::StatusOr<v1::JobStatus> GetFinishedJob(CrawlClient& jobs, const std::string& job);

// Returns an error of a command that reads a dataset; if the store lost a part of it, with the
// command that rebuilds it. `job` may be empty if it is unknown; `flags` as ClusterFlags.
absl::Status WithRetryHint(const absl::Status& status, const std::string& job,
                           const std::string& flags);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_CLUSTER_H_
