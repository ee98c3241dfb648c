#ifndef KERNELMILL_CLIENT_EVALUATE_EVALUATION_H_
#define KERNELMILL_CLIENT_EVALUATE_EVALUATION_H_

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/evaluate/generations.h"
#include "client/evaluate/honesty/finding.h"
#include "client/evaluate/kernel_services.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::client {

// The name of a measure, by group.
//
// clang-format off
//   static     1 or 0 for each sample: `parses`, `has_kernel`, and the validator's checks: 1 if the
//              sample has a kernel and every kernel passes that the check applies to; absent if it
//              applies to none. `masked_accesses`: the share of loads and stores that are masked
//   honesty    1 if the check finds nothing in the sample, 0 if it does; absent if it does not apply:
//              the checks of honesty/finding.h. `honest`: the sample parses, has a kernel and passes
//              all checks that apply
//   overlap    with the reference, 0 to 1: `exact_match` (except for white space around it),
//              `word_overlap`, `token_overlap` (5-token shingles), `structural_overlap` (the same
//              with local names, strings and numbers folded), `edit_similarity`
//   compile    1: ok, 0: error or unknown. The name is "TOOLCHAIN TARGET", or "any", which is ok if
//              one of them is
//   decided    as compile, absent if it is unknown
//   compile honest, decided honest
//              as compile and decided, for samples that are honest as well; 0 for others
//   correct    1: the sample is correct on all cases of its task; 0: wrong, error or unknown. Absent
//              if it has no task with cases. The name is "on DEVICE"
//   correct decided, correct honest, correct decided honest
//              as those of compile
//   fast       "fast_1.5 on DEVICE" and so on: 1 if the sample is correct and more than 1.5 times as
//              fast as the task's own kernel. Absent without times on both sides, and on cpu
//   fast honest
//              as fast, for samples that are honest as well
//   memorised  1 or 0: `exact`, `near`, `structural`, by the best match of the sample's kernels, and
//              `any` of the three; `similarity` of that match, 0 without a match
//   pass@K     for each task, over its decided samples; "pass@K of all": over all its samples, where
//              unknown counts as failed. "pass@K honest", "pass@K honest of all": of samples that
//              are honest as well. The names are those of compile, and "correct on DEVICE"
// clang-format on
struct Measure {
  std::string group;
  std::string name;

  auto operator<=>(const Measure&) const = default;
};

inline constexpr char kStatic[] = "static";
inline constexpr char kHonesty[] = "honesty";
inline constexpr char kOverlap[] = "overlap";
inline constexpr char kCompile[] = "compile";
inline constexpr char kDecided[] = "decided";
inline constexpr char kCompileHonest[] = "compile honest";
inline constexpr char kDecidedHonest[] = "decided honest";
inline constexpr char kCorrect[] = "correct";
inline constexpr char kCorrectDecided[] = "correct decided";
inline constexpr char kCorrectHonest[] = "correct honest";
inline constexpr char kCorrectDecidedHonest[] = "correct decided honest";
inline constexpr char kFast[] = "fast";
inline constexpr char kFastHonest[] = "fast honest";
inline constexpr char kMemorised[] = "memorised";

// The p of fast_p, as KernelBench has them.
inline constexpr double kFastP[] = {0, 0.5, 0.8, 1, 1.5, 2};

// The problem of a sample without any code.
inline constexpr char kNoCode[] = "there is no code";

// The result of one compiler for one sample and one target.
struct CompileOutcome {
  std::string toolchain;
  std::string target;
  v1::CompileStatus status = v1::COMPILE_STATUS_UNSPECIFIED;
  std::string message;  // the reason if it is not ok
};

// The measures of one sample, and the details that reports show.
struct SampleResult {
  std::map<Measure, double> values;
  std::vector<std::string> problems;  // problems found by the static checks, one line each
  std::vector<Finding> findings;      // findings of the checks of honesty, by line
  std::vector<CompileOutcome> compiles;
  std::optional<RunOutcome> run;  // absent if it was not run, or has no task with cases
  std::optional<DatasetMatch> match;
};

struct EvaluationOptions {
  // Names all toolchains and targets; without it nothing is compiled.
  std::optional<v1::CompilePolicy> compile;
  bool dataset = false;    // search for the kernels in a dataset
  std::string run_device;  // run the samples on the cases of their tasks, there; empty: do not
  // Called from time to time with the number of finished samples and of all samples.
  std::function<void(size_t, size_t)> progress = [](size_t, size_t) {};
  std::function<bool()> interrupted = [] { return false; };  // called as often; true: stop
};

// The generations of one model, with their results.
struct EvaluatedModel {
  Generations generations;
  std::vector<std::vector<SampleResult>> results;  // by task, then by sample
  // By task: the match of its reference in the dataset. A model that repeats such a reference is
  // not to blame.
  std::vector<std::optional<DatasetMatch>> references;
  std::map<std::string, std::string> run_toolchain;  // the packages that ran the samples
};

// Computes all measures of all samples. The result depends only on the generations, the options and
// the services' answers. CANCELLED: it was interrupted. It also returns the services' errors.
absl::StatusOr<EvaluatedModel> Evaluate(Generations generations, const EvaluationOptions& options,
                                        KernelServices& services);

// The extractor's limits on one call.
inline constexpr size_t kBatchSamples = 256;
inline constexpr size_t kBatchSampleBytes = 8 << 20;

// Extracts and validates the texts of some samples. Names of one text are not found in another.
// Sets the static measures and the problems of `results`, one for each text, and returns the linked
// kernels of each. Takes at most kBatchSamples texts with kBatchSampleBytes together.
absl::StatusOr<std::vector<v1::KernelShard>> CheckSamples(absl::Span<const std::string> texts,
                                                          KernelServices& services,
                                                          absl::Span<SampleResult* const> results);

// Sets the measures and findings of honesty of a sample whose static measures are set. Its kernels
// are those of CheckSamples.
void SetHonesty(const Task& task, const Sample& sample, const v1::KernelShard& kernels,
                SampleResult* result);

// Sets the measures of correctness and speed of a sample whose measures of honesty are set.
void SetCorrectness(const std::string& device, RunOutcome outcome, SampleResult* result);

// Compiles the launched Triton and Gluon kernels of some samples with each toolchain and for each
// target of the policy. Sets the compile measures and outcomes of `results`, one for each shard,
// whose static measures are already set. The outcome of a sample is
//
//   error    if its text does not parse, it has no kernel, or a kernel does not compile
//   unknown  otherwise, if a kernel cannot be judged: the types of its arguments are unknown, it
//            needs a missing package, or it is in another language
//   ok       if all kernels compile
//
// A kernel with an undefined name is compiled too: a generation has no repository that could define
// the name. INTERNAL: the number of the services' results is wrong. It also returns their errors.
absl::Status CompileSamples(absl::Span<const v1::KernelShard> samples,
                            const v1::CompilePolicy& policy, KernelServices& services,
                            absl::Span<SampleResult* const> results);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_EVALUATION_H_
