#include "services/deduplicator/core/sign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/base/hash.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::deduplicator {
namespace {

v1::Kernel KernelOf(const std::string& source) {
  v1::Kernel kernel;
  kernel.set_source(source);
  return kernel;
}

TEST(Sign, GivesOneWellFormedSignatureAKernel) {
  v1::KernelShard shard;
  *shard.add_kernels() = KernelOf("def f(x):\n    return x\n");
  *shard.add_kernels() = KernelOf("");
  const v1::SignatureShard signatures = SignShard(shard);
  ASSERT_EQ(signatures.signatures_size(), 2);
  for (const v1::Signature& signature : signatures.signatures()) {
    EXPECT_THAT(CheckSignature(signature), testing::IsOk());
  }
  EXPECT_EQ(signatures.signatures(0).sha256(), Sha256("def f(x):\n    return x\n"));
  EXPECT_EQ(signatures.signatures(0).shingles_size(), 4);
}

TEST(Sign, DocumentationAndLayoutChangeTheHashesButNotTheShingles) {
  const v1::Signature plain = Sign(KernelOf("def f(x):\n    return x + 1\n"));
  const v1::Signature commented =
      Sign(KernelOf("def f( x ):\n    \"\"\"Adds one.\"\"\"\n    return x + 1  # one\n"));
  EXPECT_NE(plain.sha256(), commented.sha256());
  EXPECT_NE(plain.pair_sha1(), commented.pair_sha1());
  EXPECT_TRUE(std::equal(plain.shingles().begin(), plain.shingles().end(),
                         commented.shingles().begin(), commented.shingles().end()));
}

TEST(Sign, ImportsBelongToThePairAlone) {
  v1::Kernel kernel = KernelOf("def f(x):\n    return x\n");
  const v1::Signature without = Sign(kernel);
  kernel.add_imports("import triton\n");
  const v1::Signature with = Sign(kernel);
  EXPECT_EQ(with.sha256(), without.sha256());
  EXPECT_NE(with.pair_sha1(), without.pair_sha1());
}

}  // namespace
}  // namespace kernelmill::deduplicator
