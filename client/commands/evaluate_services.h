#ifndef KERNELMILL_CLIENT_COMMANDS_EVALUATE_SERVICES_H_
#define KERNELMILL_CLIENT_COMMANDS_EVALUATE_SERVICES_H_

#include <grpcpp/channel.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/embedded/embedded_cluster.h"
#include "client/evaluate/kernel_services.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/stages.grpc.pb.h"

namespace kernelmill::client {

// Which dataset memorised text is looked for in.
struct TrainedOn {
  std::string folder;  // that an export wrote: its rows of the split train
  std::optional<cas::Digest>
      dataset;             // or of the deduplicator's store: what was kept, and its copies
  double threshold = 0.7;  // how similar at least, over 0 to 1
};

// What `kernelmill evaluate` asks of the stages, in this process.
class EvaluateServices final : public KernelServices {
 public:
  // `services` outlives it. `compiler` is where v1::Compiler is served; null: nothing is compiled.
  EvaluateServices(EmbeddedServices& services, std::shared_ptr<grpc::Channel> compiler,
                   TrainedOn trained_on);

  absl::StatusOr<v1::KernelShard> Extract(const v1::ExtractRequest& request) override;
  absl::StatusOr<v1::VerdictShard> Validate(const v1::ValidateRequest& request) override;
  absl::StatusOr<v1::CompiledShard> Compile(const v1::CompileRequest& request) override;
  absl::StatusOr<int> FirstErrorLine(const std::string& text) override;
  absl::StatusOr<ShingleOverlap> Compare(const std::string& text,
                                         const std::string& reference) override;
  absl::StatusOr<std::vector<std::optional<DatasetMatch>>> FindInDataset(
      const std::vector<v1::Kernel>& kernels) override;

 private:
  absl::StatusOr<std::vector<std::optional<DatasetMatch>>> FindInStore(
      const std::vector<v1::Kernel>& kernels);

  const std::unique_ptr<v1::Extractor::Stub> extractor_;
  const std::unique_ptr<v1::Validator::Stub> validator_;
  const std::unique_ptr<v1::Deduplicator::Stub> deduplicator_;
  const std::unique_ptr<v1::Compiler::Stub> compiler_;
  const TrainedOn trained_on_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_EVALUATE_SERVICES_H_
