#include "common/manifest/reviews.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/job/review_list.h"
#include "common/manifest/curated_pairs.h"

// Decisions of people name kernels by path, name or id, and a dataset is made again and again. So
// each export resolves the decisions anew: which kernels of this dataset does each of them mean?
// Accepted pairs must name one usable kernel on each side, because they become training examples.
// Rejections may name several: each combination of a CUDA kernel and a Triton kernel is then
// rejected.
namespace kernelmill::manifest {
namespace {

// The kernels that the two sides of a decision on a pair name.
struct Sides {
  std::vector<uint32_t> cuda;
  std::vector<uint32_t> triton;
};

// Resolves accepted pairs in the same way as a list of pairs.
absl::Status FollowAccepted(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                            const v1::Clusters& clusters, FollowedReviews* followed) {
  v1::DatasetManifest listed;
  *listed.mutable_sources() = manifest.sources();
  std::vector<int> places;
  for (int i = 0; i < manifest.reviews_size(); ++i) {
    const v1::Review& review = manifest.reviews(i);
    if (review.has_kernel() || review.decision() != v1::REVIEW_DECISION_ACCEPT) continue;
    v1::CuratedPair* pair = listed.add_pairs();
    *pair->mutable_cuda() = review.cuda();
    *pair->mutable_triton() = review.triton();
    places.push_back(i);
  }
  ASSIGN_OR_RETURN(const std::vector<CuratedPair> pairs, FindCuratedPairs(store, listed, clusters));
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].problem.empty()) {
      followed->accepted.push_back(pairs[i]);
    } else {
      followed->problems.push_back({places[i], pairs[i].problem});
    }
  }
  return absl::OkStatus();
}

std::string FindProblem(const Sides& sides) {
  const char* const first = sides.cuda.empty() ? "cuda: no such kernel" : "";
  const char* const second = sides.triton.empty() ? "triton: no such kernel" : "";
  return absl::StrCat(first, *first != '\0' && *second != '\0' ? "; " : "", second);
}

}  // namespace

// The same index as CuratedPairFinder's, but it finds all matches and does not look at fates: a
// decision may be on a kernel that is not kept.
ReviewedKernelFinder::ReviewedKernelFinder(const Reviews& reviews) {
  for (int i = 0; i < reviews.size(); ++i) {
    if (reviews[i].has_kernel()) {
      Add(reviews[i].kernel(), i, Part::kKernel);
    } else {
      Add(reviews[i].cuda(), i, Part::kCuda);
      Add(reviews[i].triton(), i, Part::kTriton);
    }
  }
}

// Files a reference under its path, or else its id, as CuratedPairFinder does.
void ReviewedKernelFinder::Add(const v1::KernelReference& kernel, int review, Part part) {
  const std::string& key = kernel.path().empty() ? kernel.id() : kernel.path();
  by_key_[key].push_back(static_cast<uint32_t>(references_.size()));
  references_.push_back({&kernel, review, part});
}

absl::Status ReviewedKernelFinder::VisitTree(int source, const v1::SourceTree& tree) {
  repository_ = tree.repository();
  return absl::OkStatus();
}

// A reference is filed under one key, and a kernel looks under its three, so no match is found
// twice.
absl::Status ReviewedKernelFinder::VisitShard(const ShardView& view) {
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    const v1::Kernel& kernel = view.kernels->kernels(i);
    const std::string hash = absl::StrCat(job::kSha256Prefix, kernel.sha256());
    for (const std::string* key : {&kernel.id(), &kernel.path(), &hash}) {
      const auto references = by_key_.find(*key);
      if (references == by_key_.end()) continue;
      for (const uint32_t place : references->second) {
        const Reference& reference = references_[place];
        if (!NamesKernel(*reference.kernel, repository_, kernel)) continue;
        const uint32_t number = view.first_number + static_cast<uint32_t>(i);
        found_.push_back({number, reference.review, reference.part});
      }
    }
  }
  return absl::OkStatus();
}

// Walks the dataset up to twice: for accepted pairs, whose sides must be unique, and for the rest.
// A rejection applies to all pairs of its matches.
absl::StatusOr<FollowedReviews> FollowReviews(cas::BlobStore& store,
                                              const v1::DatasetManifest& manifest,
                                              const v1::Clusters& clusters) {
  FollowedReviews followed;
  if (manifest.reviews().empty()) return followed;
  RETURN_IF_ERROR(FollowAccepted(store, manifest, clusters, &followed));
  ReviewedKernelFinder finder(manifest.reviews());
  RETURN_IF_ERROR(WalkDataset(store, manifest, finder));
  std::vector<Sides> sides(static_cast<size_t>(manifest.reviews_size()));
  for (const ReviewedKernelFinder::Found& found : finder.found()) {
    const bool triton = found.part == ReviewedKernelFinder::Part::kTriton;
    // A kernel of a decision on one kernel goes to the CUDA side, whatever its language.
    Sides& of = sides[static_cast<size_t>(found.review)];
    (triton ? of.triton : of.cuda).push_back(found.number);
  }
  // A decision that names no kernel is a problem for the report, not an error: the kernel may have
  // disappeared from its repository since.
  for (int i = 0; i < manifest.reviews_size(); ++i) {
    const v1::Review& review = manifest.reviews(i);
    const Sides& of = sides[static_cast<size_t>(i)];
    if (review.has_kernel()) {
      if (of.cuda.empty()) followed.problems.push_back({i, "no such kernel"});
      continue;
    }
    if (review.decision() == v1::REVIEW_DECISION_ACCEPT) continue;
    for (const uint32_t cuda : of.cuda) {
      for (const uint32_t triton : of.triton) followed.rejected.emplace_back(cuda, triton);
    }
    std::string problem = FindProblem(of);
    if (!problem.empty()) followed.problems.push_back({i, std::move(problem)});
  }
  std::sort(followed.problems.begin(), followed.problems.end(),
            [](const ReviewProblem& a, const ReviewProblem& b) { return a.review < b.review; });
  return followed;
}

}  // namespace kernelmill::manifest
