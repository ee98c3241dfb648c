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

// A kernel of a dataset that is like a generated one.
struct DatasetMatch {
  std::string kind;  // "exact", "near" or "structural", as v1::SimilarKernel has it
  double similarity = 0;
  std::string repository;
  std::string path;
  int first_line = 0;
  std::string qualname;
};

// Jaccard similarities of two texts' 5-token shingles, as written and with local names, strings and
// numbers folded.
struct ShingleOverlap {
  double near = 0;
  double structural = 0;
};

// What an evaluation asks of the stages. Not thread-safe.
class KernelServices {
 public:
  virtual ~KernelServices() = default;

  // As the services of the same names in stages.proto, with their limits.
  virtual absl::StatusOr<v1::KernelShard> Extract(const v1::ExtractRequest& request) = 0;
  virtual absl::StatusOr<v1::VerdictShard> Validate(const v1::ValidateRequest& request) = 0;
  virtual absl::StatusOr<v1::CompiledShard> Compile(const v1::CompileRequest& request) = 0;

  // The line on which a text first is no Python; 0 where it is. The extractor does not look into
  // what cannot hold a kernel.
  virtual absl::StatusOr<int> FirstErrorLine(const std::string& text) = 0;

  virtual absl::StatusOr<ShingleOverlap> Compare(const std::string& text,
                                                 const std::string& reference) = 0;

  // Of each kernel the most similar one of the dataset, where one is similar enough. `source`,
  // `name` and `dsl` are read; any number.
  virtual absl::StatusOr<std::vector<std::optional<DatasetMatch>>> FindInDataset(
      const std::vector<v1::Kernel>& kernels) = 0;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_KERNEL_SERVICES_H_
