#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_KERNEL_COMPARISON_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_KERNEL_COMPARISON_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/stages.pb.h"

namespace kernelmill::deduplicator {

// What Deduplicator.Similar does, of kernels at hand: for a program that has this service in it and
// whose kernels are in no store. Not thread-safe.
class KernelComparison {
 public:
  // Which of the others it is, counted from 0 in the order in which they were added; the rest as in
  // SimilarKernel.
  struct Match {
    int64_t number = 0;
    std::string kind;
    double similarity = 0;
    double near = 0;
    double structural = 0;
  };

  // `request` names no dataset, and may have any number of kernels. INVALID_ARGUMENT: its threshold
  // or `top` is out of bounds.
  static absl::StatusOr<std::unique_ptr<KernelComparison>> Open(const v1::SimilarRequest& request);
  ~KernelComparison();

  // More of the others.
  void Add(const v1::KernelShard& kernels);
  // Of each kernel of the request the most similar of the others, the best first.
  std::vector<std::vector<Match>> Matches() const;

 private:
  struct State;
  explicit KernelComparison(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_KERNEL_COMPARISON_H_
