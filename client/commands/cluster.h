#ifndef KERNELMILL_CLIENT_COMMANDS_CLUSTER_H_
#define KERNELMILL_CLIENT_COMMANDS_CLUSTER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/commands/console.h"
#include "client/embedded/embedded_cluster.h"
#include "client/grpc/crawl_client.h"
#include "common/cas/blob_store.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

// Calls a function once when SIGINT or SIGTERM comes, on a thread of its own, for as long as it
// lives.
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

// Where a cluster is.
struct ClusterAddress {
  std::string coordinator = "127.0.0.1:7070";
  std::string store = "127.0.0.1:7071";
  std::shared_ptr<grpc::ChannelCredentials> credentials;  // towards both; null without TLS
  absl::Duration reconnect_timeout = absl::Seconds(60);
};

// Of a command that asks and answers at once.
inline constexpr absl::Duration kShortReconnectTimeout = absl::Seconds(10);

// What commands need of a cluster, wherever it runs, until a signal ends it. Thread-safe.
class Cluster {
 public:
  Cluster(std::unique_ptr<CrawlClient> jobs, std::unique_ptr<cas::BlobStore> store,
          bool is_embedded, rpc::TerminationSignal& signal);
  ~Cluster();

  CrawlClient& jobs() { return *jobs_; }
  cas::BlobStore& store() { return *interruptible_store_; }
  bool is_embedded() const { return is_embedded_; }  // runs in this process

 private:
  const std::unique_ptr<CrawlClient> jobs_;
  const std::unique_ptr<cas::BlobStore> store_;
  const bool is_embedded_;
  const OnInterrupt on_interrupt_;
  const std::unique_ptr<cas::BlobStore> interruptible_store_;
};

// One elsewhere; never fails: calls do, once it stays out of reach for `reconnect_timeout` and the
// address's. Says so once on the console.
std::unique_ptr<Cluster> Connect(const ClusterAddress& address, absl::Duration reconnect_timeout,
                                 rpc::TerminationSignal& signal, Console& console);
// The one in this process, which must outlive it.
std::unique_ptr<Cluster> Connect(EmbeddedCluster& embedded, rpc::TerminationSignal& signal);

// The status of a job that has a dataset. FAILED_PRECONDITION: it has none, or none yet.
absl::StatusOr<v1::JobStatus> FinishedJob(CrawlClient& jobs, const std::string& job);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_CLUSTER_H_
