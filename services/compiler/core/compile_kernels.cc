#include "services/compiler/core/compile_kernels.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/dsl/names.h"
#include "common/toolchains/attempts.h"
#include "services/compiler/core/guesser.h"
#include "services/compiler/core/signature/rules.h"

namespace kernelmill::compiler {

using toolchains::Attempt;
using toolchains::FindAttempts;
using toolchains::NotAttempted;

// Compiles the kernels of a shard. For each kernel:
//
// 1. NotAttempted gives the reason if it is not compiled at all.
// 2. The Guesser of its compiler makes the tries: signatures that it may have.
// 3. For each toolchain of its language, one job with all tries and all targets goes to the
// compiler, which takes
//    for each target the first try that compiles.
// 4. The Guesser's JudgeImport and JudgeFailure tell errors of the kernel from those of the guessed
// signature.
// 5. If no target compiled and a guess may be wrong, a few jobs follow with second guesses, each
//    made for the refusal of the try that came furthest.
//
// The kernels are independent of one another, so that threads take them one by one from a counter.
// Each writes its own place of a vector. The shard is put together in the order of the kernels, and
// so does not depend on the threads.

namespace {

// Rounds of second guesses. Each costs up to kMaxSecondGuesses runs of the frontend.
constexpr int kMaxRounds = 3;

// One kernel with its intermediate forms.
struct Compiled {
  v1::CompiledKernel kernel;
  std::vector<v1::IrText> texts;
};

// The kernel's name in errors.
std::string MakeLabel(const v1::Kernel& kernel) {
  return ToUtf8(absl::StrCat(kernel.path(), ": ", kernel.name()));
}

// Compiles one kernel with all toolchains of its language.
class KernelCompiler {
 public:
  KernelCompiler(const v1::Kernel& kernel, const v1::CompileParams& params, Compiler& compiler,
                 const std::stop_token& stop)
      : kernel_(kernel), params_(params), compiler_(compiler), stop_(stop) {}

  // An error is one of the machine. All that the kernel itself brings about is in the results. A
  // module that does not load and a signature that cannot be inferred give each target the same
  // result.
  absl::StatusOr<Compiled> Compile() {
    for (const Attempt& attempt : FindAttempts(kernel_, params_)) {
      // Second guesses follow from what this toolchain says: each begins anew.
      ASSIGN_OR_RETURN(guesser_, NewGuesser(attempt.toolchain->compiler, kernel_));
      ASSIGN_OR_RETURN(KernelReport report, CompileTries(attempt));
      const std::string toolchain(attempt.toolchain->name);
      report.module_import.set_toolchain(toolchain);
      *made_.kernel.add_imports() = report.module_import;
      if (!report.module_import.ok()) {
        const v1::CompileResult failed = guesser_->JudgeImport(report.module_import);
        for (const std::string& target : attempt.targets) Add(toolchain, target, failed);
      } else if (guesser_->tries().empty()) {
        v1::CompileResult unknown;
        unknown.set_status(v1::COMPILE_STATUS_UNKNOWN);
        unknown.set_missing(guesser_->missing());
        for (const std::string& target : attempt.targets) Add(toolchain, target, unknown);
      } else {
        AddReports(toolchain, std::move(report));
      }
    }
    return std::move(made_);
  }

 private:
  // Returns the report of the first tries, or of second guesses if these compile or come further.
  absl::StatusOr<KernelReport> CompileTries(const Attempt& attempt) {
    ASSIGN_OR_RETURN(KernelReport best, CompileFrom(0, attempt));
    for (int round = 0; round < kMaxRounds && MayGuessAgain(best); ++round) {
      const TargetReport& refused = best.targets[0];
      const size_t first = guesser_->tries().size();
      guesser_->GuessAgain(static_cast<size_t>(refused.attempt),
                           {refused.result.message(), refused.result.line(), refused.reached});
      if (guesser_->tries().size() == first) break;
      ASSIGN_OR_RETURN(KernelReport next, CompileFrom(first, attempt));
      if (!CameFurther(next, best)) break;
      best = std::move(next);
    }
    return best;
  }

