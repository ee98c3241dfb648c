#ifndef KERNELMILL_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_
#define KERNELMILL_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cas/blob_store.h"

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

// The compilers of this machine, in this process.
struct EmbeddedCompilerOptions {
  std::string folder;                   // of the installed toolchains
  std::vector<std::string> toolchains;  // the names of those that are used; empty: all pinned
  bool unsafe_no_sandbox = false;       // strangers' modules run unconfined, as this user
};

// A whole cluster in this process: the store, the coordinator and every stage, wired to each other
// by the same gRPC services as the seven programs, over sockets that this user alone can reach. The
// one place that knows several services. Thread-safe.
class EmbeddedCluster {
 public:
  struct Options {
    std::string data_dir;           // made if it is not there; kept, so that the next run is warm
    int workers = 1;                // tasks at a time
    std::string package_index;      // of Python packages; empty: what pip would use
    std::string github_api;         // the REST API's URL; empty: GitHub's own
    std::string github_token_file;  // with a token for it; empty: none
    // Without one a job that compiles waits for ever.
    std::optional<EmbeddedCompilerOptions> compiler = std::nullopt;
  };

  // FAILED_PRECONDITION: another process has data_dir open, or a newer program wrote it; or a
  // toolchain is not installed, or this machine cannot confine compilers, which is found before
  // anything else is begun.
  static absl::StatusOr<std::unique_ptr<EmbeddedCluster>> Start(const Options& options);
  // Stops everything, and waits for the stages that run.
  ~EmbeddedCluster();

  // Leases nothing more, waits for the stages that run, and after `grace` hands their tasks back.
  // Then stops every service, the clients of others first. False: some stages still run, and this
  // object cannot go until they end. Call once.
  bool Stop(absl::Duration grace);

  std::shared_ptr<grpc::Channel> coordinator();
  std::shared_ptr<grpc::Channel> store();

 private:
  struct Parts;
  explicit EmbeddedCluster(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The Extractor and the Validator service in this process, for single calls without a cluster; and
// the Deduplicator service where there is a store that it can search, and the Compiler service
// where there are toolchains. Thread-safe.
class EmbeddedServices {
 public:
  // FAILED_PRECONDITION: of the toolchains, as above.
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
