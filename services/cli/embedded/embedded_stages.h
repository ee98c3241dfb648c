#ifndef KERNELMILL_SERVICES_CLI_EMBEDDED_EMBEDDED_STAGES_H_
#define KERNELMILL_SERVICES_CLI_EMBEDDED_EMBEDDED_STAGES_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"

namespace grpc {
class Channel;
class Service;
}  // namespace grpc

namespace kernelmill::rpc {
class Server;
}

namespace kernelmill::cli {

// The Extractor and the Validator service in this process, without a cluster; and the Deduplicator
// service where there is a store that it can search. Thread-safe.
class EmbeddedStages {
 public:
  static absl::StatusOr<std::unique_ptr<EmbeddedStages>> Start(cas::BlobStore* store = nullptr);
  ~EmbeddedStages();

  std::shared_ptr<grpc::Channel> channel();

 private:
  explicit EmbeddedStages(cas::BlobStore* store);

  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<rpc::Server> server_;
};

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_EMBEDDED_EMBEDDED_STAGES_H_
