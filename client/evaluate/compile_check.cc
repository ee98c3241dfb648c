#include "client/evaluate/compile_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/dsl/languages.h"

namespace kernelmill::client {
namespace {

// The compiler's limits on one call, its bytes with room for the rest of the request.
constexpr int kMaxCallKernels = 256;
constexpr size_t kMaxCallBytes = 7 << 20;

// A kernel that is compiled, and what came of it.
struct Compiled {
  size_t sample = 0;
  v1::Kernel kernel;
  v1::CompiledKernel result;
};

bool IsCompiled(const v1::Kernel& kernel) {
  return dsl::CompilesAsTriton(kernel.dsl()) && kernel.role() != v1::KERNEL_ROLE_DEVICE;
}

bool LacksDefinitionsAlone(const v1::Kernel& kernel) {
  return absl::c_all_of(kernel.unresolved_names(), [](const v1::UnresolvedName& name) {
    return name.reason() == "undefined";
  });
}

bool Parses(const SampleResult& result) {
  const auto parses = result.values.find({kStatic, "parses"});
  return parses != result.values.end() && parses->second == 1;
}

std::vector<Compiled> KernelsToCompile(absl::Span<const v1::KernelShard> samples,
                                       absl::Span<SampleResult* const> results) {
  std::vector<Compiled> kernels;
  for (size_t sample = 0; sample < samples.size(); ++sample) {
    if (!Parses(*results[sample])) continue;
    for (const v1::Kernel& kernel : samples[sample].kernels()) {
      if (!IsCompiled(kernel)) continue;
      Compiled& added = kernels.emplace_back();
      added.sample = sample;
      added.kernel = kernel;
      if (LacksDefinitionsAlone(kernel)) added.kernel.set_self_contained(true);
    }
  }
  return kernels;
}

absl::Status CompileSome(absl::Span<Compiled> kernels, const v1::CompilePolicy& policy,
                         KernelServices& services) {
  v1::CompileRequest request;
  *request.mutable_compile() = policy;
  for (const Compiled& compiled : kernels) {
    *request.mutable_kernels()->add_kernels() = compiled.kernel;
  }
  ASSIGN_OR_RETURN(v1::CompiledShard shard, services.Compile(request));
  if (static_cast<size_t>(shard.kernels_size()) != kernels.size()) {
    return absl::InternalError("the compiler answered for other kernels");
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].result = std::move(*shard.mutable_kernels(static_cast<int>(i)));
  }
  return absl::OkStatus();
}

absl::Status CompileAll(absl::Span<Compiled> kernels, const v1::CompilePolicy& policy,
                        KernelServices& services) {
  for (size_t begin = 0; begin < kernels.size();) {
    size_t end = begin;
    size_t bytes = 0;
    while (end < kernels.size() && end - begin < kMaxCallKernels) {
      bytes += kernels[end].kernel.ByteSizeLong();
      if (end > begin && bytes > kMaxCallBytes) break;
      ++end;
    }
    RETURN_IF_ERROR(CompileSome(kernels.subspan(begin, end - begin), policy, services));
    begin = end;
  }
  return absl::OkStatus();
}

// The module names a package that the toolchain's environment lacks.
bool LacksPackage(const v1::CompileResult& result) {
  return result.stage() == "import" && absl::StrContains(result.message(), "ModuleNotFoundError") &&
         !absl::StrContains(result.message(), "'triton");
}

// What could not be told, and what came of guessing it.
std::string WhyUnknown(const v1::CompileResult& result) {
  const std::string came = result.message().empty()
                               ? result.missing()
                               : absl::StrCat(result.stage(), ": ", result.message());
  if (!absl::StartsWith(result.missing(), "type:") &&
      !absl::StartsWith(result.missing(), "constexpr:")) {
    return came;
  }
  const std::string missing = absl::StrCat(result.missing(), " could not be told");
  return result.message().empty() ? missing : absl::StrCat(missing, "; as guessed: ", came);
}

CompileOutcome OutcomeOf(const Compiled& compiled, const std::string& toolchain,
                         const std::string& target) {
  CompileOutcome outcome{toolchain, target, v1::COMPILE_STATUS_UNKNOWN, "nothing was tried"};
  const std::string kernel = absl::StrCat(compiled.kernel.name(), ": ");
  if (!compiled.result.not_attempted().empty()) {
    outcome.message = kernel + compiled.result.not_attempted();
    return outcome;
  }
  for (const v1::CompileResult& result : compiled.result.results()) {
    if (result.toolchain() != toolchain || result.target() != target) continue;
    outcome.status = LacksPackage(result) ? v1::COMPILE_STATUS_UNKNOWN : result.status();
    outcome.message = result.status() == v1::COMPILE_STATUS_OK ? ""
                      : result.status() == v1::COMPILE_STATUS_UNKNOWN
                          ? absl::StrCat(kernel, WhyUnknown(result))
                          : absl::StrCat(kernel, result.stage(), ": ", result.message());
  }
  return outcome;
}

bool IsWorse(v1::CompileStatus status, v1::CompileStatus than) {
  const auto rank = [](v1::CompileStatus of) {
    return of == v1::COMPILE_STATUS_OK ? 0 : of == v1::COMPILE_STATUS_ERROR ? 2 : 1;
  };
  return rank(status) > rank(than);
}

// Of all of a sample's kernels: the first of those with the worst outcome.
CompileOutcome SampleOutcome(absl::Span<const Compiled* const> kernels, const SampleResult& result,
                             const std::string& toolchain, const std::string& target) {
  CompileOutcome worst{toolchain, target, v1::COMPILE_STATUS_ERROR, ""};
  const bool has_kernel = result.values.at({kStatic, "has_kernel"}) == 1;
  if (!Parses(result)) {
    worst.message = absl::c_linear_search(result.problems, kNoCode) ? kNoCode : "it does not parse";
  } else if (!has_kernel) {
    worst.message = "no kernel in it";
  } else if (kernels.empty()) {
    worst.status = v1::COMPILE_STATUS_UNKNOWN;
    worst.message = "no kernel that Triton launches";
  } else {
    worst = OutcomeOf(*kernels[0], toolchain, target);
    for (const Compiled* kernel : kernels.subspan(1)) {
      CompileOutcome outcome = OutcomeOf(*kernel, toolchain, target);
      if (IsWorse(outcome.status, worst.status)) worst = std::move(outcome);
    }
  }
  return worst;
}

void SetMeasure(const std::string& name, v1::CompileStatus status, SampleResult* result) {
  const double ok = status == v1::COMPILE_STATUS_OK ? 1 : 0;
  result->values[{kCompile, name}] = ok;
  if (status != v1::COMPILE_STATUS_UNKNOWN) result->values[{kDecided, name}] = ok;
}

void SetOutcomes(absl::Span<const Compiled* const> kernels, const v1::CompilePolicy& policy,
                 SampleResult* result) {
  v1::CompileStatus best = v1::COMPILE_STATUS_ERROR;
  for (const std::string& toolchain : policy.toolchains()) {
    for (const std::string& target : policy.targets()) {
      CompileOutcome outcome = SampleOutcome(kernels, *result, toolchain, target);
      SetMeasure(absl::StrCat(toolchain, " ", target), outcome.status, result);
      if (IsWorse(best, outcome.status)) best = outcome.status;
      result->compiles.push_back(std::move(outcome));
    }
  }
  if (result->compiles.size() > 1) SetMeasure("any", best, result);
}

}  // namespace

absl::Status CompileSamples(absl::Span<const v1::KernelShard> samples,
                            const v1::CompilePolicy& policy, KernelServices& services,
                            absl::Span<SampleResult* const> results) {
  std::vector<Compiled> kernels = KernelsToCompile(samples, results);
  RETURN_IF_ERROR(CompileAll(absl::MakeSpan(kernels), policy, services));
  std::vector<std::vector<const Compiled*>> by_sample(samples.size());
  for (const Compiled& kernel : kernels) by_sample[kernel.sample].push_back(&kernel);
  for (size_t i = 0; i < samples.size(); ++i) SetOutcomes(by_sample[i], policy, results[i]);
  return absl::OkStatus();
}

}  // namespace kernelmill::client
