#include "services/deduplicator/core/resolve/resolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"

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
    uint32_t words_common = 0;         // out of 10
    uint64_t renamed = 0;              // 0: like no other
    uint64_t name = 0;                 // 0: none
    uint64_t computation = 0;          // 0: unknown
    std::string url;                   // of its source
    std::string origin = "elsewhere";  // if adapted
    std::string vendored;
    std::string target;
    bool adapted = false;
    std::string kind = {};
    v1::RuleResult::Outcome compiles =
        v1::RuleResult::OUTCOME_UNSPECIFIED;  // unspecified: not tried
  };

  // Returns the kernel's number.
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
  // Adds a match; the holdout has ten shingles and ten runs.
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
    signatures.add_names(kernel.name);
    signatures.add_computations(kernel.computation);
    signatures.add_renamed(kernel.renamed != 0 ? kernel.renamed : 1000 + i);
    v1::ShardOrigin origin;
    origin.set_holdout(kernel.holdout);
    origin.set_tier(kernel.tier);
    origin.set_source(kernel.source);
    origin.set_url(kernel.url);
    v1::VerdictShard verdicts;
    v1::Verdict* verdict = verdicts.add_verdicts();
    verdict->set_accepted(kernel.rejection.empty());
    verdict->mutable_license()->set_confidence(kernel.confidence);
    verdict->mutable_license()->set_vendored(kernel.vendored);
    if (kernel.adapted) verdict->mutable_license()->add_adapted_from()->set_origin(kernel.origin);
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

namespace {

using ::kernelmill::testing::StatusIs;

TEST(Resolver, AChainIsNotClosed) {
  Job job;
  const uint32_t a = job.Add(), b = job.Add(), c = job.Add();
  job.Near(a, b);
  job.Near(b, c);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, a), "kept");
  EXPECT_EQ(Fate(clusters, b), "near of 0");
  EXPECT_EQ(Fate(clusters, c), "kept");
  EXPECT_DOUBLE_EQ(clusters.decisions(1).similarity(), 0.8);
}

TEST(Resolver, TheStrictestKindIsNamed) {
  Job job;
  job.Add({.sha = 'x', .pair = 'p'});
  job.Add({.sha = 'x', .pair = 'p'});
  job.Add({.pair = 'p'});
  job.Add();
  for (const uint32_t other : {1, 2, 3}) job.Equal(0, other);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "exact of 0");
  EXPECT_EQ(Fate(clusters, 2), "pair of 0");
  EXPECT_EQ(Fate(clusters, 3), "near of 0");
  EXPECT_EQ(clusters.decisions(3).similarity(), 1);
}

TEST(Resolver, TheOriginalRanksBeforeItsCopies) {
  Job job;
  job.Add({.sha = 'x', .vendored = "third_party/lib", .target = "generic"});
  job.Add({.sha = 'x', .target = "ascend"});
  job.Add({.sha = 'x', .score = 0.9, .adapted = true});
  job.Add({.sha = 'x', .score = 0.9, .kind = "test"});
  job.Add({.sha = 'x', .target = "generic", .kind = "operation"});
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 4), "kept");
  for (const uint32_t other : {0, 1, 2, 3}) EXPECT_EQ(Fate(clusters, other), "exact of 4");
  Job two;
  two.Add({.sha = 'x', .vendored = "third_party/lib"});
  two.Add({.sha = 'x', .target = "ascend", .adapted = true});
  EXPECT_EQ(Fate(two.Resolve(), 0), "exact of 1");
}

