#include "services/compiler/server/compiler_stages.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/blob_store.h"
#include "common/metrics/metrics.h"
#include "common/toolchains/toolchains.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/compile_kernels.h"

namespace kernelmill::compiler {
namespace {

// The size of the texts in one blob, which a worker and an export hold in memory.
constexpr size_t kShardBytes = 4u << 20;

// Stores the texts, in their order, in as many IrShards as they need.
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

// Bounds the number of labels: reasons are few, but a later release may add some.
std::string BoundedReason(absl::string_view reason) {
  static auto* const reasons = new metrics::BoundedLabel(50);
  return reasons->ValueFor(reason);
}

// Returns the stage that refused the kernel, also if its signature was guessed, so that the result
// is unknown. Empty if no stage did.
std::string RefusedBy(const v1::CompileResult& result) {
  if (result.status() == v1::COMPILE_STATUS_OK) return "";
  return result.missing() == "import:sandbox" ? "sandbox" : result.stage();
}

// Returns "ok", "error" or "unknown", as in records and metrics.
absl::string_view StatusName(v1::CompileStatus status) {
  switch (status) {
    case v1::COMPILE_STATUS_OK:
      return "ok";
    case v1::COMPILE_STATUS_ERROR:
      return "error";
    default:
      return "unknown";
  }
}

// Counts the results in metrics, and the kernels that were not compiled.
void CountCompiled(const v1::CompiledShard& compiled) {
  for (const v1::CompiledKernel& kernel : compiled.kernels()) {
    if (!kernel.not_attempted().empty()) {
      metrics::Counter(metrics::kNotAttempted, {{"reason", BoundedReason(kernel.not_attempted())}})
          .Increment();
    }
    for (const v1::CompileResult& result : kernel.results()) {
      metrics::Counter(metrics::kCompiledKernels,
                       {{"toolchain", result.toolchain()},
                        {"target", result.target()},
                        {"status", std::string(StatusName(result.status()))}})
          .Increment();
      if (const std::string stage = RefusedBy(result); !stage.empty()) {
        metrics::Counter(metrics::kRefusedKernels,
                         {{"toolchain", result.toolchain()}, {"stage", stage}})
            .Increment();
      }
    }
  }
}

// Makes all known series with the value 0, so that a rate over the first event is right.
void PrefillCompiled() {
  std::vector<std::string> names;
  for (const toolchains::PinnedToolchain& toolchain : toolchains::PinnedToolchains()) {
    names.emplace_back(toolchain.name);
    metrics::Histogram(metrics::kCompileSeconds, {{"toolchain", names.back()}});
  }
  const auto targets = toolchains::CompileTargets();
  metrics::Prefill(metrics::kCompiledKernels, {{"toolchain", names},
                                               {"target", {targets.begin(), targets.end()}},
                                               {"status", {"ok", "error", "unknown"}}});
  metrics::Prefill(metrics::kRefusedKernels,
                   {{"toolchain", names},
                    {"stage", {"import", "frontend", "passes", "assembler", "limit", "sandbox"}}});
  metrics::Prefill(
      metrics::kCompilesLost,
      {{"toolchain", names}, {"reason", {"lost", "machine", "toolchain", "unwanted", "broken"}}});
  metrics::Prefill(metrics::kCompilersStarted, {{"toolchain", names}});
  metrics::Prefill(metrics::kNotAttempted, {{"reason", {"not_self_contained"}}});
}

// Counts compile.TOOLCHAIN.TARGET.STATUS and compile.not_attempted.REASON. A kernel is in one of
// the latter, or in one of the former for each toolchain and target.
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

// Refuses toolchains that another build of kernelmill pins differently under the same name: their
// results would be stored for the wrong action.
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

// Keeps only the kernels of the action's part.
absl::Status TakePart(const v1::CompileParams& params, v1::KernelShard& kernels) {
  if (params.count() == 0) return absl::OkStatus();
  const int size = kernels.kernels_size();
  if (params.first() < 0 || params.count() < 0 || params.first() > size - params.count()) {
    return absl::InvalidArgumentError(absl::StrCat("compile: the part [", params.first(), ", +",
                                                   params.count(), ") exceeds ", size, " kernels"));
  }
  const int end = params.first() + params.count();
  kernels.mutable_kernels()->DeleteSubrange(end, size - end);
  kernels.mutable_kernels()->DeleteSubrange(0, params.first());
  return absl::OkStatus();
}

// Names the kernels of a quarantined part as failures.
void AddQuarantined(const v1::KernelShard& kernels, v1::StageResult& result) {
  for (const v1::Kernel& kernel : kernels.kernels()) {
    v1::FileFailure& failure = *result.add_failures();
    failure.set_path(kernel.path());
    failure.set_reason(ToUtf8(kernel.name()));
  }
}

// The stage compile: takes "kernels" and makes "compiled", and an "ir" for each blob of kept texts.
class CompileStage : public worker::Stage {
 public:
  CompileStage(Compiler& compiler, int workers) : compiler_(compiler), workers_(workers) {}
  worker::StageId id() const override { return worker::StageId::kCompile; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    return RunUntil(action, store, {});
  }

