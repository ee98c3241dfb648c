#include "services/compiler/server/compiler_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/metrics/bounded_label.h"
#include "common/metrics/metrics.h"
#include "common/toolchains/toolchains.h"

namespace kernelmill::compiler {
namespace {

// Bounds the number of labels: reasons are few, but a later release may add some.
std::string BoundedReason(absl::string_view reason) {
  static auto* const reasons = new metrics::BoundedLabel(50);
  return reasons->ValueFor(reason);
}

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

// Returns the stage that refused the kernel, also if its signature was guessed, so that the result
// is unknown. Empty if no stage did.
std::string RefusedBy(const v1::CompileResult& result) {
  if (result.status() == v1::COMPILE_STATUS_OK) return "";
  return result.missing() == "import:sandbox" ? "sandbox" : result.stage();
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

std::unique_ptr<Compiler> NewTimedCompiler(Compiler& compiler) {
  return std::make_unique<TimedCompiler>(compiler);
}

}  // namespace kernelmill::compiler
