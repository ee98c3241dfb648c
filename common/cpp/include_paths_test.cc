#include "common/cpp/include_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelmill::cpp {
namespace {

using ::testing::ElementsAre;

std::string Find(const std::vector<std::string>& paths, absl::string_view includer,
                 absl::string_view path, bool angled = false) {
  const std::optional<uint32_t> found = IncludePaths(paths).Find(includer, path, angled);
  return found ? paths[*found] : "";
}

TEST(IncludePathsTest, ThatBesideTheIncluderComesFirst) {
  EXPECT_EQ(Find({"a/x.h", "b/x.h"}, "a/k.cu", "x.h"), "a/x.h");
  EXPECT_EQ(Find({"a/x.h", "b/x.h"}, "a/k.cu", "../b/x.h"), "b/x.h");
  EXPECT_EQ(Find({"x.h"}, "k.cu", "./x.h"), "x.h");
  EXPECT_EQ(Find({"a/string.h"}, "a/k.cu", "string.h"), "a/string.h");
}

TEST(IncludePathsTest, ThenTheOneWhosePathEndsSo) {
  EXPECT_EQ(Find({"lib/include/p/x.h", "q/x.h"}, "src/k.cu", "p/x.h"), "lib/include/p/x.h");
  EXPECT_EQ(Find({"lib/include/p/x.h"}, "src/k.cu", "p/x.h", true), "lib/include/p/x.h");
  EXPECT_EQ(Find({"lib/xp/x.h"}, "src/k.cu", "p/x.h"), "");
}

TEST(IncludePathsTest, OfSeveralThatWhichSharesTheMostFolders) {
  const std::vector<std::string> paths = {"a/inc/p/x.h", "b/inc/p/x.h"};
  EXPECT_EQ(Find(paths, "b/src/k.cu", "p/x.h"), "b/inc/p/x.h");
  EXPECT_EQ(Find(paths, "c/src/k.cu", "p/x.h"), "");
}

TEST(IncludePathsTest, KnownHeadersAreNobodys) {
  EXPECT_EQ(Find({"lib/vector"}, "k.cu", "vector", true), "");
  EXPECT_EQ(Find({"lib/cuda_fp16.h"}, "k.cu", "cuda_fp16.h"), "");
  EXPECT_EQ(Find({"lib/x.h"}, "k.cu", "../../x.h"), "lib/x.h");
  EXPECT_EQ(Find({"lib/x.h"}, "k.cu", ""), "");
}

TEST(IncludePathsTest, LinesAreReadWhateverTheirBlanks) {
  std::vector<std::string> paths;
  for (const IncludeName& name :
       FindIncludeLines("#include <a>\n  # include \"b.h\" // c\r\n#include MACRO\n#include "
                        "\"open\nx #include <y>\n",
                        16)) {
    paths.push_back(name.path);
  }
  EXPECT_THAT(paths, ElementsAre("a", "b.h"));
  EXPECT_EQ(FindIncludeLines("#include <a>\n#include <b>\n", 1).size(), 1u);
}

TEST(HeadersTest, SpellingsOfAHeaderAreOne) {
  EXPECT_EQ(CanonicalHeader("stdint.h"), "cstdint");
  EXPECT_EQ(CanonicalHeader("cuda_fp16.hpp"), "cuda_fp16.h");
  EXPECT_TRUE(IsKnownHeader("cooperative_groups/reduce.h"));
  EXPECT_FALSE(IsKnownHeader("cuda_utils.cuh"));
  EXPECT_FALSE(IsKnownHeader("cub/cub.cuh"));
}

}  // namespace
}  // namespace kernelmill::cpp
