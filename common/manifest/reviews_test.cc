#include "common/manifest/reviews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/dsl/names.h"
#include "common/job/review_list.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::manifest {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;

// One source "ops" of four kernels:
//   0 cuda   a.cu softmax   1 cuda   a.cu softmax, of another text
//   2 triton a.py _softmax  3 triton a.py _copy
class ReviewsTest : public ::testing::Test {
 protected:
  ReviewsTest() {
    AddKernel(dsl::kCuda, "a.cu", "softmax");
    AddKernel(dsl::kCuda, "a.cu", "softmax");
    AddKernel(dsl::kTriton, "a.py", "_softmax");
    AddKernel(dsl::kTriton, "a.py", "_copy");
  }

  void AddKernel(const std::string& dsl, const std::string& path, const std::string& name) {
    const int number = shard_.kernels_size();
    v1::Kernel& kernel = *shard_.add_kernels();
    kernel.set_dsl(dsl);
    kernel.set_path(path);
    kernel.set_name(name);
    kernel.set_first_line(10 * number + 1);
    kernel.set_last_line(10 * number + 9);
    kernel.set_sha256(std::string(64, static_cast<char>('a' + number)));
    verdicts_.add_verdicts();
    clusters_.add_decisions()->set_fate(v1::FATE_KEPT);
  }

  static v1::KernelReference Named(const std::string& path, const std::string& name,
                                   int text = -1) {
    v1::KernelReference reference;
    reference.set_repository("ops");
    reference.set_path(path);
    reference.set_name(name);
    const std::string hash(64, static_cast<char>('a' + text));
    if (text >= 0) reference.set_id(absl::StrCat(job::kSha256Prefix, hash));
    return reference;
  }

  v1::Review& AddReview(v1::ReviewDecision decision, const char* flag) {
    v1::Review& review = *manifest_.add_reviews();
    review.set_decision(decision);
    review.set_flag(flag);
    return review;
  }

  void AddPair(v1::ReviewDecision decision, const v1::KernelReference& cuda,
               const v1::KernelReference& triton) {
    v1::Review& review = AddReview(decision, job::kFlagPair);
    *review.mutable_cuda() = cuda;
    *review.mutable_triton() = triton;
  }

  void Store(const std::string& commit) {
    v1::SourceTree tree;
    tree.set_repository("ops");
    tree.set_commit(commit);
    manifest_.clear_sources();
    v1::ManifestSource& source = *manifest_.add_sources();
    *source.mutable_tree() = *cas::PutMessage(store_, tree);
    *source.add_kernels() = *cas::PutMessage(store_, shard_);
    *source.add_verdicts() = *cas::PutMessage(store_, verdicts_);
  }

  // "CUDA-TRITON" of each, "!" of a rejected one, and problems as "REVIEW: PROBLEM".
  std::vector<std::string> Found() {
    Store("1");
    const auto followed = FollowReviews(store_, manifest_, clusters_);
    EXPECT_THAT(followed, IsOk());
    std::vector<std::string> found;
    if (!followed.ok()) return found;
    for (const CuratedPair& pair : followed->accepted) {
      found.push_back(absl::StrCat(pair.cuda, "-", pair.triton));
    }
    for (const auto& [cuda, triton] : followed->rejected) {
      found.push_back(absl::StrCat(cuda, "-", triton, "!"));
    }
    for (const ReviewProblem& problem : followed->problems) {
      found.push_back(absl::StrCat(problem.review, ": ", problem.problem));
    }
    return found;
  }

  cas::MemoryBlobStore store_;
  v1::KernelShard shard_;
  v1::VerdictShard verdicts_;
  v1::Clusters clusters_;
  v1::DatasetManifest manifest_;
};

TEST_F(ReviewsTest, AnAcceptedPairIsCuratedAndARejectedOneIsNamedAsSuch) {
  AddPair(v1::REVIEW_DECISION_REJECT, Named("a.cu", "softmax", 0), Named("a.py", "_copy"));
  AddPair(v1::REVIEW_DECISION_ACCEPT, Named("a.cu", "softmax", 1), Named("a.py", "_softmax"));
  EXPECT_THAT(Found(), ElementsAre("1-2", "0-3!"));
}

TEST_F(ReviewsTest, ARejectedPairIsAllThatItsReferencesName) {
  AddPair(v1::REVIEW_DECISION_REJECT, Named("a.cu", "softmax"), Named("a.py", "_copy"));
  EXPECT_THAT(Found(), ElementsAre("0-3!", "1-3!"));
}

TEST_F(ReviewsTest, WhatCannotBeFollowedIsSaidOfTheDecision) {
  AddPair(v1::REVIEW_DECISION_ACCEPT, Named("a.cu", "softmax"), Named("a.py", "_copy"));
  AddPair(v1::REVIEW_DECISION_REJECT, Named("a.cu", "gone"), Named("a.py", "_copy"));
  *AddReview(v1::REVIEW_DECISION_REJECT, job::kFlagLicense).mutable_kernel() =
      Named("a.py", "gone");
  EXPECT_THAT(Found(), ElementsAre("0: cuda: 2 kernels are so", "1: cuda: no such kernel",
                                   "2: no such kernel"));
}

TEST_F(ReviewsTest, ARejectedPairWhoseKernelWasNotKeptIsNoProblem) {
  clusters_.mutable_decisions(3)->set_fate(v1::FATE_DUPLICATE);
  AddPair(v1::REVIEW_DECISION_REJECT, Named("a.cu", "softmax"), Named("a.py", "_copy"));
  EXPECT_THAT(Found(), ElementsAre("0-3!", "1-3!"));
}

TEST_F(ReviewsTest, AnAcceptedPairWhoseKernelWasNotKeptHasItsFateForAReason) {
  clusters_.mutable_decisions(2)->set_fate(v1::FATE_DUPLICATE);
  AddPair(v1::REVIEW_DECISION_ACCEPT, Named("a.cu", "softmax", 1), Named("a.py", "_softmax"));
  EXPECT_THAT(Found(), ElementsAre("0: triton: is duplicate"));
}

TEST_F(ReviewsTest, AHashHoldsForAnyCommitWithTheTextAndForNoOtherText) {
  *AddReview(v1::REVIEW_DECISION_REJECT, job::kFlagWordOverlap).mutable_kernel() =
      Named("a.cu", "softmax", 1);
  for (const char* commit : {"1", "2"}) {
    Store(commit);
    ReviewedKernelFinder finder(manifest_.reviews());
    ASSERT_THAT(WalkDataset(store_, manifest_, finder), IsOk());
    ASSERT_EQ(finder.found().size(), 1u);
    EXPECT_EQ(finder.found()[0].number, 1u);
  }
  shard_.mutable_kernels(1)->set_sha256(std::string(64, 'x'));
  EXPECT_THAT(Found(), ElementsAre("0: no such kernel"));
}

}  // namespace
}  // namespace kernelmill::manifest