// A copy that says nothing is no original, although its source comes first in the job.
TEST(Resolver, WhatOthersNameAsTheirOriginIsTheOriginal) {
  const auto resolve = [](const std::string& origin, uint64_t name) {
    Job job;
    job.Add({.sha = 'x', .source = 0, .name = 5, .url = "https://github.com/some/copy"});
    job.Add({.sha = 'x', .source = 1, .name = 5, .url = "https://github.com/Lab/kernels"});
    job.Add({.sha = 'x',
             .source = 2,
             .name = name,
             .url = "https://github.com/other/lib",
             .origin = origin,
             .adapted = true});
    return job.Resolve();
  };
  for (const std::string origin :
       {"https://github.com/lab/kernels/blob/main/ops/a.py", "Lab/kernels", "kernels"}) {
    const v1::Clusters clusters = resolve(origin, 5);
    EXPECT_EQ(Fate(clusters, 0), "exact of 1") << origin;
    EXPECT_EQ(Fate(clusters, 2), "exact of 1") << origin;
    EXPECT_EQ(clusters.decisions(0).preferred_by(), "origin");
  }
  EXPECT_EQ(Fate(resolve("nobody/else", 5), 1), "exact of 0");
  EXPECT_EQ(Fate(resolve("Lab/kernels", 6), 1), "exact of 0") << "another kernel's origin";
  EXPECT_EQ(resolve("nobody/else", 5).decisions(1).preferred_by(), "source");
}

TEST(Resolver, ARenamedCopyIsADuplicate) {
  Job job;
  job.Add({.renamed = 5});
  job.Add({.renamed = 5});
  job.Add({.pair = 'p', .renamed = 6});
  job.Add({.pair = 'p', .renamed = 6});
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "renamed of 0");
  EXPECT_EQ(Fate(clusters, 3), "pair of 2");
}

TEST(Resolver, AVersionInAnotherTreeIsADuplicate) {
  Job job;
  job.Add();
  job.Add({.source = 1});
  job.Add();  // in the same tree: its author told them apart
  job.Version(0, 1);
  job.Version(0, 2);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "version of 0");
  EXPECT_DOUBLE_EQ(clusters.decisions(1).similarity(), 0.6);
  EXPECT_EQ(Fate(clusters, 2), "kept");
}

TEST(Resolver, OneComputationIsAVersionWithinATreeToo) {
  const auto resolve = [](const std::string& path, uint64_t name, uint64_t computation) {
    Job job;
    job.Add({.path = "a.py", .name = 5, .computation = 9});
    job.Add({.path = path, .name = name, .computation = computation});
    job.Version(0, 1);
    return Fate(job.Resolve(), 1);
  };
  EXPECT_EQ(resolve("b.py", 6, 9), "version of 0");
  EXPECT_EQ(resolve("a.py", 5, 9), "version of 0");
  EXPECT_EQ(resolve("a.py", 6, 9), "kept") << "named apart in one file";
  EXPECT_EQ(resolve("b.py", 5, 8), "kept") << "something else";
  EXPECT_EQ(resolve("b.py", 5, 0), "kept") << "not known";
}

TEST(Resolver, AVersionOfACopyIsOneOfTheOriginal) {
  Job job;
  job.Add({.source = 0});
  job.Add({.source = 1});
  job.Add({.source = 2});
  job.Equal(0, 1);
  job.Version(1, 2);
  EXPECT_EQ(Fate(job.Resolve(), 1), "near of 0");
  EXPECT_EQ(Fate(job.Resolve(), 2), "version of 0");
}

// Each kernel is better than the one before it by the next thing that counts, and worse by all that
// count less.
TEST(Resolver, RankIsLicenceTierSourceQualityPathLine) {
  Job job;
  job.Add({.sha = 'x', .tier = 1, .confidence = 0.5, .score = 0.2});
  job.Add({.sha = 'x', .tier = 2, .confidence = 0.9, .score = 0.2});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.9, .path = "a", .source = 3});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.1, .path = "a", .source = 1});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.2, .path = "c", .line = 1, .source = 1});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.2, .path = "b", .line = 9, .source = 1});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.2, .path = "b", .line = 8, .source = 1});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.2, .path = "b", .line = 8, .source = 1});
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 6), "kept");
  for (const uint32_t other : {0, 1, 2, 3, 4, 5, 7}) {
    EXPECT_EQ(Fate(clusters, other), "exact of 6") << other;
  }
}

