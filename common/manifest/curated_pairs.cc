#include "common/manifest/curated_pairs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/dsl/names.h"
#include "common/job/review_list.h"
#include "common/manifest/ledger.h"
#include "common/words/enum_words.h"

namespace kernelmill::manifest {

// The basic idea: an index from path or id to the sides of all pairs. So one walk over the dataset
// finds all pairs, and each kernel costs three look-ups, however many pairs there are.
CuratedPairFinder::CuratedPairFinder(const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters)
    : clusters_(clusters) {
  for (const v1::CuratedPair& pair : manifest.pairs()) {
    AddSide(pair.cuda(), dsl::kCuda);
    AddSide(pair.triton(), dsl::kTriton);
  }
}

// Sides are filed under one key each: the path if the reference has one, else the id. Those of pair
// i are at 2i and 2i+1.
void CuratedPairFinder::AddSide(const v1::KernelReference& reference, absl::string_view dsl) {
  const std::string& key = reference.path().empty() ? reference.id() : reference.path();
  by_key_[key].push_back(static_cast<uint32_t>(sides_.size()));
  sides_.push_back({.reference = &reference, .dsl = std::string(dsl)});
}

absl::Status CuratedPairFinder::VisitTree(int source, const v1::SourceTree& tree) {
  repository_ = tree.repository();
  return absl::OkStatus();
}

absl::Status CuratedPairFinder::VisitShard(const ShardView& view) {
  if (sides_.empty()) return absl::OkStatus();
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    const v1::Kernel& kernel = view.kernels->kernels(i);
    if (IsFile(kernel)) continue;
    const std::string hash = absl::StrCat(job::kSha256Prefix, kernel.sha256());
    for (const std::string* key : {&kernel.id(), &kernel.path(), &hash}) {
      const auto sides = by_key_.find(*key);
      if (sides == by_key_.end()) continue;
      for (const uint32_t side : sides->second) {
        Meet(kernel, view.first_number + static_cast<uint32_t>(i), sides_[side]);
      }
    }
  }
  return absl::OkStatus();
}

// Notes a kernel whose path or id matches a side. Counts usable ones; of the others it keeps the
// first's reason, for the error.
void CuratedPairFinder::Meet(const v1::Kernel& kernel, uint32_t number, Side& side) const {
  if (!NamesKernel(*side.reference, repository_, kernel)) return;
  const v1::Decision* decision = DecisionOn(clusters_, number);
  const v1::Fate fate = decision == nullptr ? v1::FATE_UNSPECIFIED : decision->fate();
  if (fate == v1::FATE_KEPT && kernel.dsl() == side.dsl) {
    if (side.taken++ == 0) side.number = number;
  } else if (side.unfit.empty()) {
    side.unfit = kernel.dsl() != side.dsl ? absl::StrCat("is not ", side.dsl)
                                          : absl::StrCat("is ", FateName(fate));
    if (kernel.dsl() == side.dsl && decision != nullptr && !decision->reason().empty()) {
      absl::StrAppend(&side.unfit, " as ", decision->reason());
    }
  }
}

// Returns the reason why the side has no kernel, or "" if it has exactly one.
std::string CuratedPairFinder::FindProblem(const Side& side) {
  if (side.taken == 1) return "";
  const std::string name = side.dsl;
  if (side.taken > 1) return absl::StrCat(name, ": ", side.taken, " kernels are so");
  return absl::StrCat(name, ": ", side.unfit.empty() ? "no such kernel" : side.unfit);
}

// Returns a pair for each one that the job lists, in its order. A pair with a problem has no
// kernels; the export goes on without it, and the report names it.
std::vector<CuratedPair> CuratedPairFinder::Find() const {
  std::vector<CuratedPair> pairs;
  for (size_t i = 0; i + 1 < sides_.size(); i += 2) {
    const Side& cuda = sides_[i];
    const Side& triton = sides_[i + 1];
    CuratedPair& pair = pairs.emplace_back(CuratedPair{cuda.number, triton.number, ""});
    pair.problem = FindProblem(cuda);
    const std::string other = FindProblem(triton);
    if (!other.empty()) absl::StrAppend(&pair.problem, pair.problem.empty() ? "" : "; ", other);
  }
  return pairs;
}

// Walks the dataset only if the job lists pairs.
absl::StatusOr<std::vector<CuratedPair>> FindCuratedPairs(cas::BlobStore& store,
                                                          const v1::DatasetManifest& manifest,
                                                          const v1::Clusters& clusters) {
  if (manifest.pairs().empty()) return std::vector<CuratedPair>();
  CuratedPairFinder finder(manifest, clusters);
  RETURN_IF_ERROR(WalkDataset(store, manifest, finder));
  return finder.Find();
}

namespace {

// Compares an id, which is the kernel's id or the hash of its source.
bool HasId(absl::string_view id, const v1::Kernel& kernel) {
  if (absl::ConsumePrefix(&id, job::kSha256Prefix)) return id == kernel.sha256();
  return id == kernel.id();
}

}  // namespace

// Every field that the reference gives must fit; fields that it does not give fit everything.
bool NamesKernel(const v1::KernelReference& reference, const std::string& repository,
                 const v1::Kernel& kernel) {
  if (!reference.repository().empty() && reference.repository() != repository) return false;
  if (!reference.id().empty() && !HasId(reference.id(), kernel)) return false;
  if (!reference.path().empty() && reference.path() != kernel.path()) return false;
  if (!reference.name().empty() && reference.name() != kernel.name() &&
      reference.name() != kernel.qualname()) {
    return false;
  }
  const int line = reference.line();
  return line == 0 || (kernel.first_line() <= line && line <= kernel.last_line());
}

}  // namespace kernelmill::manifest
