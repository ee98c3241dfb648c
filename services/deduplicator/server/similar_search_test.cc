#include "services/deduplicator/server/similar_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::StatusIs;

constexpr char kScale[] = R"(@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x * 2, mask=offsets < n)
)";

v1::KernelShard MakeShard(const std::vector<std::string>& sources) {
  v1::KernelShard shard;
  for (const std::string& source : sources) shard.add_kernels()->set_source(source);
  return shard;
}

TEST(KernelComparison, NumbersTheOthersAcrossShards) {
  v1::SimilarRequest request;
  request.add_kernels()->set_source("def f(a, b):\n    return a @ b\n");
  request.add_kernels()->set_source(kScale);
  request.set_top(1);
  const auto comparison = KernelComparison::Open(request).value();
  comparison->Add(
      MakeShard({"x = 1\n", absl::StrReplaceAll(kScale, {{"x * 2", "x * 2 + x * x"}})}));
  comparison->Add(MakeShard({kScale}));
  const auto matches = comparison->Matches();
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_TRUE(matches[0].empty());
  ASSERT_EQ(matches[1].size(), 1u);
  EXPECT_EQ(matches[1][0].number, 2);
  EXPECT_EQ(matches[1][0].kind, "exact");
}

TEST(KernelComparison, ThresholdsOutOfBoundsAreRefused) {
  v1::SimilarRequest request;
  request.set_threshold(1.5);
  EXPECT_THAT(KernelComparison::Open(request).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::deduplicator
