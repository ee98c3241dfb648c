#include "common/dataset/curated_pairs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/dataset/ledger.h"

namespace kernelmill::dataset {
namespace {

absl::string_view DslWord(v1::Dsl dsl) { return dsl == v1::DSL_CUDA ? "cuda" : "triton"; }

}  // namespace

CuratedPairFinder::CuratedPairFinder(const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters)
    : manifest_(manifest), clusters_(clusters) {
  for (const v1::CuratedPair& pair : manifest.pairs()) AddPair(pair.cuda(), pair.triton(), -1);
  for (const auto decision : {v1::REVIEW_DECISION_ACCEPT, v1::REVIEW_DECISION_REJECT}) {
    for (int i = 0; i < manifest.reviews_size(); ++i) {
      const v1::Review& review = manifest.reviews(i);
      if (review.has_kernel() || review.decision() != decision) continue;
      AddPair(review.cuda(), review.triton(), i);
    }
  }
}

void CuratedPairFinder::AddPair(const v1::KernelReference& cuda, const v1::KernelReference& triton,
                                int review) {
  reviews_.push_back(review);
  AddSide(cuda, v1::DSL_CUDA);
  AddSide(triton, v1::DSL_TRITON);
}

void CuratedPairFinder::AddSide(const v1::KernelReference& reference, v1::Dsl dsl) {
  references_.Add(reference);
  sides_.emplace_back().dsl = dsl;
}

absl::Status CuratedPairFinder::VisitTree(int source, const v1::SourceTree& tree) {
  repository_ = tree.repository();
  return absl::OkStatus();
}

absl::Status CuratedPairFinder::VisitShard(const ShardView& view) {
  if (sides_.empty()) return absl::OkStatus();
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    const v1::Kernel& kernel = view.kernels->kernels(i);
    for (const uint32_t side : references_.Naming(repository_, kernel)) {
      Meet(kernel, view.first_number + static_cast<uint32_t>(i), sides_[side]);
    }
  }
  return absl::OkStatus();
}

void CuratedPairFinder::Meet(const v1::Kernel& kernel, uint32_t number, Side& side) const {
  const v1::Decision* decision = DecisionOn(clusters_, number);
  const v1::Fate fate = decision == nullptr ? v1::FATE_UNSPECIFIED : decision->fate();
  if (fate == v1::FATE_KEPT && kernel.dsl() == side.dsl) {
    if (side.taken++ == 0) side.number = number;
    side.numbers.push_back(number);
  } else if (side.unfit.empty()) {
    side.unfit = kernel.dsl() != side.dsl ? absl::StrCat("is not ", DslWord(side.dsl))
                                          : absl::StrCat("is ", FateName(fate));
    if (kernel.dsl() == side.dsl && decision != nullptr && !decision->reason().empty()) {
      absl::StrAppend(&side.unfit, " as ", decision->reason());
    }
  }
}

std::string CuratedPairFinder::ProblemOf(const Side& side) {
  if (side.taken == 1) return "";
  const absl::string_view name = DslWord(side.dsl);
  if (side.taken > 1) return absl::StrCat(name, ": ", side.taken, " kernels are so");
  return absl::StrCat(name, ": ", side.unfit.empty() ? "no such kernel" : side.unfit);
}

// A rejected pair may have kernels that were not kept: it is no candidate then either.
std::string CuratedPairFinder::ProblemOf(const Side& cuda, const Side& triton, bool rejected) {
  const auto problem = [rejected](const Side& side) {
    return rejected && (side.taken > 0 || !side.unfit.empty()) ? "" : ProblemOf(side);
  };
  const std::string first = problem(cuda);
  const std::string second = problem(triton);
  return absl::StrCat(first, first.empty() || second.empty() ? "" : "; ", second);
}

void CuratedPairFinder::FindRejected(size_t pair, std::vector<CuratedPair>* pairs) const {
  const Side& cuda = sides_[2 * pair];
  const Side& triton = sides_[2 * pair + 1];
  for (const uint32_t a : cuda.numbers) {
    for (const uint32_t b : triton.numbers) pairs->push_back({a, b, "", reviews_[pair], true});
  }
  std::string problem = ProblemOf(cuda, triton, /*rejected=*/true);
  if (!problem.empty()) pairs->push_back({0, 0, std::move(problem), reviews_[pair], true});
}

std::vector<CuratedPair> CuratedPairFinder::Find() const {
  std::vector<CuratedPair> pairs;
  for (size_t i = 0; i < reviews_.size(); ++i) {
    const int review = reviews_[i];
    if (review >= 0 && manifest_.reviews(review).decision() == v1::REVIEW_DECISION_REJECT) {
      FindRejected(i, &pairs);
      continue;
    }
    const Side& cuda = sides_[2 * i];
    const Side& triton = sides_[2 * i + 1];
    pairs.push_back({cuda.number, triton.number, ProblemOf(cuda, triton, /*rejected=*/false),
                     review, /*rejected=*/false});
  }
  return pairs;
}

absl::StatusOr<std::vector<CuratedPair>> FindCuratedPairs(cas::BlobStore& store,
                                                          const v1::DatasetManifest& manifest,
                                                          const v1::Clusters& clusters) {
  CuratedPairFinder finder(manifest, clusters);
  if (finder.empty()) return std::vector<CuratedPair>();
  RETURN_IF_ERROR(WalkDataset(store, manifest, finder));
  return finder.Find();
}

}  // namespace kernelmill::dataset
