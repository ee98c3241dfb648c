#include "services/compiler/core/compile_kernels.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/dsl/dialects.h"
#include "common/dsl/languages.h"
#include "services/compiler/core/failures.h"
#include "services/compiler/core/signature/infer.h"
#include "services/compiler/core/signature/rules.h"

namespace kernelmill::compiler {

// Compiles the kernels of a shard. For each kernel:
//
// 1. NotAttempted gives the reason if it is not compiled at all.
// 2. InferSignature makes the tries: signatures that it may have.
// 3. For each toolchain, one job with all tries and all targets goes to the compiler, which takes
//    for each target the first try that compiles.
// 4. JudgeImport and JudgeFailure tell errors of the kernel from those of the guessed signature.
//
// The kernels are independent of one another, so that threads take them one by one from a counter.
// Each writes its own place of a vector. The shard is put together in the order of the kernels, and
// so does not depend on the threads.

namespace {

// One kernel with its intermediate forms.
struct Compiled {
  v1::CompiledKernel kernel;
  std::vector<v1::IrText> texts;
};

// The kernel's name in errors.
std::string MakeLabel(const v1::Kernel& kernel) {
  return ToUtf8(absl::StrCat(kernel.path(), ": ", kernel.name()));
}

// Compiles one kernel with all toolchains.
class KernelCompiler {
 public:
  KernelCompiler(const v1::Kernel& kernel, const v1::CompileParams& params, Compiler& compiler,
                 const std::stop_token& stop)
      : kernel_(kernel), params_(params), compiler_(compiler), stop_(stop) {}

  // An error is one of the machine. All that the kernel itself brings about is in the results. A
  // module that does not load and a signature that cannot be inferred give each target the same
  // result.
  absl::StatusOr<Compiled> Compile() {
    ASSIGN_OR_RETURN(inference_, InferSignature(kernel_));
    for (const v1::Toolchain& toolchain : params_.toolchains()) {
      absl::StatusOr<KernelReport> report = compiler_.Compile(MakeJob(toolchain));
      if (!report.ok()) return report.status();
      report->module_import.set_toolchain(toolchain.name());
      *made_.kernel.add_imports() = report->module_import;
      if (!report->module_import.ok()) {
        const v1::CompileResult failed = JudgeImport(report->module_import);
        for (const std::string& target : params_.targets()) Add(toolchain.name(), target, failed);
      } else if (inference_.tries.empty()) {
        v1::CompileResult unknown;
        unknown.set_status(v1::COMPILE_STATUS_UNKNOWN);
        unknown.set_missing(inference_.missing);
        for (const std::string& target : params_.targets()) Add(toolchain.name(), target, unknown);
      } else {
        AddReports(toolchain.name(), *std::move(report));
      }
    }
    return std::move(made_);
  }

 private:
  // The job of one toolchain: all targets at once.
  KernelJob MakeJob(const v1::Toolchain& toolchain) const {
    KernelJob job;
    job.toolchain = toolchain.name();
    job.module = kernel_.module();
    job.function = kernel_.name();
    job.source = kernel_.source();
    job.gluon = kernel_.dsl() == v1::DSL_GLUON;
    job.targets.assign(params_.targets().begin(), params_.targets().end());
    for (const v1::KernelSignature& signature : inference_.tries)
      job.tries.push_back({signature, HasSmallSizes(signature)});
    job.keep.assign(params_.keep().begin(), params_.keep().end());
    if (params_.max_seconds() > 0) job.max_seconds = params_.max_seconds();
    job.stop = stop_;
    return job;
  }

  // Adds the results of the targets. A try that fails for a target but compiles for another one has
  // the right signature, so that the failure is the target's.
  void AddReports(const std::string& toolchain, KernelReport report) {
    for (TargetReport& target : report.targets) {
      v1::CompileResult result = std::move(target.result);
      if (result.status() != v1::COMPILE_STATUS_OK) {
        const bool elsewhere = std::any_of(
            report.targets.begin(), report.targets.end(), [&](const TargetReport& other) {
              return other.result.status() == v1::COMPILE_STATUS_OK &&
                     other.attempt == target.attempt;
            });
        JudgeFailure(kernel_.module(), GetSignature(target), elsewhere, result);
      }
      result.set_signature(FindPlace(GetSignature(target)));
      Add(toolchain, target.target, std::move(result));
      for (v1::IrText& text : target.kept) made_.texts.push_back(std::move(text));
    }
  }

  // As compiled where the compiler came so far, else as inferred.
  const v1::KernelSignature& GetSignature(const TargetReport& target) const {
    // A compiler that came far enough has evaluated the constexprs.
    const bool compiled =
        target.signature.arguments_size() + target.signature.constexprs_size() > 0;
    const size_t attempt = target.attempt < 0 ? 0 : static_cast<size_t>(target.attempt);
    return compiled || attempt >= inference_.tries.size() ? target.signature
                                                          : inference_.tries[attempt];
  }

