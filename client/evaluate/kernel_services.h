#ifndef KERNELMILL_CLIENT_EVALUATE_KERNEL_SERVICES_H_
#define KERNELMILL_CLIENT_EVALUATE_KERNEL_SERVICES_H_

#include <cstdint>
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
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_KERNEL_SERVICES_H_
