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
//   memorised  1 or 0: `exact`, `near`, `structural`, by the best match of the sample's kernels, and
//              `any` of the three; `similarity` of that match, 0 without a match
//   pass@K     for each task, over its decided samples; "pass@K of all": over all its samples, where
//              unknown counts as failed. "pass@K honest", "pass@K honest of all": of samples that
//              are honest as well. The names are those of compile
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
inline constexpr char kMemorised[] = "memorised";

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
  std::optional<DatasetMatch> match;
};

struct EvaluationOptions {
  // Names all toolchains and targets; without it nothing is compiled.
  std::optional<v1::CompilePolicy> compile;
  bool dataset = false;  // search for the kernels in a dataset
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