TEST(Resolver, OfEqualKernelsTheOneThatCompilesIsKept) {
  Job job;
  job.Add({.sha = 'x', .score = 0.9, .compiles = v1::RuleResult::OUTCOME_FAIL});
  job.Add({.sha = 'x', .score = 0.9, .compiles = v1::RuleResult::OUTCOME_EXEMPT});
  job.Add({.sha = 'x', .source = 5, .compiles = v1::RuleResult::OUTCOME_PASS});
  job.Add({.sha = 'x', .tier = 2, .score = 1, .compiles = v1::RuleResult::OUTCOME_PASS});
  EXPECT_EQ(Fate(job.Resolve(), 2), "kept");
  Job unknown;
  unknown.Add({.sha = 'x', .score = 0.9, .compiles = v1::RuleResult::OUTCOME_FAIL});
  unknown.Add({.sha = 'x', .source = 5});
  EXPECT_EQ(Fate(unknown.Resolve(), 1), "kept") << "an untested kernel may compile";
}

TEST(Resolver, StructuralDuplicatesGoWhereThePolicyAsksForIt) {
  Job job;
  for (int i = 0; i < 5; ++i) job.Add();
  job.Structural(0, 1, 20, 20);
  job.Structural(0, 2);
  job.Structural(0, 3, 17, 20);  // not that alike
  job.Structural(0, 4);
  job.Near(0, 4);
  v1::Clusters clusters = job.Resolve();
  for (const uint32_t kernel : {0, 1, 2, 3}) EXPECT_EQ(Fate(clusters, kernel), "kept");
  job.policy.set_structural(true);
  clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "structural of 0");
  EXPECT_EQ(Fate(clusters, 2), "structural of 0");
  EXPECT_DOUBLE_EQ(clusters.decisions(2).similarity(), 0.95);
  EXPECT_EQ(Fate(clusters, 3), "kept");
  EXPECT_EQ(Fate(clusters, 4), "near of 0");  // the stricter kind
}

TEST(Resolver, AStructuralChainIsNotClosed) {
  Job job;
  job.policy.set_structural(true);
  for (int i = 0; i < 3; ++i) job.Add();
  job.Structural(0, 1);
  job.Structural(1, 2);
  EXPECT_EQ(Fate(job.Resolve(), 1), "structural of 0");
  EXPECT_EQ(Fate(job.Resolve(), 2), "kept");
}

TEST(Resolver, APromptThatGivesItsCompletionAwayIsFlagged) {
  Job job;
  job.Add({.words_common = 8});
  job.Add({.words_common = 7});
  const v1::Clusters clusters = job.Resolve();
  EXPECT_DOUBLE_EQ(clusters.decisions(0).word_overlap(), 0.8);
  EXPECT_EQ(Fate(clusters, 0), "kept");
  EXPECT_EQ(clusters.decisions(1).word_overlap(), 0);
}

TEST(Resolver, JoinsTheFirstLeaderNotTheMostSimilar) {
  Job job;
  for (int i = 0; i < 3; ++i) job.Add();
  job.Near(0, 2, 7, 10);
  job.Near(1, 2, 9, 10);
  EXPECT_EQ(Fate(job.Resolve(), 2), "near of 0");
}

TEST(Resolver, ACopyOfARejectedKernelSurvives) {
  Job job;
  job.Add({.sha = 'x', .rejection = "license:GPL-3.0-only"});
  job.Add({.sha = 'x'});
  job.Add();
  job.Equal(0, 1);
  job.Near(0, 2);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 0), "rejected license:GPL-3.0-only");
  EXPECT_EQ(Fate(clusters, 1), "kept");
  EXPECT_EQ(Fate(clusters, 2), "near of 1");  // which it was never compared with by itself
}

TEST(Resolver, AGroupOfEqualSetsNeedsNoFirstToStandForIt) {
  Job job;
  job.Add({.rejection = "quality:parse"});
  for (int i = 1; i < 4; ++i) {
    job.Add();
    job.Equal(0, i);
  }
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "kept");
  EXPECT_EQ(Fate(clusters, 2), "near of 1");
  EXPECT_EQ(Fate(clusters, 3), "near of 1");
}

TEST(Resolver, PairsBelowTheThresholdDoNotCount) {
  Job job;
  job.Add();
  job.Add();
  job.Near(0, 1, 69, 100);
  EXPECT_EQ(Fate(job.Resolve(), 1), "kept");
}

