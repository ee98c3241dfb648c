#include "services/deduplicator/server/kernel_comparison.h"

#include <utility>

#include "common/base/status.h"
#include "services/deduplicator/core/similar.h"

namespace kernelmill::deduplicator {

struct KernelComparison::State {
  explicit State(const v1::SimilarRequest& request) : finder(request) {}
  SimilarFinder finder;
};

absl::StatusOr<std::unique_ptr<KernelComparison>> KernelComparison::Open(
    const v1::SimilarRequest& request) {
  // Its limits on one call are not ours.
  v1::SimilarRequest bounds;
  bounds.set_top(request.top());
  bounds.set_threshold(request.threshold());
  RETURN_IF_ERROR(SimilarFinder::Check(bounds));
  return std::unique_ptr<KernelComparison>(new KernelComparison(std::make_unique<State>(request)));
}

KernelComparison::KernelComparison(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelComparison::~KernelComparison() = default;

void KernelComparison::Add(const v1::KernelShard& kernels) {
  state_->finder.Add(kernels, /*source=*/0, static_cast<uint32_t>(state_->finder.compared()));
}

std::vector<std::vector<KernelComparison::Match>> KernelComparison::Matches() const {
  std::vector<std::vector<Match>> matches;
  for (const std::vector<SimilarFinder::Found>& found : state_->finder.found()) {
    std::vector<Match>& best = matches.emplace_back();
    for (const SimilarFinder::Found& kernel : found) {
      best.push_back({kernel.number, std::string(KindName(kernel.scores.kind)),
                      kernel.scores.similarity, kernel.scores.near, kernel.scores.structural});
    }
  }
  return matches;
}

}  // namespace kernelmill::deduplicator