  // Reads the kernels, compiles those of the action's part, and stores the results. Kept texts name
  // their kernel by its index in the whole shard.
  absl::StatusOr<v1::StageResult> RunUntil(const v1::Action& action, cas::BlobStore& store,
                                           const std::stop_token& stop) override {
    if (!action.params().has_compile()) {
      return absl::InvalidArgumentError("compile: the action has no parameters for this stage");
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
    // A toolchain that is missing here may exist on another worker: the task is retried there.
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

namespace {

// A compiler that waits for one of a number of places before it passes a call on.
class LimitedCompiler : public Compiler {
 public:
  LimitedCompiler(Compiler& compiler, int at_once) : compiler_(compiler), free_(at_once) {}

  // Waits for a place. Thread-safe.
  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override {
    const Place place(*this, job.stop);
    if (job.stop.stop_requested()) return absl::CancelledError("no longer wanted");
    return compiler_.Compile(job);
  }

 private:
  // A taken place. A stopped call takes one without waiting, beyond the limit, and gives it back.
  class Place {
   public:
    Place(LimitedCompiler& limit, const std::stop_token& stop) : limit_(limit) {
      // Releasing the mutex makes waiters evaluate their conditions again.
      const std::stop_callback look(stop, [this] { const absl::MutexLock lock(&limit_.mutex_); });
      const auto may_begin = [&] {
        limit_.mutex_.AssertReaderHeld();
        return limit_.free_ > 0 || stop.stop_requested();
      };
      const absl::MutexLock lock(&limit_.mutex_, absl::Condition(&may_begin));
      --limit_.free_;
    }
    ~Place() {
      const absl::MutexLock lock(&limit_.mutex_);
      ++limit_.free_;
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    LimitedCompiler& limit_;
  };

  Compiler& compiler_;
  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Compiler> NewLimitedCompiler(Compiler& compiler, int at_once) {
  return std::make_unique<LimitedCompiler>(compiler, at_once);
}

namespace {

// Returns the label for an error of Compiler.
std::string GetReason(const absl::Status& lost) {
  switch (lost.code()) {
    case absl::StatusCode::kAborted:
      return "lost";
    case absl::StatusCode::kUnavailable:
      return "machine";
    case absl::StatusCode::kFailedPrecondition:
      return "toolchain";
    case absl::StatusCode::kCancelled:
      return "unwanted";
    default:
      return "broken";
  }
}

// A compiler that measures another one. Thread-safe if that one is.
class TimedCompiler : public Compiler {
 public:
  explicit TimedCompiler(Compiler& compiler) : compiler_(compiler) {}

  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override {
    const absl::Time start = absl::Now();
    absl::StatusOr<KernelReport> report = compiler_.Compile(job);
    if (!report.ok()) {
      metrics::Counter(metrics::kCompilesLost,
                       {{"toolchain", job.toolchain}, {"reason", GetReason(report.status())}})
          .Increment();
    }
    // Only pinned toolchains compile, so that there are few labels.
    if (report.ok()) {
      metrics::Histogram(metrics::kCompileSeconds, {{"toolchain", job.toolchain}})
          .Observe(absl::ToDoubleSeconds(absl::Now() - start));
    }
    return report;
  }

 private:
  Compiler& compiler_;
};

}  // namespace

std::unique_ptr<Compiler> NewTimedCompiler(Compiler& compiler) {
  return std::make_unique<TimedCompiler>(compiler);
}

}  // namespace kernelmill::compiler
