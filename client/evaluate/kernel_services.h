#ifndef KERNELMILL_CLIENT_EVALUATE_KERNEL_SERVICES_H_
#define KERNELMILL_CLIENT_EVALUATE_KERNEL_SERVICES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/stages.pb.h"

namespace kernelmill::client {

// A kernel of a dataset that is similar to a generated one.
struct DatasetMatch {
  std::string kind;  // "exact", "near" or "structural", as in v1::SimilarKernel
  double similarity = 0;
  std::string repository;
  std::string path;
  int first_line = 0;
  std::string qualname;
};

// The Jaccard similarities of the 5-token shingles of two texts: of the texts as they are, and with
// local names, strings and numbers folded.
struct ShingleOverlap {
  double near = 0;
  double structural = 0;
};

// An answer to be run on the cases of its task: the task whose id is `task_id`, or whose text is
// `prompt`.
struct RunRequest {
  std::string task_id;
  std::string prompt;
  std::string code;
};

enum class Correctness : uint8_t { kCorrect, kWrong, kError, kUnknown };

// Times on a device, of the largest case, in microseconds: medians, and the distances from the
// first to the third quartile.
struct RunSpeed {
  std::string case_id;
  double median_us = 0;
  double spread_us = 0;
  double reference_us = 0;  // the task's own kernel
  double reference_spread_us = 0;
  double speedup = 0;
};

// The outcome of an answer on the cases of its task.
struct RunOutcome {
  Correctness correctness = Correctness::kUnknown;
  std::string by;                        // "kernel", "kernel and model"; empty: nothing was run
  std::map<std::string, int64_t> cases;  // "total", and how many by outcome: exact, close, ...
  std::string message;                   // the reason if it is not correct
  // The largest difference, the same as a share of a value's size, the largest share of elements
  // that differ, and the most bytes that were written outside the tensors.
  double absolute = 0;
  double relative = 0;
  double share = 0;
  int64_t out_of_bounds = 0;
  std::optional<RunSpeed> speed;
};

// The outcomes of requests, nullopt for those without a task, and the packages that ran them.
struct RunResults {
  std::vector<std::optional<RunOutcome>> outcomes;
  std::map<std::string, std::string> toolchain;
};

// The stages that an evaluation calls. Tests have a fake. Not thread-safe.
class KernelServices {
 public:
  virtual ~KernelServices() = default;

  // These are the services of stages.proto, with their limits.
  virtual absl::StatusOr<v1::KernelShard> Extract(const v1::ExtractRequest& request) = 0;
  virtual absl::StatusOr<v1::VerdictShard> Validate(const v1::ValidateRequest& request) = 0;
  virtual absl::StatusOr<v1::CompiledShard> Compile(const v1::CompileRequest& request) = 0;

  // Returns the first line with a syntax error; 0 if the text is Python. The extractor only parses
  // texts that may hold a kernel.
  virtual absl::StatusOr<int> FirstErrorLine(const std::string& text) = 0;

  virtual absl::StatusOr<ShingleOverlap> Compare(const std::string& text,
                                                 const std::string& reference) = 0;

  // Returns for each kernel the most similar one of the dataset; nullopt if none is similar enough.
  // It reads `source`, `name` and `dsl`, and takes any number of kernels.
  virtual absl::StatusOr<std::vector<std::optional<DatasetMatch>>> FindInDataset(
      const std::vector<v1::Kernel>& kernels) = 0;

  // Runs answers on the cases of their tasks. CANCELLED: it was interrupted.
  virtual absl::StatusOr<RunResults> RunAnswers(const std::vector<RunRequest>& requests) = 0;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_KERNEL_SERVICES_H_
