#ifndef KERNELMILL_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_
#define KERNELMILL_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cas/blob_store.h"
#include "common/worker/stage.h"

namespace grpc {
class Channel;
class Service;
}  // namespace grpc

namespace kernelmill::rpc {
class Server;
}

namespace kernelmill::compiler {
class Compiler;
}

namespace kernelmill::client {

// The compilers of this machine, for use in this process.
struct EmbeddedCompilerOptions {
  std::string folder;  // the folder of the installed toolchains
  std::vector<std::string>
      toolchains;                  // the names of the toolchains to use; empty: all pinned ones
  bool unsafe_no_sandbox = false;  // run untrusted modules without a sandbox, as this user
};

// A device of this machine, for use in this process.
struct EmbeddedRunnerOptions {
  std::string python;  // as kernelmill-runner takes it
  std::string device;
  bool unsafe_no_sandbox = false;  // run untrusted modules without a sandbox, as this user
};

// A whole cluster in this process: the store, the coordinator and every stage. They talk over the
// same gRPC services as the seven programs, on Unix sockets that only this user can open; stages
// read and write blobs without calls. This is
// the only class that knows several services. Thread-safe.
class EmbeddedCluster {
 public:
  struct Options {
    std::string data_dir;                  // created if missing; kept for the next run
    int workers = 1;                       // the number of tasks that run at once
    std::vector<std::string> allow_hosts;  // as HostPolicy::Rules; empty: all
    std::string package_index;             // the index of Python packages; empty: pip's default
    std::string github_api;                // the REST API's URL; empty: GitHub's own
    std::string github_token_file;         // empty: no token
    absl::Duration command_timeout = absl::Minutes(15);  // for one git command, download or search
    // Called once, from any thread, when tasks have waited for a minute for room in data_dir. May
    // be null: they wait until somebody makes room.
    std::function<void(const absl::Status&)> on_full = nullptr;
    // Without compilers a job that compiles waits forever.
    std::optional<EmbeddedCompilerOptions> compiler = std::nullopt;
    // Without the device a job that runs kernels on it waits forever.
    std::optional<EmbeddedRunnerOptions> runner = std::nullopt;
  };

  // INVALID_ARGUMENT: an entry of allow_hosts. FAILED_PRECONDITION: another process has data_dir
  // open, or a newer program wrote it; or a toolchain, the device or the sandbox is missing, which
  // is checked first.
  static absl::StatusOr<std::unique_ptr<EmbeddedCluster>> Start(const Options& options);
  // Stops everything, and waits for the running stages.
  ~EmbeddedCluster();

  // Leases no more tasks, waits for the running stages, and after `grace` returns their tasks to
  // the coordinator. Then stops every service, clients before their servers. Returns false if
  // stages still run; this object must then live until they end. Call once.
  bool Stop(absl::Duration grace);

  std::shared_ptr<grpc::Channel> coordinator();
  std::shared_ptr<grpc::Channel> store();

  // A stage of this cluster and the store it works on, for a call without a job.
  worker::Stage& stage(worker::StageId id);
  cas::BlobStore& blobs();
  // Another client of that store. This must outlive it.
  std::unique_ptr<cas::BlobStore> NewBlobStore();

 private:
  struct Parts;
  explicit EmbeddedCluster(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The Extractor and the Validator service in this process, for single calls without a cluster. It
// also has the Deduplicator service if a store is given, and the Compiler service if compilers are
// given. Thread-safe.
class EmbeddedServices {
 public:
  // `store` may be null, and must outlive the object. FAILED_PRECONDITION: a toolchain or the
  // sandbox is missing.
  static absl::StatusOr<std::unique_ptr<EmbeddedServices>> Start(
      cas::BlobStore* store = nullptr,
      const std::optional<EmbeddedCompilerOptions>& compiler = std::nullopt);
  ~EmbeddedServices();

  std::shared_ptr<grpc::Channel> channel();

 private:
  EmbeddedServices(cas::BlobStore* store, std::unique_ptr<compiler::Compiler> compiler);

  const std::unique_ptr<compiler::Compiler> compiler_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<rpc::Server> server_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_
