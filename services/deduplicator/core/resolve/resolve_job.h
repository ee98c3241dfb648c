#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_JOB_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_JOB_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/resolve/resolve.h"

namespace kernelmill::deduplicator {

inline constexpr double kThreshold = 0.7;

inline v1::DedupPolicy DefaultPolicy() {
  v1::DedupPolicy policy;
  policy.set_threshold(kThreshold);
  policy.set_structural_threshold(0.9);
  policy.mutable_contamination()->set_threshold(0.5);
  policy.mutable_contamination()->set_overlap(0.5);
  policy.mutable_contamination()->set_structural(0.85);
  return policy;
}

// A job of kernels that are told apart by single characters, each in a shard of its own.
class Job {
 public:
  struct Kernel {
    char sha = 0;   // 0: like no other
    char pair = 0;  // 0: like no other
    int tier = 1;
    double confidence = 1;
    bool holdout = false;
    std::string rejection;
    double score = 0;
    std::string path = "a.py";
    int line = 1;
    int source = 0;
    uint32_t words_common = 0;  // of 10
    uint64_t renamed = 0;       // 0: like no other
    std::string vendored;
    std::string target;
    bool adapted = false;
    std::string kind = {};
    v1::RuleResult::Outcome compiles = v1::RuleResult::OUTCOME_UNSPECIFIED;  // none: nobody tried
  };

  // Answers the kernel's number.
  uint32_t Add(const Kernel& kernel) {
    kernels_.push_back(kernel);
    return static_cast<uint32_t>(kernels_.size()) - 1;
  }
  uint32_t Add() { return Add(Kernel()); }
  void Near(uint32_t a, uint32_t b, uint32_t common = 8, uint32_t total = 10) {
    v1::Pair pair;
    pair.set_a(a);
    pair.set_b(b);
    pair.set_common(common);
    pair.set_total(total);
    pairs_.push_back(pair);
  }
  void Equal(uint32_t a, uint32_t b) { Near(a, b, 10, 10); }
  void Structural(uint32_t a, uint32_t b, uint32_t common = 19, uint32_t total = 20) {
    v1::Pair* pair = more_.add_structural();
    pair->set_a(a);
    pair->set_b(b);
    pair->set_common(common);
    pair->set_total(total);
  }
  void Version(uint32_t a, uint32_t b) {
    v1::Pair* pair = more_.add_versions();
    pair->set_a(a);
    pair->set_b(b);
    pair->set_common(6);
    pair->set_total(10);
  }
  // Of ten shingles and ten runs of the holdout's.
  v1::HoldoutMatch* Like(uint32_t kernel, uint32_t holdout, uint32_t common, uint32_t runs) {
    v1::HoldoutMatch* match = more_.add_holdouts();
    match->set_kernel(kernel);
    match->set_holdout(holdout);
    match->set_text(v1::Sensitive::TEXT_SOURCE);
    match->set_holdout_text(v1::Sensitive::TEXT_SOURCE);
    match->set_copies(1);
    match->set_common(common);
    match->set_total(10);
    match->set_runs_common(runs);
    match->set_runs_holdout(10);
    return match;
  }
  void Further(uint32_t kernel, int matches, double score) {
    v1::FurtherMatches* further = more_.add_further();
    further->set_kernel(kernel);
    further->set_matches(matches);
    further->set_score(score);
  }
  v1::DedupPolicy policy = DefaultPolicy();

  v1::Clusters Resolve() const { return ResolveWith(pairs_); }
  v1::Clusters ResolveWith(const std::vector<v1::Pair>& pairs) const {
    Resolver resolver(policy);
    for (uint32_t i = 0; i < kernels_.size(); ++i) AddTo(&resolver, i);
    for (const v1::Pair& pair : pairs) {
      v1::PairSet set;
      *set.add_pairs() = pair;
      EXPECT_THAT(resolver.AddPairs(set), testing::IsOk());
    }
    EXPECT_THAT(resolver.AddPairs(more_), testing::IsOk());
    if (opts_out) resolver.OptedOut();
    for (const auto& [number, opted_out] : takes_along) {
      resolver.RejectWith(number, "module", opted_out);
    }
    return resolver.Resolve();
  }
  bool opts_out = false;
  std::vector<std::pair<uint32_t, uint32_t>> takes_along;  // a kernel, and one that is opted out
  const std::vector<v1::Pair>& pairs() const { return pairs_; }

 private:
  void AddTo(Resolver* resolver, uint32_t i) const {
    const Kernel& kernel = kernels_[i];
    const auto hash = [&](char name, size_t size) {
      std::string hash = name != 0 ? std::string(1, name) : absl::StrCat("only ", i);
      hash.resize(size);
      return hash;
    };
    v1::SignatureShard signatures;
    signatures.set_sha256(hash(kernel.sha, 32));
    signatures.set_pair_sha1(hash(kernel.pair, 20));
    for (v1::TokenSets* sets : {signatures.mutable_near(), signatures.mutable_structural()}) {
      sets->add_hashes(i);
      sets->add_sizes(1);
      sets->set_minhash(std::string(256, 'a'));
    }
    signatures.add_words_common(kernel.words_common);
    signatures.add_words_total(10);
    signatures.add_paths(kernel.path);
    signatures.add_first_lines(kernel.line);
    signatures.add_names(0);
    signatures.add_renamed(kernel.renamed != 0 ? kernel.renamed : 1000 + i);
    v1::ShardOrigin origin;
    origin.set_holdout(kernel.holdout);
    origin.set_tier(kernel.tier);
    origin.set_source(kernel.source);
    v1::VerdictShard verdicts;
    v1::Verdict* verdict = verdicts.add_verdicts();
    verdict->set_accepted(kernel.rejection.empty());
    verdict->mutable_license()->set_confidence(kernel.confidence);
    verdict->mutable_license()->set_vendored(kernel.vendored);
    if (kernel.adapted) verdict->mutable_license()->add_adapted_from()->set_origin("elsewhere");
    verdict->set_target(kernel.target);
    verdict->set_kind(kernel.kind);
    if (kernel.compiles != v1::RuleResult::OUTCOME_UNSPECIFIED) {
      v1::RuleResult& rule = *verdict->add_rules();
      rule.set_rule("compiles");
      rule.set_outcome(kernel.compiles);
    }
    verdict->mutable_quality()->set_score(kernel.score);
    if (!kernel.rejection.empty()) verdict->add_reasons(kernel.rejection);
    EXPECT_THAT(resolver->AddShard(signatures, kernel.holdout ? nullptr : &verdicts, origin),
                testing::IsOk());
  }

  std::vector<Kernel> kernels_;
  std::vector<v1::Pair> pairs_;
  v1::PairSet more_;
};

// "kept", or "near of 3" and the like.
inline std::string Fate(const v1::Clusters& clusters, uint32_t number) {
  const v1::Decision& decision = clusters.decisions(static_cast<int>(number));
  switch (decision.fate()) {
    case v1::FATE_KEPT:
      return decision.leader() == number ? "kept" : "kept by another";
    case v1::FATE_REJECTED:
      return absl::StrCat("rejected ", decision.reason());
    case v1::FATE_DUPLICATE:
      return absl::StrCat(decision.reason(), " of ", decision.leader());
    case v1::FATE_CONTAMINATED:
      return absl::StrCat(decision.reason(), " holdout ", decision.leader());
    case v1::FATE_HOLDOUT:
      return "holdout";
    default:
      return "none";
  }
}

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_RESOLVE_JOB_H_