TEST(Resolver, TheOrderOfPairsAndTheirRepeatsDoNotCount) {
  Job job;
  for (int i = 0; i < 8; ++i) job.Add({.tier = 1 + i % 3});
  for (uint32_t a = 0; a < 8; ++a) {
    for (uint32_t b = a + 1; b < 8; b += 1 + a % 2) job.Near(a, b, 7 + (a + b) % 4, 10);
  }
  const std::string expected = job.Resolve().SerializeAsString();
  std::vector<v1::Pair> pairs = job.pairs();
  std::reverse(pairs.begin(), pairs.end());
  EXPECT_EQ(job.ResolveWith(pairs).SerializeAsString(), expected);
  pairs.insert(pairs.end(), job.pairs().begin(), job.pairs().end());
  EXPECT_EQ(job.ResolveWith(pairs).SerializeAsString(), expected);
}

TEST(Resolver, AConfidenceThatIsNoNumberRanksLast) {
  Job job;
  job.Add({.sha = 'x', .confidence = std::numeric_limits<double>::quiet_NaN()});
  job.Add({.sha = 'x', .confidence = 0.1});
  EXPECT_EQ(Fate(job.Resolve(), 0), "exact of 1");
}

TEST(Resolver, RefusesWhatDoesNotFitTogether) {
  Resolver resolver(DefaultPolicy());
  v1::VerdictShard verdict;
  verdict.add_verdicts();
  EXPECT_THAT(resolver.AddShard({}, &verdict, {}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(resolver.AddShard({}, nullptr, {}), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::PairSet pairs;
  pairs.add_pairs()->set_b(1);
  EXPECT_THAT(resolver.AddPairs(pairs), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::PairSet holdouts;
  holdouts.add_holdouts();
  EXPECT_THAT(resolver.AddPairs(holdouts), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::PairSet further;
  further.add_further();
  EXPECT_THAT(resolver.AddPairs(further), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::PairSet versions;
  versions.add_versions()->set_b(1);
  EXPECT_THAT(resolver.AddPairs(versions), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace

namespace {

// Two holdouts' kernels, 4 and 5, and what is like them.
Job HoldoutJob() {
  Job job;
  for (int i = 0; i < 4; ++i) job.Add();
  job.Add({.holdout = true});
  job.Add({.holdout = true});
  job.Add({.rejection = "license:NOASSERTION"});
  job.Add();
  job.Add();
  for (const uint32_t same : {0, 6}) job.Like(same, 4, 10, 10)->set_same_tokens(true);
  job.Like(2, 4, 5, 0);
  job.Like(2, 5, 8, 10);
  job.Like(7, 5, 4, 5);
  job.Like(8, 5, 4, 4);
  job.Near(2, 3);
  return job;
}

// "exact 4 1", for each holdout named; then how many are not, and the highest score of these.
std::string Named(const v1::Clusters& clusters, uint32_t number) {
  const v1::Decision& decision = clusters.decisions(static_cast<int>(number));
  std::string text;
  for (const v1::Contamination& match : decision.contamination()) {
    EXPECT_TRUE(match.decisive());
    absl::StrAppend(&text, match.rule(), " ", match.text(), " ", match.holdout(), " ",
                    match.score(), "; ");
  }
  if (decision.weak_matches() == 0) return text;
  return absl::StrCat(text, decision.weak_matches(), " weak, ", decision.weak_score());
}

TEST(ResolveHoldouts, HoldoutsContaminate) {
  const v1::Clusters clusters = HoldoutJob().Resolve();
  EXPECT_EQ(Fate(clusters, 0), "exact:source holdout 4");
  EXPECT_EQ(Fate(clusters, 1), "kept");
  EXPECT_EQ(Fate(clusters, 2), "near:source holdout 5");  // the more similar one
  EXPECT_DOUBLE_EQ(clusters.decisions(2).similarity(), 0.8);
  EXPECT_EQ(Fate(clusters, 3), "kept");  // a contaminated kernel takes none with it
  EXPECT_EQ(Fate(clusters, 4), "holdout");
  EXPECT_EQ(Fate(clusters, 5), "holdout");
  EXPECT_EQ(Fate(clusters, 6), "rejected license:NOASSERTION");
  EXPECT_EQ(Fate(clusters, 7), "overlap:source holdout 5");
  EXPECT_EQ(Fate(clusters, 8), "kept");
}

TEST(ResolveHoldouts, DecisiveMatchesAreNamedAndWeakOnesCounted) {
  Job job = HoldoutJob();
  job.Further(8, 12, 0.3);
  job.Further(7, 2, 0.45);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Named(clusters, 0), "exact source 4 1; ");
  EXPECT_EQ(Named(clusters, 2), "near source 5 0.8; near source 4 0.5; ");
  EXPECT_EQ(Named(clusters, 3), "");
  EXPECT_EQ(Named(clusters, 6), "exact source 4 1; ");  // though it is rejected
  EXPECT_EQ(Named(clusters, 7), "overlap source 5 0.5; 2 weak, 0.45");
  EXPECT_EQ(Named(clusters, 8), "13 weak, 0.4");  // too little to drop it
}

TEST(ResolveHoldouts, AnyExportedTextContaminates) {
  Job job;
  for (int i = 0; i < 6; ++i) job.Add();
  job.Add({.holdout = true});
  const auto like = [&](uint32_t kernel, v1::Sensitive::Text text, uint32_t runs) {
    v1::HoldoutMatch* match = job.Like(kernel, 6, 0, runs);
    match->set_text(text);
    return match;
  };
  like(0, v1::Sensitive::TEXT_MODULE, 10);
  like(1, v1::Sensitive::TEXT_LAUNCHER, 6)->set_holdout_text(v1::Sensitive::TEXT_LAUNCHER);
  v1::HoldoutMatch* contained = like(2, v1::Sensitive::TEXT_SOURCE, 4);
  contained->set_runs_covered(70);
  contained->set_runs_text(100);
  v1::HoldoutMatch* structural = job.Like(3, 6, 3, 0);
  structural->set_structural_common(90);
  structural->set_structural_total(100);
  structural->set_copies(4);
  v1::HoldoutMatch* less = job.Like(4, 6, 3, 0);
  less->set_structural_common(84);
  less->set_structural_total(100);
  v1::HoldoutMatch* weak = like(5, v1::Sensitive::TEXT_SOURCE, 4);
  weak->set_runs_covered(49);
  weak->set_runs_text(100);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 0), "overlap:module holdout 6");
  EXPECT_EQ(Fate(clusters, 1), "kept");  // without its launcher's text
  EXPECT_EQ(Named(clusters, 1), "overlap launcher 6 0.6; ");
  EXPECT_EQ(clusters.decisions(1).contamination(0).holdout_text(), "launcher");
  EXPECT_EQ(Fate(clusters, 2), "contained:source holdout 6");
  EXPECT_EQ(Fate(clusters, 3), "structural:source holdout 6");
  EXPECT_EQ(clusters.decisions(3).contamination(0).copies(), 4);
  EXPECT_EQ(Fate(clusters, 4), "kept");
  EXPECT_EQ(Named(clusters, 5), "1 weak, 0.49");
}

TEST(ResolveHoldouts, WordsOfAHoldoutsFileContaminate) {
  Job job;
  job.Add();
  job.Add({.holdout = true});
  v1::HoldoutMatch* match = job.Like(0, 1, 0, 6);
  match->set_text(v1::Sensitive::TEXT_MODULE);
  match->set_words(true);
  match->set_json_pointer("/3/prompt");
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 0), "overlap:module holdout 1");
  EXPECT_EQ(clusters.decisions(0).contamination(0).holdout_text(), "file");
  EXPECT_EQ(clusters.decisions(0).contamination(0).json_pointer(), "/3/prompt");
}

TEST(ResolveHoldouts, APolicyThatLabelsKeepsWhatItNames) {
  Job job = HoldoutJob();
  job.policy.mutable_contamination()->set_action(v1::CONTAMINATION_ACTION_LABEL);
  const v1::Clusters clusters = job.Resolve();
  for (const uint32_t number : {0, 1, 2, 7}) EXPECT_EQ(Fate(clusters, number), "kept") << number;
  EXPECT_EQ(Named(clusters, 0), "exact source 4 1; ");
  EXPECT_EQ(Fate(clusters, 3), "near of 2");
}

TEST(ResolveHoldouts, ContaminationsLimitsAreThePolicys) {
  Job job = HoldoutJob();
  job.policy.mutable_contamination()->set_threshold(0.9);
  job.policy.mutable_contamination()->set_overlap(0.4);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Named(clusters, 2), "overlap source 5 1; 1 weak, 0.5");
  EXPECT_EQ(Fate(clusters, 8), "overlap:source holdout 5");
}

}  // namespace

namespace {

Job JobWithAnOptOut() {
  Job job;
  job.opts_out = true;
  job.Add({.sha = 'o', .rejection = "opt_out", .source = 0, .renamed = 7});
  return job;
}

TEST(ResolveOptOuts, CopiesOfAnOptedOutKernelGoByEveryRuleForDuplicates) {
  Job job = JobWithAnOptOut();
  job.policy.set_structural(true);
  const uint32_t exact = job.Add({.sha = 'o', .source = 1});
  const uint32_t renamed = job.Add({.source = 1, .renamed = 7});
  const uint32_t near = job.Add({.source = 1});
  const uint32_t version = job.Add({.source = 1});
  const uint32_t structural = job.Add({.source = 1});
  const uint32_t gpl = job.Add({.sha = 'o', .rejection = "license:GPL-3.0-only", .source = 2});
  const uint32_t other = job.Add({.source = 1});
  const uint32_t near_copy = job.Add({.source = 1});
  job.Near(0, near);
  job.Version(0, version);
  job.Structural(0, structural);
  job.Near(near, near_copy);
  const v1::Clusters clusters = job.Resolve();
  for (const uint32_t copy : {exact, renamed, near, version, structural, gpl}) {
    EXPECT_EQ(Fate(clusters, copy), "rejected opt_out") << copy;
    EXPECT_EQ(clusters.decisions(static_cast<int>(copy)).leader(), 0u) << copy;
  }
  EXPECT_EQ(clusters.decisions(static_cast<int>(near)).similarity(), 0.8);
  EXPECT_EQ(Fate(clusters, 0), "rejected opt_out");
  EXPECT_EQ(Fate(clusters, other), "kept");
  EXPECT_EQ(Fate(clusters, near_copy), "kept") << "likeness is not passed on";
}

TEST(ResolveOptOuts, ACopyOfAnOptedOutKernelLeadsNobody) {
  Job job = JobWithAnOptOut();
  const uint32_t copy = job.Add({.sha = 'o', .tier = 1, .source = 1});
  const uint32_t like = job.Add({.tier = 2, .source = 1});
  job.Near(copy, like);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, copy), "rejected opt_out");
  EXPECT_EQ(Fate(clusters, like), "kept");
}

TEST(ResolveOptOuts, AVersionOfAnOptedOutKernelIsFoundBehindOneOfItsOwnSource) {
  Job job = JobWithAnOptOut();
  const uint32_t twin = job.Add({.rejection = "opt_out", .source = 1});
  const uint32_t version = job.Add({.source = 0});
  job.Equal(0, twin);
  job.Version(0, version);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, version), "rejected opt_out");
  EXPECT_EQ(clusters.decisions(static_cast<int>(version)).leader(), twin);
}

