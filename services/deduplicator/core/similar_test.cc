#include "services/deduplicator/core/similar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/deduplicate.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Found = SimilarFinder::Found;
using Kind = KernelSimilarity::Kind;

constexpr char kScale[] = R"(@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x * 2, mask=at < n)
)";

std::string Renamed() {
  return absl::StrReplaceAll(kScale, {{"scale", "double_it"},
                                      {"x_ptr", "source"},
                                      {"y_ptr", "target"},
                                      {"at ", "where "},
                                      {"at,", "where,"},
                                      {"BLOCK", "SIZE"},
                                      {"x * 2", "x * 7"}});
}

v1::Kernel MakeKernel(const std::string& source, const std::string& dsl = dsl::kTriton,
                      const std::string& path = "a.py", int first_line = 1) {
  v1::Kernel kernel;
  kernel.set_source(source);
  kernel.set_dsl(dsl);
  kernel.set_path(path);
  kernel.set_first_line(first_line);
  return kernel;
}

v1::SimilarRequest MakeRequest(const std::vector<v1::Kernel>& kernels) {
  v1::SimilarRequest request;
  for (const v1::Kernel& kernel : kernels) *request.add_kernels() = kernel;
  return request;
}

v1::KernelShard MakeShard(const std::vector<v1::Kernel>& kernels) {
  v1::KernelShard shard;
  for (const v1::Kernel& kernel : kernels) *shard.add_kernels() = kernel;
  return shard;
}

// Finds the kernels of one shard that are similar to the request's first kernel.
std::vector<Found> Find(const v1::SimilarRequest& request, const std::vector<v1::Kernel>& kernels) {
  SimilarFinder finder(request);
  finder.Add(MakeShard(kernels), 0, 0);
  return finder.found()[0];
}

std::vector<uint32_t> Numbers(const std::vector<Found>& found) {
  std::vector<uint32_t> numbers;
  for (const Found& kernel : found) numbers.push_back(kernel.number);
  return numbers;
}

TEST(SimilarFinder, TellsHowEachIsAlike) {
  const std::string spaced = absl::StrReplaceAll(kScale, {{" = ", "   =   "}, {"n, ", "n,  "}});
  const std::string longer = absl::StrCat(kScale, "    tl.debug_barrier()\n");
  const std::vector<Found> found =
      Find(MakeRequest({MakeKernel(kScale)}),
           {MakeKernel(longer), MakeKernel(Renamed()), MakeKernel(spaced), MakeKernel(kScale),
            MakeKernel("def other(a, b):\n    return a @ b\n")});
  ASSERT_THAT(Numbers(found), ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(found[0].scores.kind, Kind::kExact);
  EXPECT_EQ(found[1].scores.kind, Kind::kNear);
  EXPECT_EQ(found[1].scores.near, 1);
  EXPECT_EQ(found[2].scores.kind, Kind::kStructural);
  EXPECT_EQ(found[2].scores.similarity, found[2].scores.structural);
  EXPECT_EQ(found[2].scores.structural, 1);
  EXPECT_LT(found[2].scores.near, kDefaultThreshold);
  EXPECT_EQ(found[3].scores.kind, Kind::kNear);
  EXPECT_LT(found[3].scores.near, 1);
}

TEST(SimilarFinder, KeepsTheNearestHoweverShardsCome) {
  v1::SimilarRequest request = MakeRequest({MakeKernel(kScale)});
  request.set_top(3);
  const std::string longer = absl::StrCat(kScale, "    tl.debug_barrier()\n");
  const std::vector<std::pair<v1::KernelShard, int>> shards = {
      {MakeShard({MakeKernel(longer, dsl::kTriton, "a.py", 1),
                  MakeKernel(kScale, dsl::kTriton, "b.py", 9)}),
       0},
      {MakeShard({MakeKernel(kScale, dsl::kTriton, "a.py", 5)}), 0},
      {MakeShard({MakeKernel(kScale, dsl::kTriton, "a.py", 1)}), 1}};
  std::vector<size_t> order = {0, 1, 2};
  const std::vector<uint32_t> first_numbers = {0, 2, 3};
  do {
    SimilarFinder finder(request);
    for (const size_t i : order) {
      finder.Add(shards[i].first, shards[i].second, first_numbers[i]);
    }
    EXPECT_EQ(finder.compared(), 4);
    EXPECT_THAT(Numbers(finder.found()[0]), ElementsAre(2, 1, 3));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(SimilarFinder, TheThresholdIsReachedByEquality) {
  v1::SimilarRequest request = MakeRequest({MakeKernel("a b c d e f")});  // two shingles
  request.set_threshold(0.5);
  EXPECT_THAT(Find(request, {MakeKernel("a b c d e")}), ::testing::SizeIs(1));
  request.set_threshold(0.51);
  // Folded they are still two and one.
  EXPECT_THAT(Find(request, {MakeKernel("a b c d e")}), IsEmpty());
}

TEST(SimilarFinder, ATextIsReadInTheLanguageOfWhatItIsComparedWith) {
  const std::string cuda = "__global__ void f(int* p) { /* a note */ p[threadIdx.x] = 1; }";
  const std::string noted = "__global__ void f(int* p) {  p[threadIdx.x] = 1; /* another one */ }";
  const auto found = Find(MakeRequest({MakeKernel(noted, "")}),
                          {MakeKernel(cuda, dsl::kCuda), MakeKernel(cuda, dsl::kTriton)});
  ASSERT_THAT(Numbers(found), ElementsAre(0));
  EXPECT_EQ(found[0].scores.near, 1);
}

TEST(SimilarFinder, NoTextIsOnlyLikeItself) {
  EXPECT_THAT(
      Numbers(Find(MakeRequest({MakeKernel("")}), {MakeKernel("# note\n"), MakeKernel("")})),
      ElementsAre(1));
}

TEST(SimilarFinder, OnlyTextNameAndLanguageOfAQueryCount) {
  v1::Kernel hostile = MakeKernel(kScale);
  hostile.set_body_offset(1 << 30);
  EXPECT_THAT(Numbers(Find(MakeRequest({hostile}), {MakeKernel(kScale)})), ElementsAre(0));
}

TEST(SimilarFinder, RequestsOverTheLimitsAreRefused) {
  v1::SimilarRequest request = MakeRequest({MakeKernel(kScale)});
  EXPECT_THAT(SimilarFinder::Check(request), IsOk());
  for (const double threshold : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    request.set_threshold(threshold);
    EXPECT_THAT(SimilarFinder::Check(request), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  request.set_threshold(1);
  for (const int top : {-1, kMaxSimilar + 1}) {
    request.set_top(top);
    EXPECT_THAT(SimilarFinder::Check(request), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  request.set_top(kMaxSimilar);
  EXPECT_THAT(SimilarFinder::Check(request), IsOk());
  *request.add_kernels() = MakeKernel("x");
  EXPECT_THAT(SimilarFinder::Check(request), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(SimilarFinder::Check(MakeRequest({MakeKernel(std::string(kMaxTextBytes + 1, 'x'))})),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(SimilarFinder::Check(MakeRequest(std::vector<v1::Kernel>(kMaxQueries + 1))),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::deduplicator
