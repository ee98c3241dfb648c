#include "services/validator/server/validator_stages.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/validate.h"

namespace kernelmill::validator {
namespace {

template <typename Message>
absl::StatusOr<Message> ReadInput(const v1::Action& action, absl::string_view name,
                                  cas::BlobStore& store) {
  ASSIGN_OR_RETURN(const cas::Digest digest, worker::InputNamed(action, name));
  return cas::GetMessage<Message>(store, digest);
}

class ValidateStage : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kValidate; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    if (!action.params().has_validate()) {
      return absl::InvalidArgumentError("validate: the action has no parameters of this stage");
    }
    ASSIGN_OR_RETURN(const auto kernels, ReadInput<v1::KernelShard>(action, "kernels", store));
    ASSIGN_OR_RETURN(const auto files, ReadInput<v1::FileShard>(action, "files", store));
    ASSIGN_OR_RETURN(const auto tree, ReadInput<v1::SourceTree>(action, "tree", store));
    ASSIGN_OR_RETURN(const v1::VerdictShard verdicts,
                     Validate(kernels, files, tree, action.params().validate()));
    ASSIGN_OR_RETURN(const cas::Digest digest, cas::PutMessage(store, verdicts));
    v1::StageResult result;
    worker::AddOutput(result, "verdicts", digest, verdicts.verdicts_size());
    for (const auto& [counter, value] : CountVerdicts(verdicts)) {
      worker::AddCounter(result, counter, value);
    }
    return result;
  }
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewValidatorStages() {
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(std::make_unique<ValidateStage>());
  return stages;
}

}  // namespace kernelmill::validator
