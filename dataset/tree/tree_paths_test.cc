#include "dataset/tree/tree_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;

std::string MakePath(absl::string_view path) { return TreePaths({{"c", "r", path}})[0]; }

TEST(TreePaths, AreCategoryRepositoryAndPath) {
  EXPECT_THAT(
      TreePaths({{"inductor", "https://github.com/pytorch/pytorch.git",
                  "torch/_inductor/codegen/triton.py"}}),
      ElementsAre("inductor/github.com__pytorch__pytorch/torch/_inductor/codegen/triton.py"));
  EXPECT_EQ(MakePath("a b/[x]+{y}@1.py"), "c/r/a b/[x]+{y}@1.py");
}

// Whatever is asked for, each part is a plain name.
TEST(TreePaths, NothingLeadsOutOfTheTree) {
  const std::vector<std::string> hostile = {
      "../../etc/passwd",
      "/etc/passwd",
      "a/../../b",
      "a//b",
      ".",
      "..",
      "a/.",
      "",
      std::string("a\0b", 3),
      "a\nb",
      "C:\\x",
      "\\\\host\\x",
      "a:stream",
      "CON.py",
      "x/nul",
      "lpt1.",
      ".git/config",
      ".GIT/hooks",
      "a. /b",
      " a",
      "a*?<>|\"",
      "\xff\xfe",
      "caf\xc3\xa9.py",
      "%2e%2e/x",
      "~/x",
      "$HOME/x",
      "`id`",
      "-rf",
      std::string(5000, 'x'),
  };
  for (const std::string& name : hostile) {
    for (const TreePlace& place :
         {TreePlace{"c", "r", name}, TreePlace{name, "r", "a.py"}, TreePlace{"c", name, "a.py"}}) {
      const std::string path = TreePaths({place})[0];
      EXPECT_LE(path.size(), 800u) << path;
      const std::vector<std::string> parts = absl::StrSplit(path, '/');
      EXPECT_GE(parts.size(), 3u) << path;
      for (const std::string& part : parts) {
        EXPECT_FALSE(part.empty() || part == "." || part == ".." || part.size() > 140) << path;
        EXPECT_FALSE(absl::EqualsIgnoreCase(part, ".git")) << path;
        EXPECT_TRUE(part.back() != '.' && part.back() != ' ' && part.front() != ' ') << path;
        for (const char c : part) {
          EXPECT_TRUE(absl::ascii_isalnum(c) || absl::StrContains("._-+=@,()[]{} %~", c)) << path;
        }
      }
    }
  }
  EXPECT_EQ(MakePath("CON.py"), "c/r/%43ON.py");
  EXPECT_EQ(MakePath("../x"), "c/r/.%2e/x");
}

TEST(TreePaths, DifferentNamesStayApart) {
  const std::vector<std::string> names = {"a.py",
                                          "A.py",
                                          "a%2epy",
                                          "%61.py",
                                          "\xe9.py",
                                          "%e9.py",
                                          "b",
                                          "B/c.py",
                                          "b/C.py",
                                          "d.",
                                          "d%2e",
                                          "d",
                                          "e/f",
                                          "e",
                                          "E",
                                          std::string(300, 'z') + ".py",
                                          std::string(301, 'z') + ".py"};
  std::vector<TreePlace> places;
  for (const std::string& name : names) places.push_back({"c", "r", name});
  places.push_back({"c", "r", "a.py"});  // the same name in another source
  const std::vector<std::string> paths = TreePaths(places);
  std::set<std::string> folders;
  std::set<std::string> files;
  for (const std::string& path : paths) {
    const std::string lower = absl::AsciiStrToLower(path);
    EXPECT_TRUE(files.insert(lower).second) << path;
    for (size_t slash = lower.find('/'); slash != std::string::npos;
         slash = lower.find('/', slash + 1)) {
      folders.insert(lower.substr(0, slash));
    }
  }
  for (const std::string& file : files) EXPECT_EQ(folders.count(file), 0u) << file;
  EXPECT_EQ(paths[0], "c/r/a.py");
  EXPECT_TRUE(absl::StartsWith(paths[1], "c/r/A~") && absl::EndsWith(paths[1], ".py")) << paths[1];
  EXPECT_TRUE(absl::EndsWith(paths[15], ".py")) << paths[15];
  EXPECT_EQ(TreePaths(places), paths);
}

TEST(TreePaths, APathOfManyFoldersIsCutInTheMiddle) {
  std::string deep;
  for (int i = 0; i < 200; ++i) absl::StrAppend(&deep, "folder", i, "/");
  const std::string path = MakePath(deep + "kernel.py");
  EXPECT_LT(path.size(), 60u);
  EXPECT_TRUE(absl::EndsWith(path, "/kernel.py")) << path;
  EXPECT_NE(path, MakePath("x/" + deep + "kernel.py"));
}

}  // namespace
}  // namespace kernelmill::dataset