  // Returns the signature's place in the kernel's list, which has each once.
  int FindPlace(const v1::KernelSignature& signature) {
    const std::string key = signature.SerializeAsString();
    const auto found = std::find(signatures_.begin(), signatures_.end(), key);
    if (found != signatures_.end()) return static_cast<int>(found - signatures_.begin());
    signatures_.push_back(key);
    *made_.kernel.add_signatures() = signature;
    return static_cast<int>(signatures_.size()) - 1;
  }

  void Add(const std::string& toolchain, const std::string& target, v1::CompileResult result) {
    result.set_toolchain(toolchain);
    result.set_target(target);
    *made_.kernel.add_results() = std::move(result);
  }

  const v1::Kernel& kernel_;
  const v1::CompileParams& params_;
  Compiler& compiler_;
  const std::stop_token& stop_;
  Inference inference_;
  std::vector<std::string> signatures_;  // serialized, in the order of the kernel's
  Compiled made_;
};

// A caller that does not say the language means Triton.
bool IsCompiled(v1::Dsl dsl) { return dsl == v1::DSL_UNSPECIFIED || dsl::CompilesAsTriton(dsl); }

}  // namespace

// The first reason that holds, in the order of the header.
std::string NotAttempted(const v1::Kernel& kernel) {
  if (kernel.form() == v1::KERNEL_FORM_FILE) return "file";
  if (!IsCompiled(kernel.dsl())) return absl::StrCat("dsl:", dsl::DslName(kernel.dsl()));
  if (dsl::FindDialect(kernel)) return "dialect";
  if (kernel.form() == v1::KERNEL_FORM_TEMPLATE) return "template";
  if (kernel.role() == v1::KERNEL_ROLE_DEVICE) return "role:device";
  if (kernel.parse_error()) return "parse_error";
  if (!kernel.self_contained() || kernel.module().empty()) return "not_self_contained";
  return "";
}

// The same shape as a real result: one kernel each, with a result for each toolchain and target.
CompiledKernels QuarantinedKernels(const v1::KernelShard& shard, const v1::CompileParams& params,
                                   const std::string& reason) {
  CompiledKernels made;
  for (const v1::Kernel& kernel : shard.kernels()) {
    v1::CompiledKernel& said = *made.compiled.add_kernels();
    said.set_not_attempted(NotAttempted(kernel));
    if (!said.not_attempted().empty()) continue;
    for (const v1::Toolchain& toolchain : params.toolchains()) {
      for (const std::string& target : params.targets()) {
        v1::CompileResult& result = *said.add_results();
        result.set_toolchain(toolchain.name());
        result.set_target(target);
        result.set_status(v1::COMPILE_STATUS_UNKNOWN);
        result.set_missing(reason);
      }
    }
  }
  return made;
}

// Threads live for this call only; the caller's is one of them. `mutex` guards `failed`, and the
// compiler is thread-safe.
absl::StatusOr<CompiledKernels> CompileKernels(const v1::KernelShard& shard,
                                               const v1::CompileParams& params, int workers,
                                               Compiler& compiler, const std::stop_token& stop) {
  if (params.toolchains().empty() || params.targets().empty()) {
    return absl::InvalidArgumentError("compile needs a toolchain and a target");
  }
  const size_t count = static_cast<size_t>(shard.kernels_size());
  std::vector<Compiled> compiled(count);
  std::atomic<size_t> next{0};
  absl::Mutex mutex;
  absl::Status failed;
  // Runs in each thread, the caller's included. The first error ends all of them, since there is no
  // result without all kernels: the counter is set to its end.
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      const v1::Kernel& kernel = shard.kernels(static_cast<int>(i));
      if (std::string reason = NotAttempted(kernel); !reason.empty()) {
        compiled[i].kernel.set_not_attempted(std::move(reason));
        continue;
      }
      absl::StatusOr<Compiled> one = KernelCompiler(kernel, params, compiler, stop).Compile();
      if (one.ok()) {
        compiled[i] = *std::move(one);
        continue;
      }
      const absl::MutexLock lock(&mutex);
      failed.Update(Annotate(one.status(), MakeLabel(kernel)));
      next = count;
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(workers, count); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (!failed.ok()) return failed;

  CompiledKernels made;
  for (size_t i = 0; i < count; ++i) {
    *made.compiled.add_kernels() = std::move(compiled[i].kernel);
    // Only here the place of the kernel in the shard is known.
    for (v1::IrText& text : compiled[i].texts) {
      text.set_kernel(static_cast<uint32_t>(i));
      made.texts.push_back(std::move(text));
    }
  }
  return made;
}

}  // namespace kernelmill::compiler