TEST(ResolveOptOuts, WhatTakesAnOptedOutTextAlongIsRejectedForItsSake) {
  Job job = JobWithAnOptOut();
  const uint32_t copy = job.Add({.sha = 'o', .source = 1});
  const uint32_t user = job.Add({.source = 1});
  const uint32_t own = job.Add({.rejection = "opt_out:module", .source = 0});
  job.takes_along = {{user, copy}, {copy, 0}, {0, copy}};
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, user), "rejected opt_out:module");
  EXPECT_EQ(clusters.decisions(static_cast<int>(user)).leader(), 0u) << "the one that was named";
  EXPECT_EQ(Fate(clusters, copy), "rejected opt_out");
  EXPECT_EQ(Fate(clusters, own), "rejected opt_out:module");
  EXPECT_EQ(clusters.decisions(static_cast<int>(own)).leader(), own);
}

TEST(ResolveOptOuts, AWishComesBeforeALicenceAndBeforeContamination) {
  Job job = JobWithAnOptOut();
  const uint32_t holdout = job.Add({.holdout = true});
  const uint32_t copy = job.Add({.sha = 'o', .source = 1});
  job.Like(copy, holdout, 10, 10);
  EXPECT_EQ(Fate(job.Resolve(), copy), "rejected opt_out");
}

