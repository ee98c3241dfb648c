#include "services/compiler/server/compiler_stages.h"

#include <stop_token>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/blob_store.h"
#include "common/toolchains/toolchains.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/compile_kernels.h"
#include "services/compiler/server/compiler_metrics.h"

namespace kernelmill::compiler {
namespace {

// Of the texts in one blob: what a worker and an export hold of them at a time.
constexpr size_t kShardBytes = 4u << 20;

// As many IrShards as the texts need, in their order.
absl::Status PutTexts(std::vector<v1::IrText> texts, cas::BlobStore& store,
                      v1::StageResult& result) {
  v1::IrShard shard;
  size_t bytes = 0;
  const auto put = [&]() -> absl::Status {
    if (shard.texts_size() == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(const cas::Digest digest, cas::PutMessage(store, shard));
    worker::AddOutput(result, "ir", digest, shard.texts_size());
    shard.clear_texts();
    bytes = 0;
    return absl::OkStatus();
  };
  for (v1::IrText& text : texts) {
    if (bytes + text.text().size() > kShardBytes) RETURN_IF_ERROR(put());
    bytes += text.text().size();
    *shard.add_texts() = std::move(text);
  }
  return put();
}

// compile.TOOLCHAIN.TARGET.STATUS and compile.not_attempted.REASON; a kernel is in one of the
// latter, or in one of the former for each toolchain and target.
void AddCounters(const v1::CompiledShard& compiled, v1::StageResult& result) {
  for (const v1::CompiledKernel& kernel : compiled.kernels()) {
    if (!kernel.not_attempted().empty()) {
      worker::AddCounter(result, absl::StrCat("compile.not_attempted.", kernel.not_attempted()), 1);
    }
    for (const v1::CompileResult& one : kernel.results()) {
      worker::AddCounter(result,
                         absl::StrCat("compile.", one.toolchain(), ".", one.target(), ".",
                                      StatusName(one.status())),
                         1);
    }
  }
}

// A program of another build pins other wheels under the same name: what those say is another
// action's result.
absl::Status CheckPins(const v1::CompileParams& params) {
  for (const v1::Toolchain& wanted : params.toolchains()) {
    const toolchains::PinnedToolchain* const pinned = toolchains::FindToolchain(wanted.name());
    if (pinned != nullptr && pinned->requirements_sha256 == wanted.requirements_sha256()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("compile: the action's ", wanted.name(), " has the requirements ",
                     wanted.requirements_sha256(), ", this compiler's ",
                     pinned == nullptr ? "none" : pinned->requirements_sha256,
                     ": the coordinator and this compiler are of different builds"));
  }
  return absl::OkStatus();
}

// Leaves the kernels of the action's part.
absl::Status TakePart(const v1::CompileParams& params, v1::KernelShard& kernels) {
  if (params.count() == 0) return absl::OkStatus();
  const int size = kernels.kernels_size();
  if (params.first() < 0 || params.count() < 0 || params.first() > size - params.count()) {
    return absl::InvalidArgumentError(absl::StrCat("compile: the kernels from ", params.first(),
                                                   ", ", params.count(), " of ", size));
  }
  const int end = params.first() + params.count();
  kernels.mutable_kernels()->DeleteSubrange(end, size - end);
  kernels.mutable_kernels()->DeleteSubrange(0, params.first());
  return absl::OkStatus();
}

void AddQuarantined(const v1::KernelShard& kernels, v1::StageResult& result) {
  for (const v1::Kernel& kernel : kernels.kernels()) {
    v1::FileFailure& failure = *result.add_failures();
    failure.set_path(kernel.path());
    failure.set_reason(ToUtf8(kernel.name()));
  }
}

// "kernels" -> "compiled", and "ir" as often as there is text to keep.
class CompileStage : public worker::Stage {
 public:
  CompileStage(Compiler& compiler, int workers) : compiler_(compiler), workers_(workers) {}
  worker::StageId id() const override { return worker::StageId::kCompile; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    return RunUntil(action, store, {});
  }

  absl::StatusOr<v1::StageResult> RunUntil(const v1::Action& action, cas::BlobStore& store,
                                           const std::stop_token& stop) override {
    if (!action.params().has_compile()) {
      return absl::InvalidArgumentError("compile: the action has no parameters of this stage");
    }
    RETURN_IF_ERROR(CheckPins(action.params().compile()));
    ASSIGN_OR_RETURN(const cas::Digest input, worker::InputNamed(action, "kernels"));
    ASSIGN_OR_RETURN(auto kernels, cas::GetMessage<v1::KernelShard>(store, input));
    const v1::CompileParams& params = action.params().compile();
    RETURN_IF_ERROR(TakePart(params, kernels));
    const std::string& quarantined = params.quarantine_reason();
    absl::StatusOr<CompiledKernels> made =
        quarantined.empty() ? CompileKernels(kernels, params, workers_, compiler_, stop)
                            : QuarantinedKernels(kernels, params, quarantined);
    // A machine that lost a toolchain says nothing of the kernels: another may have it.
    if (absl::IsFailedPrecondition(made.status())) {
      return absl::UnavailableError(made.status().message());
    }
    RETURN_IF_ERROR(made.status());
    ASSIGN_OR_RETURN(const cas::Digest digest, cas::PutMessage(store, made->compiled));
    v1::StageResult result;
    worker::AddOutput(result, "compiled", digest, made->compiled.kernels_size());
    for (v1::IrText& text : made->texts) text.set_kernel(text.kernel() + params.first());
    RETURN_IF_ERROR(PutTexts(std::move(made->texts), store, result));
    if (!quarantined.empty()) AddQuarantined(kernels, result);
    AddCounters(made->compiled, result);
    CountCompiled(made->compiled);
    return result;
  }

 private:
  Compiler& compiler_;
  const int workers_;
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewCompilerStages(Compiler& compiler, int workers) {
  PrefillCompiled();
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(std::make_unique<CompileStage>(compiler, workers));
  return stages;
}

}  // namespace kernelmill::compiler
