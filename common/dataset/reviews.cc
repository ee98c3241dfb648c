#include "common/dataset/reviews.h"

#include <map>
#include <set>
#include <utility>

#include "common/base/status.h"

namespace kernelmill::dataset {

ReviewedKernelFinder::ReviewedKernelFinder(const Reviews& reviews) {
  for (int i = 0; i < reviews.size(); ++i) {
    if (!reviews[i].has_kernel()) continue;
    references_.Add(reviews[i].kernel());
    places_.push_back(i);
  }
}

absl::Status ReviewedKernelFinder::VisitTree(int source, const v1::SourceTree& tree) {
  repository_ = tree.repository();
  return absl::OkStatus();
}

absl::Status ReviewedKernelFinder::VisitShard(const ShardView& view) {
  if (references_.empty()) return absl::OkStatus();
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    for (const uint32_t reference : references_.Naming(repository_, view.kernels->kernels(i))) {
      found_.emplace_back(view.first_number + static_cast<uint32_t>(i), places_[reference]);
    }
  }
  return absl::OkStatus();
}

std::vector<int> ReviewedKernelFinder::Unmatched() const {
  std::set<int> unmatched(places_.begin(), places_.end());
  for (const auto& [number, place] : found_) unmatched.erase(place);
  return {unmatched.begin(), unmatched.end()};
}

std::vector<ReviewProblem> ReviewProblems(const std::vector<CuratedPair>& pairs,
                                          const ReviewedKernelFinder& kernels) {
  std::map<int, std::string> problems;
  for (const CuratedPair& pair : pairs) {
    if (pair.review >= 0 && !pair.problem.empty()) problems[pair.review] = pair.problem;
  }
  for (const int review : kernels.Unmatched()) problems[review] = "no such kernel";
  std::vector<ReviewProblem> listed;
  for (auto& [review, problem] : problems) listed.push_back({review, std::move(problem)});
  return listed;
}

absl::StatusOr<std::vector<ReviewProblem>> FindReviewProblems(
    cas::BlobStore& store, const v1::DatasetManifest& manifest,
    const std::vector<CuratedPair>& pairs) {
  ReviewedKernelFinder finder(manifest.reviews());
  if (!finder.empty()) RETURN_IF_ERROR(WalkDataset(store, manifest, finder));
  return ReviewProblems(pairs, finder);
}

}  // namespace kernelmill::dataset