  // Compiles the tries from a place on, for all targets at once. The report's attempts are places
  // in the guesser's tries, and each of its targets has a signature: as compiled where the
  // compiler came so far as to evaluate the constexprs, else as inferred.
  absl::StatusOr<KernelReport> CompileFrom(size_t first, const Attempt& attempt) const {
    const std::vector<v1::KernelSignature>& tries = guesser_->tries();
    KernelJob job;
    job.toolchain = std::string(attempt.toolchain->name);
    job.module = kernel_.module();
    job.function = guesser_->function();
    job.source = kernel_.source();
    job.launcher = kernel_.launcher().text();
    job.gluon = kernel_.dsl() == dsl::kGluon;
    job.targets = attempt.targets;
    for (size_t i = first; i < tries.size(); ++i)
      job.tries.push_back({tries[i], HasSmallSizes(tries[i])});
    job.keep.assign(params_.keep().begin(), params_.keep().end());
    if (params_.max_seconds() > 0) job.max_seconds = params_.max_seconds();
    job.stop = stop_;
    ASSIGN_OR_RETURN(KernelReport report, compiler_.Compile(job));
    for (TargetReport& target : report.targets) {
      target.attempt = std::max(target.attempt, 0) + static_cast<int>(first);
      const bool compiled =
          target.signature.arguments_size() + target.signature.constexprs_size() > 0;
      if (!compiled && target.attempt < static_cast<int>(tries.size()))
        target.signature = tries[static_cast<size_t>(target.attempt)];
    }
    return report;
  }

  static bool Compiles(const KernelReport& report) {
    return std::any_of(
        report.targets.begin(), report.targets.end(),
        [](const TargetReport& target) { return target.result.status() == v1::COMPILE_STATUS_OK; });
  }

  // Returns whether nothing compiled, and a guess of the first target's try may be to blame.
  bool MayGuessAgain(const KernelReport& report) const {
    if (report.targets.empty() || Compiles(report)) return false;
    const TargetReport& target = report.targets[0];
    if (GetProgress(target) < GetProgress("frontend")) return false;
    // No value brings a package back.
    if (absl::StrContains(target.result.message(), "which is not installed")) return false;
    v1::CompileResult judged = target.result;
    guesser_->JudgeFailure(target.signature, /*compiles_elsewhere=*/false, judged);
    return absl::StartsWith(judged.missing(), "type:") ||
           absl::StartsWith(judged.missing(), "constexpr:");
  }

  // The stages in their order; bounds and the sandbox come before all of them.
  static int GetProgress(absl::string_view stage) {
    return stage == "frontend" ? 1 : stage == "passes" ? 2 : stage == "assembler" ? 3 : 0;
  }
  static int GetProgress(const TargetReport& target) { return GetProgress(target.result.stage()); }

  static bool CameFurther(const KernelReport& next, const KernelReport& before) {
    if (Compiles(next)) return true;
    const TargetReport& one = next.targets[0];
    const TargetReport& other = before.targets[0];
    return std::make_pair(GetProgress(one), one.reached) >
           std::make_pair(GetProgress(other), other.reached);
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
        guesser_->JudgeFailure(target.signature, elsewhere, result);
      }
      result.set_signature(FindPlace(target.signature));
      Add(toolchain, target.target, std::move(result));
      for (v1::IrText& text : target.kept) made_.texts.push_back(std::move(text));
    }
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
  std::unique_ptr<Guesser> guesser_;     // the current toolchain's
  std::vector<std::string> signatures_;  // serialized, in the order of the kernel's
  Compiled made_;
};

}  // namespace

// The same shape as a real result: one kernel each, with a result for each toolchain and target.
CompiledKernels QuarantinedKernels(const v1::KernelShard& shard, const v1::CompileParams& params,
                                   const std::string& reason) {
  CompiledKernels made;
  for (const v1::Kernel& kernel : shard.kernels()) {
    v1::CompiledKernel& said = *made.compiled.add_kernels();
    said.set_not_attempted(NotAttempted(kernel, params));
    if (!said.not_attempted().empty()) continue;
    for (const Attempt& attempt : FindAttempts(kernel, params)) {
      for (const std::string& target : attempt.targets) {
        v1::CompileResult& result = *said.add_results();
        result.set_toolchain(std::string(attempt.toolchain->name));
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
      if (std::string reason = NotAttempted(kernel, params); !reason.empty()) {
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
