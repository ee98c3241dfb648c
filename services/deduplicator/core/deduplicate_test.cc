#include "services/deduplicator/core/deduplicate.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

std::string Text(int first, int count) {
  std::string text = "def f(p):\n";
  for (int i = first; i < first + count; ++i) absl::StrAppend(&text, "    x", i, " = p[", i, "]\n");
  return text;
}

TEST(Deduplicate, KeepsTheEarlierOfTwo) {
  v1::DeduplicateRequest request;
  request.add_sources(Text(0, 40));
  request.add_sources(Text(100, 40));
  request.add_sources(Text(0, 42));
  request.add_sources(Text(100, 40));
  const absl::StatusOr<v1::Clusters> clusters = Deduplicate(request);
  ASSERT_THAT(clusters, IsOk());
  ASSERT_EQ(clusters->decisions_size(), 4);
  EXPECT_EQ(clusters->decisions(0).fate(), v1::FATE_KEPT);
  EXPECT_EQ(clusters->decisions(1).fate(), v1::FATE_KEPT);
  EXPECT_EQ(clusters->decisions(2).fate(), v1::FATE_DUPLICATE);
  EXPECT_EQ(clusters->decisions(2).reason(), "near");
  EXPECT_EQ(clusters->decisions(2).leader(), 0u);
  EXPECT_GT(clusters->decisions(2).similarity(), 0.9);
  EXPECT_LT(clusters->decisions(2).similarity(), 1);
  EXPECT_EQ(clusters->decisions(3).reason(), "exact");
  EXPECT_EQ(clusters->decisions(3).leader(), 1u);
}

// The kernels differ in one line that says what they compute.
TEST(Deduplicate, KernelsOfDifferentComputationsAreKept) {
  v1::DeduplicateRequest request;
  for (const std::string value :
       {"x + y", "x - y", "y - x", "x * y", "x / y", "y / x", "x * 2 + y", "x + x * y", "x",
        "x + 1", "x + 2", "x * x", "tl.maximum(x, y)", "tl.minimum(x, y)", "tl.where(x < y, x, y)",
        "tl.where(x <= y, x, y)", "tl.exp(x)", "tl.exp2(x)", "tl.sigmoid(x) * y"}) {
    request.add_sources(
        absl::StrCat("@triton.jit\ndef kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
                     "    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)\n"
                     "    mask = offsets < n\n    x = tl.load(x_ptr + offsets, mask=mask)\n"
                     "    y = tl.load(y_ptr + offsets, mask=mask)\n"
                     "    output = ",
                     value, "\n    tl.store(out_ptr + offsets, output, mask=mask)\n"));
  }
  const absl::StatusOr<v1::Clusters> clusters = Deduplicate(request);
  ASSERT_THAT(clusters, IsOk());
  for (const v1::Decision& decision : clusters->decisions()) {
    EXPECT_EQ(decision.fate(), v1::FATE_KEPT) << decision.ShortDebugString();
  }
}

TEST(Deduplicate, TheThresholdIsTheCallers) {
  v1::DeduplicateRequest request;
  request.add_sources(Text(0, 40));
  request.add_sources(Text(0, 42));
  request.set_threshold(1);
  const absl::StatusOr<v1::Clusters> clusters = Deduplicate(request);
  ASSERT_THAT(clusters, IsOk());
  EXPECT_EQ(clusters->decisions(1).fate(), v1::FATE_KEPT);
  request.set_threshold(-1);
  EXPECT_THAT(Deduplicate(request), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Deduplicate, LimitsAreEnforced) {
  v1::DeduplicateRequest request;
  request.add_sources(std::string(kMaxTextBytes, ' '));
  EXPECT_THAT(Deduplicate(request), IsOk());
  request.add_sources(" ");
  EXPECT_THAT(Deduplicate(request), StatusIs(absl::StatusCode::kInvalidArgument));
  request.clear_sources();
  for (int i = 0; i <= kMaxTexts; ++i) request.add_sources("");
  EXPECT_THAT(Deduplicate(request), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::deduplicator
