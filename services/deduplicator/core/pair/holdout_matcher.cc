#include "services/deduplicator/core/pair/holdout_matcher.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/status.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {
namespace {

template <typename Field>
absl::Span<const uint64_t> SpanOf(const Field& field) {
  return absl::MakeConstSpan(field.data(), field.size());
}

std::vector<uint64_t> SetOf(absl::Span<const uint64_t> runs) {
  std::vector<uint64_t> set(runs.begin(), runs.end());
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

double SimilarityOf(const v1::HoldoutMatch& match) {
  return Similarity({match.common(), match.total()});
}

double Gravity(const v1::HoldoutMatch& match) {
  return std::max(SimilarityOf(match), Similarity({match.runs_common(), match.runs_holdout()}));
}

// Of many the kMaxMatches gravest; sorted by the holdout's number.
void KeepGravest(std::vector<v1::HoldoutMatch>* matches) {
  const auto by_gravity = [](const v1::HoldoutMatch& x, const v1::HoldoutMatch& y) {
    return std::make_pair(-Gravity(x), x.holdout()) < std::make_pair(-Gravity(y), y.holdout());
  };
  std::sort(matches->begin(), matches->end(), by_gravity);
  if (matches->size() > kMaxMatches) matches->resize(kMaxMatches);
  std::sort(matches->begin(), matches->end(),
            [](const auto& x, const auto& y) { return x.holdout() < y.holdout(); });
}

}  // namespace

absl::Status HoldoutMatcher::Add(uint32_t number, const v1::KernelShingles& kernel) {
  RETURN_IF_ERROR(CheckSet(SpanOf(kernel.near())));
  const auto index = static_cast<uint32_t>(holdouts_.size());
  const std::vector<uint64_t> runs = SetOf(SpanOf(kernel.runs()));
  holdouts_.push_back(
      {number, static_cast<uint32_t>(kernel.near_size()), static_cast<uint32_t>(runs.size())});
  for (const uint64_t shingle : kernel.near()) by_shingle_[shingle].push_back(index);
  for (const uint64_t run : runs) by_run_[run].push_back(index);
  shingles_common_.push_back(0);
  runs_common_.push_back(0);
  return absl::OkStatus();
}

void HoldoutMatcher::Count(const Postings& postings, absl::Span<const uint64_t> set,
                           std::vector<uint32_t>* common) {
  for (const uint64_t hash : set) {
    const auto found = postings.find(hash);
    if (found == postings.end()) continue;
    for (const uint32_t index : found->second) {
      if (shingles_common_[index] == 0 && runs_common_[index] == 0) touched_.push_back(index);
      ++(*common)[index];
    }
  }
}

absl::Status HoldoutMatcher::Match(uint32_t number, const v1::KernelShingles& kernel,
                                   google::protobuf::RepeatedPtrField<v1::HoldoutMatch>* matches) {
  RETURN_IF_ERROR(CheckSet(SpanOf(kernel.near())));
  touched_.clear();
  Count(by_shingle_, SpanOf(kernel.near()), &shingles_common_);
  Count(by_run_, SetOf(SpanOf(kernel.runs())), &runs_common_);
  std::vector<v1::HoldoutMatch> found;
  for (const uint32_t index : touched_) {
    const Holdout& holdout = holdouts_[index];
    v1::HoldoutMatch match;
    match.set_kernel(number);
    match.set_holdout(holdout.number);
    match.set_common(std::exchange(shingles_common_[index], 0));
    match.set_total(holdout.shingles + static_cast<uint32_t>(kernel.near_size()) - match.common());
    match.set_runs_common(std::exchange(runs_common_[index], 0));
    match.set_runs_holdout(holdout.runs);
    if (match.runs_common() > 0 || SimilarityOf(match) >= threshold_) {
      found.push_back(std::move(match));
    }
  }
  KeepGravest(&found);
  matches->Add(std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
