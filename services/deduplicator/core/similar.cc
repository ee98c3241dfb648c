// The basic idea: sign the request's kernels once, and compare them with every kernel of the
// dataset, by their exact sets of shingles. Most comparisons end early: by the sizes of the sets,
// or when the rest of a merge cannot reach the threshold.
//
// A query without a language is signed as Python and as C. Kernels of either language are compared
// with the signature in their language.

#include "services/deduplicator/core/similar.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "common/manifest/walk.h"
#include "services/deduplicator/core/deduplicate.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {
namespace {

using Set = absl::Span<const uint64_t>;

// A view of one kernel of a signed shard.
struct SignedKernel {
  absl::string_view sha256;
  Set near;
  Set structural;
};

template <typename Repeated>
Set ToSet(const Repeated& shingles) {
  return absl::MakeConstSpan(shingles.data(), static_cast<size_t>(shingles.size()));
}

SignedKernel GetKernel(const SignedShard& shard, int i) {
  constexpr size_t kSha256Bytes = 32;
  const v1::KernelShingles& shingles = shard.shingles.kernels(i);
  const absl::string_view hashes = shard.signatures.sha256();
  return {hashes.substr(i * kSha256Bytes, kSha256Bytes), ToSet(shingles.near()),
          ToSet(shingles.structural())};
}

// Returns true if the similarity of two sets reaches the threshold. Tests the sizes first.
bool Reaches(Set a, Set b, double threshold) {
  return SizesMayReach(a.size(), b.size(), threshold) &&
         Similarity(CompareAtLeast(a, b, threshold)) >= threshold;
}

// Returns nothing if neither measure reaches the threshold.
std::optional<KernelSimilarity> Compared(const SignedKernel& a, const SignedKernel& b,
                                         double threshold) {
  KernelSimilarity scores;
  if (a.sha256 == b.sha256) {
    scores.kind = KernelSimilarity::Kind::kExact;
  } else if (Reaches(a.near, b.near, threshold)) {
    scores.kind = KernelSimilarity::Kind::kNear;
  } else if (Reaches(a.structural, b.structural, threshold)) {
    scores.kind = KernelSimilarity::Kind::kStructural;
  } else {
    return std::nullopt;
  }
  scores.near = Similarity(Compare(a.near, b.near));
  scores.structural = Similarity(Compare(a.structural, b.structural));
  scores.similarity = scores.kind == KernelSimilarity::Kind::kExact  ? 1
                      : scores.kind == KernelSimilarity::Kind::kNear ? scores.near
                                                                     : scores.structural;
  return scores;
}

// Returns true if `a` ranks before `b`: the more similar first, then the stricter kind, then the
// order of the dataset, so that the result is deterministic.
bool Before(const SimilarFinder::Found& a, const SimilarFinder::Found& b) {
  if (a.scores.similarity != b.scores.similarity) {
    return a.scores.similarity > b.scores.similarity;
  }
  return std::tie(a.scores.kind, a.source, a.path, a.first_line, a.number) <
         std::tie(b.scores.kind, b.source, b.path, b.first_line, b.number);
}

int64_t GetTop(const v1::SimilarRequest& request) {
  return request.top() == 0 ? kDefaultTop : request.top();
}

double GetThreshold(const v1::SimilarRequest& request) {
  return request.threshold() == 0 ? kDefaultThreshold : request.threshold();
}

// Signs the request's kernels. One without a language is read in the given one.
SignedShard SignQueries(const v1::SimilarRequest& request, Language language) {
  SignedShard shard;
  for (const v1::Kernel& given : request.kernels()) {
    // Other fields are ignored: the caller may send offsets that do not fit the text.
    v1::Kernel kernel;
    kernel.set_source(given.source());
    kernel.set_name(given.name());
    kernel.set_dsl(given.dsl());
    if (given.dsl().empty() && language == Language::kC) {
      kernel.set_dsl(dsl::kCuda);
    }
    Sign(kernel, &shard);
  }
  return shard;
}

}  // namespace

absl::string_view KindName(KernelSimilarity::Kind kind) {
  switch (kind) {
    case KernelSimilarity::Kind::kExact:
      return "exact";
    case KernelSimilarity::Kind::kNear:
      return "near";
    case KernelSimilarity::Kind::kStructural:
      return "structural";
  }
  return "";
}

// Bounds the work of one request, which compares each of its kernels with the whole dataset.
absl::Status SimilarFinder::Check(const v1::SimilarRequest& request) {
  int64_t bytes = 0;
  for (const v1::Kernel& kernel : request.kernels()) {
    bytes += static_cast<int64_t>(kernel.source().size() + kernel.name().size());
  }
  if (request.kernels_size() > kMaxQueries || bytes > kMaxTextBytes) {
    return absl::InvalidArgumentError(absl::StrCat("kernels: ", request.kernels_size(),
                                                   " kernels of ", bytes, " bytes; at most ",
                                                   kMaxQueries, " and ", kMaxTextBytes));
  }
  if (request.top() < 0 || GetTop(request) * request.kernels_size() > kMaxSimilar) {
    return absl::InvalidArgumentError(
        absl::StrCat("top: ", GetTop(request), " for each of ", request.kernels_size(),
                     " kernels; must be at least 0, and at most ", kMaxSimilar, " in total"));
  }
  const double threshold = GetThreshold(request);
  if (threshold > 0 && threshold <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("threshold: must be over 0 and at most 1, not ", threshold));
}

SimilarFinder::SimilarFinder(const v1::SimilarRequest& request)
    : top_(static_cast<size_t>(GetTop(request))),
      threshold_(GetThreshold(request)),
      python_(SignQueries(request, Language::kPython)),
      c_(SignQueries(request, Language::kC)),
      found_(request.kernels_size()) {}

// Compares a shard with all queries and keeps only the best results, so memory does not grow with
// the dataset.
void SimilarFinder::Add(const v1::KernelShard& kernels, int source, uint32_t first_number) {
  const SignedShard shard = SignShard(kernels);
  for (int i = 0; i < kernels.kernels_size(); ++i) {
    const v1::Kernel& kernel = kernels.kernels(i);
    if (manifest::IsFile(kernel)) continue;
    const SignedKernel signed_kernel = GetKernel(shard, i);
    const SignedShard& queries = dsl::GetSyntax(kernel.dsl()) == Language::kC ? c_ : python_;
    for (size_t query = 0; query < found_.size(); ++query) {
      const std::optional<KernelSimilarity> scores =
          Compared(GetKernel(queries, static_cast<int>(query)), signed_kernel, threshold_);
      if (!scores.has_value()) continue;
      Enter({*scores, source, first_number + static_cast<uint32_t>(i), kernel.path(),
             kernel.first_line()},
            &found_[query]);
    }
  }
  compared_ += kernels.kernels_size();
}

// Inserts a result into the sorted list of the best ones, and drops the last if there are too many.
void SimilarFinder::Enter(Found found, std::vector<Found>* best) const {
  const auto place = std::upper_bound(best->begin(), best->end(), found, Before);
  if (place == best->end() && best->size() == top_) return;
  best->insert(place, std::move(found));
  if (best->size() > top_) best->pop_back();
}

}  // namespace kernelmill::deduplicator
