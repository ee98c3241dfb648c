#include "services/extractor/core/history/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/dsl/names.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A body that no other number has.
std::string Body(int number) {
  std::string body;
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&body, "    a", number, "_", i, " = tl.load(p", number, " + ", i, ") * ",
                    number, "\n");
  }
  return body;
}

v1::Kernel Kernel(absl::string_view name, absl::string_view body, int line = 1) {
  v1::Kernel kernel;
  kernel.set_name(std::string(name));
  kernel.set_qualname(std::string(name));
  kernel.set_source(absl::StrCat("@triton.jit\ndef ", name, "(x):\n", body));
  kernel.set_first_line(line);
  kernel.set_dsl(dsl::kTriton);
  return kernel;
}

// The kernels of both sides of a file.
struct Sides {
  std::string path;
  std::vector<v1::Kernel> before, after;
};

// "before>after match" of each match.
std::vector<std::string> Match(const std::vector<Sides>& sides) {
  std::vector<std::pair<VersionKernels, VersionKernels>> versions;
  for (const Sides& each : sides)
    versions.emplace_back(MakeVersion(each.before), MakeVersion(each.after));
  std::vector<FileSides> files;
  for (size_t i = 0; i < sides.size(); ++i) {
    files.push_back({sides[i].path, sides[i].path, &versions[i].first, &versions[i].second});
  }
  std::vector<std::string> out;
  for (const KernelMatch& match : MatchKernels(files)) {
    out.push_back(absl::StrCat(sides[match.before.file].path, ":",
                               versions[match.before.file].first.keys[match.before.kernel], ">",
                               sides[match.after.file].path, ":",
                               versions[match.after.file].second.keys[match.after.kernel], " ",
                               match.match));
  }
  return out;
}

TEST(MatchKernelsTest, OneNameInOneFileIsTheSameWhateverItsText) {
  EXPECT_THAT(Match({{"f", {Kernel("k", Body(1))}, {Kernel("k", Body(2))}}}),
              ElementsAre("f:k>f:k same"));
}

TEST(MatchKernelsTest, TheSecondOfANameIsMatchedWithTheSecond) {
  EXPECT_THAT(Match({{"f",
                      {Kernel("k", Body(1)), Kernel("k", Body(2))},
                      {Kernel("k", Body(1)), Kernel("k", Body(3))}}}),
              ElementsAre("f:k>f:k same", "f:k#1>f:k#1 same"));
}

TEST(MatchKernelsTest, ANameThatLeavesOneFileForAnotherIsMoved) {
  EXPECT_THAT(Match({{"f", {Kernel("k", Body(1)), Kernel("l", Body(2))}, {Kernel("l", Body(2))}},
                     {"g", {}, {Kernel("k", Body(3))}}}),
              ElementsAre("f:l>f:l same", "f:k>g:k moved"));
}

TEST(MatchKernelsTest, OfSeveralFilesTheMostSimilarOneHasMoved) {
  EXPECT_THAT(Match({{"f", {Kernel("k", Body(1))}, {}},
                     {"g", {Kernel("k", Body(2))}, {}},
                     {"h", {}, {Kernel("k", Body(2))}}}),
              ElementsAre("g:k>h:k moved"));
}

TEST(MatchKernelsTest, ATextUnderAnotherNameIsRenamed) {
  const std::string changed = absl::StrReplaceAll(Body(1), {{"p1 + 3", "p1 + 33"}});
  EXPECT_THAT(Match({{"f", {Kernel("k", Body(1)), Kernel("l", Body(2))}, {Kernel("n", changed)}}}),
              ElementsAre("f:k>f:n renamed"));
  EXPECT_THAT(Match({{"f", {Kernel("k", Body(1))}, {Kernel("n", Body(2))}}}), IsEmpty());
}

TEST(MatchKernelsTest, APartOfAKernelThatStaysIsSplitOff) {
  EXPECT_THAT(Match({{"f",
                      {Kernel("k", Body(1) + Body(2))},
                      {Kernel("k", Body(1)), Kernel("part", Body(2))}}}),
              ElementsAre("f:k>f:k same", "f:k>f:part split"));
}

}  // namespace
}  // namespace kernelmill::extractor
