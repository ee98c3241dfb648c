// The stage validate: decodes the shards of an action, calls Validate and stores the verdicts. The
// metric counts where licences were found, since a change there is the first sign that the finder
// or the sources changed.
#include "services/validator/server/validator_stages.h"

#include <prometheus/counter.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/metrics/metrics.h"
#include "kernelmill/v1/compile.pb.h"
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

constexpr const char* kLicensePlaces[] = {"tag",      "header", "annotation", "file",
                                          "metadata", "job",    "unknown"};

// Returns the place of the licence: the first word of its evidence, "tag" for "spdx-tag".
const char* LicensePlace(const v1::License& license) {
  if (license.expression() == "NOASSERTION") return "unknown";
  const absl::string_view evidence = license.evidence();
  const absl::string_view word =
      absl::StripPrefix(evidence.substr(0, evidence.find_first_of(":+")), "spdx-");
  for (const char* const place : kLicensePlaces) {
    if (word == place) return place;
  }
  return "unknown";
}

void CountLicenses(const v1::VerdictShard& verdicts) {
  std::map<absl::string_view, int64_t> by_place;  // looking up a metric takes longer than a kernel
  for (const v1::Verdict& verdict : verdicts.verdicts()) {
    if (verdict.kind() == kFileKind) continue;
    ++by_place[LicensePlace(verdict.license())];
  }
  for (const auto& [place, kernels] : by_place) {
    metrics::Counter(metrics::kLicenses, {{"kind", std::string(place)}})
        .Increment(static_cast<double>(kernels));
  }
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
    std::optional<v1::CompiledShard> compiled;  // in parts, if the compile task was split
    for (const cas::Digest& part : worker::InputsNamed(action, "compiled")) {
      ASSIGN_OR_RETURN(const auto said, cas::GetMessage<v1::CompiledShard>(store, part));
      if (!compiled) compiled.emplace();
      compiled->MergeFrom(said);
    }
    ASSIGN_OR_RETURN(const v1::VerdictShard verdicts,
                     Validate(kernels, files, tree, action.params().validate(),
                              compiled ? &*compiled : nullptr));
    ASSIGN_OR_RETURN(const cas::Digest digest, cas::PutMessage(store, verdicts));
    v1::StageResult result;
    worker::AddOutput(result, "verdicts", digest, verdicts.verdicts_size());
    for (const auto& [counter, value] : CountVerdicts(verdicts)) {
      worker::AddCounter(result, counter, value);
    }
    CountLicenses(verdicts);
    return result;
  }
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewValidatorStages() {
  metrics::Prefill(metrics::kLicenses,
                   {{"kind", {std::begin(kLicensePlaces), std::end(kLicensePlaces)}}});
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(std::make_unique<ValidateStage>());
  return stages;
}

}  // namespace kernelmill::validator
