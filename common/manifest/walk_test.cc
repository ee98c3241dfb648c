#include "common/manifest/walk.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"

namespace kernelmill::manifest {
namespace {

v1::KernelShard TwoKernels() {
  v1::KernelShard shard;
  for (const int line : {10, 20}) {
    v1::Kernel* kernel = shard.add_kernels();
    kernel->set_path("a.py");
    kernel->set_first_line(line);
    kernel->set_sha256("5555");
  }
  return shard;
}

TEST(SetKernelIds, AnIdIsTheHashOfWhereAndWhat) {
  v1::KernelShard shard = TwoKernels();
  v1::SourceTree tree;
  tree.set_repository("repo");
  tree.set_commit("commit");
  SetKernelIds(tree, &shard);
  const std::string nul(1, '\0');
  EXPECT_EQ(shard.kernels(0).id(),
            Sha256Hex(absl::StrCat("repo", nul, "commit", nul, "a.py", nul, "10", nul, "5555"))
                .substr(0, 32));
  EXPECT_NE(shard.kernels(1).id(), shard.kernels(0).id());
}

TEST(SetKernelIds, EqualKernelsOfTwoStringsOfAFileAreTwo) {
  v1::KernelShard shard = TwoKernels();
  shard.mutable_kernels(1)->set_first_line(10);
  shard.mutable_kernels(0)->set_json_pointer("/a");
  shard.mutable_kernels(1)->set_json_pointer("/b");
  SetKernelIds(v1::SourceTree(), &shard);
  EXPECT_NE(shard.kernels(1).id(), shard.kernels(0).id());
}

TEST(SetKernelIds, AnIdThatIsThereStays) {
  v1::KernelShard shard = TwoKernels();
  shard.mutable_kernels(0)->set_id("known");
  SetKernelIds(v1::SourceTree(), &shard);
  EXPECT_EQ(shard.kernels(0).id(), "known");
  EXPECT_EQ(shard.kernels(1).id().size(), 32u);
}

}  // namespace
}  // namespace kernelmill::manifest