// Makes a whole file: its line is 0 (IsFile), while kernels' lines count from 1.
Job::Kernel File(const std::string& path, char sha = 0, int source = 0) {
  Job::Kernel file;
  file.path = path;
  file.line = 0;
  file.sha = sha;
  file.source = source;
  return file;
}

TEST(ResolveFiles, AFileIsADuplicateOfFilesAlone) {
  Job job;
  Job::Kernel kernel;
  kernel.sha = 'a';
  const uint32_t function = job.Add(kernel);
  const uint32_t first = job.Add(File("a.py", 'a'));
  const uint32_t copy = job.Add(File("b.py", 'a', 1));
  const uint32_t like = job.Add(File("c.py", 0, 2));
  job.Near(first, like);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(clusters.decisions(static_cast<int>(function)).fate(), v1::FATE_KEPT);
  EXPECT_EQ(clusters.decisions(static_cast<int>(first)).fate(), v1::FATE_KEPT);
  EXPECT_EQ(clusters.decisions(static_cast<int>(copy)).reason(), "exact");
  EXPECT_EQ(clusters.decisions(static_cast<int>(copy)).leader(), first);
  EXPECT_EQ(clusters.decisions(static_cast<int>(like)).reason(), "near");
}

TEST(ResolveFiles, AFileThatHoldsWhatMustNotGetOutIsRejectedWithIt) {
  Job job;
  Job::Kernel secret;
  secret.rejection = "sensitive:email";
  secret.path = "secret.py";
  job.Add(secret);
  const uint32_t holds_secret = job.Add(File("secret.py"));
  const uint32_t elsewhere = job.Add(File("secret.py", 0, 1));
  Job::Kernel plain;
  plain.rejection = "quality:min_score";
  plain.path = "plain.py";
  job.Add(plain);
  const uint32_t holds_plain = job.Add(File("plain.py"));
  Job::Kernel answer;
  answer.path = "answer.py";
  const uint32_t contaminated = job.Add(answer);
  const uint32_t holds_answer = job.Add(File("answer.py"));
  Job::Kernel holdout;
  holdout.holdout = true;
  job.Like(contaminated, job.Add(holdout), 9, 0);
  const v1::Clusters clusters = job.Resolve();
  const auto of = [&](uint32_t number) { return clusters.decisions(static_cast<int>(number)); };
  EXPECT_EQ(of(holds_secret).fate(), v1::FATE_REJECTED);
  EXPECT_EQ(of(holds_secret).reason(), "holds:sensitive");
  EXPECT_EQ(of(elsewhere).fate(), v1::FATE_KEPT);
  EXPECT_EQ(of(holds_plain).fate(), v1::FATE_KEPT);
  EXPECT_EQ(of(holds_answer).fate(), v1::FATE_REJECTED);
  EXPECT_EQ(of(holds_answer).reason(), "holds:contaminated");
  EXPECT_EQ(of(holds_answer).leader(), holds_answer);
}

TEST(ResolveFiles, AFileWithAHoldoutsTextIsContaminatedByItsSource) {
  Job job;
  const uint32_t file = job.Add(File("host.py"));
  Job::Kernel holdout;
  holdout.holdout = true;
  job.Like(file, job.Add(holdout), 0, 6)->set_text(v1::Sensitive::TEXT_MODULE);
  EXPECT_EQ(job.Resolve().decisions(static_cast<int>(file)).reason(), "overlap:source");
  job.policy.mutable_contamination()->set_action(v1::CONTAMINATION_ACTION_LABEL);
  EXPECT_EQ(job.Resolve().decisions(static_cast<int>(file)).fate(), v1::FATE_KEPT);
}

}  // namespace

}  // namespace kernelmill::deduplicator
