#include "common/manifest/curated_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::manifest {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One source of six kernels, one decision each:
//   0 cuda    a.cu 1-9   kept        1 cuda    a.cu 11-19  duplicate of 0
//   2 triton  a.py 1-9   kept        3 triton  a.py 11-19  kept, of the same name as 2
//   4 triton  b.py 1-9   rejected    5 cuda    a.cu 3-5    kept, within 0
class CuratedPairsTest : public ::testing::Test {
 protected:
  CuratedPairsTest() {
    AddKernel(dsl::kCuda, "a.cu", "softmax", 1, 9, v1::FATE_KEPT, "");
    AddKernel(dsl::kCuda, "a.cu", "copy", 11, 19, v1::FATE_DUPLICATE, "near");
    AddKernel(dsl::kTriton, "a.py", "_softmax", 1, 9, v1::FATE_KEPT, "");
    AddKernel(dsl::kTriton, "a.py", "_softmax", 11, 19, v1::FATE_KEPT, "");
    AddKernel(dsl::kTriton, "b.py", "_k", 1, 9, v1::FATE_REJECTED, "license:GPL-3.0-only");
    AddKernel(dsl::kCuda, "a.cu", "inner", 3, 5, v1::FATE_KEPT, "");
  }

  void AddKernel(const std::string& dsl, const std::string& path, const std::string& name,
                 int first, int last, v1::Fate fate, const std::string& reason) {
    v1::Kernel& kernel = *shard_.add_kernels();
    kernel.set_id(absl::StrCat(std::string(31, 'a'), shard_.kernels_size() - 1));
    kernel.set_dsl(dsl);
    kernel.set_path(path);
    kernel.set_name(name);
    kernel.set_qualname("ops::" + name);
    kernel.set_first_line(first);
    kernel.set_last_line(last);
    verdicts_.add_verdicts();
    v1::Decision& decision = *clusters_.add_decisions();
    decision.set_fate(fate);
    decision.set_reason(reason);
  }

  v1::CuratedPair& AddPair(const std::string& cuda_name, int triton_line) {
    v1::CuratedPair& pair = *manifest_.add_pairs();
    pair.mutable_cuda()->set_path("a.cu");
    pair.mutable_cuda()->set_name(cuda_name);
    pair.mutable_triton()->set_path("a.py");
    pair.mutable_triton()->set_line(triton_line);
    return pair;
  }

  // "CUDA-TRITON", or the problem, of each.
  std::vector<std::string> Found() {
    tree_.set_repository("ops");
    v1::ManifestSource& source = *manifest_.add_sources();
    *source.mutable_tree() = *cas::PutMessage(store_, tree_);
    *source.add_kernels() = *cas::PutMessage(store_, shard_);
    *source.add_verdicts() = *cas::PutMessage(store_, verdicts_);
    const auto pairs = FindCuratedPairs(store_, manifest_, clusters_);
    EXPECT_THAT(pairs, IsOk());
    std::vector<std::string> found;
    if (!pairs.ok()) return found;
    for (const CuratedPair& pair : *pairs) {
      found.push_back(pair.problem.empty() ? absl::StrCat(pair.cuda, "-", pair.triton)
                                           : pair.problem);
    }
    return found;
  }

  cas::MemoryBlobStore store_;
  v1::SourceTree tree_;
  v1::KernelShard shard_;
  v1::VerdictShard verdicts_;
  v1::Clusters clusters_;
  v1::DatasetManifest manifest_;
};

TEST_F(CuratedPairsTest, KernelsAreNamedByNameLineOrId) {
  AddPair("softmax", 2);
  AddPair("ops::softmax", 19).mutable_cuda()->set_repository("ops");
  v1::CuratedPair& pair = *manifest_.add_pairs();
  pair.mutable_cuda()->set_id(shard_.kernels(0).id());
  pair.mutable_triton()->set_id(shard_.kernels(3).id());
  EXPECT_THAT(Found(), ElementsAre("0-2", "0-3", "0-3"));
}

TEST_F(CuratedPairsTest, WhatIsNotThereIsSaidOfEachSide) {
  AddPair("softmax", 10);
  AddPair("gone", 10);
  AddPair("softmax", 2).mutable_cuda()->set_repository("other");
  EXPECT_THAT(Found(),
              ElementsAre("triton: no such kernel", "cuda: no such kernel; triton: no such kernel",
                          "cuda: no such kernel"));
}

TEST_F(CuratedPairsTest, WhatWasNotKeptHasItsFateForAReason) {
  AddPair("copy", 2);
  AddPair("softmax", 2).mutable_triton()->set_path("b.py");
  EXPECT_THAT(Found(), ElementsAre("cuda: is duplicate as near",
                                   "triton: is rejected as license:GPL-3.0-only"));
}

TEST_F(CuratedPairsTest, AKernelOfAnotherLanguageIsNotTaken) {
  v1::CuratedPair& pair = *manifest_.add_pairs();
  pair.mutable_cuda()->set_id(shard_.kernels(2).id());
  pair.mutable_triton()->set_id(shard_.kernels(0).id());
  EXPECT_THAT(Found(), ElementsAre("cuda: is not cuda; triton: is not triton"));
}

TEST_F(CuratedPairsTest, ANameOfSeveralKernelsNamesNone) {
  v1::CuratedPair& pair = AddPair("softmax", 0);
  pair.mutable_triton()->set_name("_softmax");
  AddPair("", 2).mutable_cuda()->set_line(4);
  EXPECT_THAT(Found(), ElementsAre("triton: 2 kernels are so", "cuda: 2 kernels are so"));
}

TEST_F(CuratedPairsTest, WithoutPairsNothingIsRead) {
  manifest_.add_sources();  // which has no tree
  const auto pairs = FindCuratedPairs(store_, manifest_, clusters_);
  ASSERT_THAT(pairs, IsOk());
  EXPECT_THAT(*pairs, IsEmpty());
}

}  // namespace
}  // namespace kernelmill::manifest
