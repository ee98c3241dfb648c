#include "common/base/glob.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

bool Match(absl::string_view glob, absl::string_view path) {
  const absl::StatusOr<Glob> compiled = Glob::Compile(glob);
  EXPECT_THAT(compiled, IsOk()) << glob;
  return compiled.ok() && compiled->Matches(path);
}

struct Case {
  const char* glob;
  std::vector<const char*> matches;
  std::vector<const char*> others;
};

TEST(Glob, Table) {
  const std::vector<Case> cases = {
      {"*.py", {"a.py", ".py", ".hidden.py"}, {"a/b.py", "a.pyc", "py"}},
      {"**/*.py", {"a.py", "x/a.py", "x/y/z/a.py"}, {"a.pyc", "x/a.py/b"}},
      {"a/**", {"a/b", "a/b/c", "a"}, {"b/a", "ab"}},
      {"a/**/z.py", {"a/z.py", "a/b/z.py", "a/b/c/z.py"}, {"z.py", "a/bz.py", "b/a/z.py"}},
      {"**/t/**/x", {"t/x", "a/t/x", "a/t/b/c/x", "t/t/x"}, {"x", "a/x", "t/y"}},
      {"?.py", {"a.py"}, {"ab.py", ".py", "/.py"}},
      {"[a-c]x", {"ax", "bx", "cx"}, {"dx", "x", "-x"}},
      {"[!a-c]x", {"dx", "-x"}, {"ax", "x", "/x"}},
      {"[]a]x", {"]x", "ax"}, {"x", "bx"}},
      {"[a-]x", {"ax", "-x"}, {"bx"}},
      {"{a,b}.py", {"a.py", "b.py"}, {"c.py", "{a,b}.py", "a,b.py"}},
      {"{a/b,c{d,e}}/*.py", {"a/b/x.py", "cd/x.py", "ce/x.py"}, {"c/x.py", "a/x.py"}},
      {"x{,y}z", {"xz", "xyz"}, {"xyyz"}},
      {"a**b", {"ab", "axxb"}, {"a/b"}},
      {"\\*.py", {"*.py"}, {"a.py"}},
      {"\\{a,b\\}", {"{a,b}"}, {"a"}},
      {"[{,}]", {"{", ",", "}"}, {"a"}},
      {"*a*b*c", {"abc", "xaxbxc", "aabbcc"}, {"acb", "ab"}},
      {"\xff*", {"\xff", "\xff\xfe"}, {"a"}},
  };
  for (const Case& c : cases) {
    for (const char* path : c.matches) EXPECT_TRUE(Match(c.glob, path)) << c.glob << " " << path;
    for (const char* path : c.others) EXPECT_FALSE(Match(c.glob, path)) << c.glob << " " << path;
  }
}

TEST(Glob, WhatIsNoGlobIsRefused) {
  for (const char* bad : {"", "/a", "a//b", "a/", "./a", "a/../b", "[a", "[b-a]", "{a", "a}", "a\\",
                          "{a,{b}", "{a,/b}"}) {
    EXPECT_THAT(Glob::Compile(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

TEST(Glob, BraceExpansionIsBounded) {
  std::string doubling, nested;
  for (int i = 0; i < 40; ++i) doubling += "{a,b}";
  for (int i = 0; i < 1000; ++i) nested = "{" + nested + "x,y}";
  EXPECT_THAT(Glob::Compile(doubling), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Glob::Compile(std::string(2000, '{') + std::string(2000, '}')),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Glob::Compile(nested), StatusIs(absl::StatusCode::kInvalidArgument));
}

// A matcher that tries all assignments of the path to the stars would never end.
TEST(Glob, ManyStarsEndSoon) {
  std::string glob, folders;
  for (int i = 0; i < 200; ++i) glob += "*a";
  for (int i = 0; i < 200; ++i) folders += "**/a/";
  std::string path;
  for (int i = 0; i < 2000; ++i) path += "a/";
  EXPECT_FALSE(Match(glob + "b", std::string(4000, 'a')));
  EXPECT_FALSE(Match(folders + "b", path + "c"));
}

TEST(GlobSet, ExcludeWins) {
  const absl::StatusOr<GlobSet> set = GlobSet::Compile({"**/*.py", "**/*.pyi"}, {"tests/**"});
  ASSERT_THAT(set, IsOk());
  EXPECT_TRUE(set->Matches("a/b.py"));
  EXPECT_TRUE(set->Matches("a/tests/b.pyi"));
  EXPECT_FALSE(set->Matches("tests/b.py"));
  EXPECT_FALSE(set->Matches("a/b.c"));
}

TEST(GlobSet, ErrorNamesFieldAndGlob) {
  const absl::StatusOr<GlobSet> set = GlobSet::Compile({"ok"}, {"[x"});
  ASSERT_THAT(set, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(set.status().message()), ::testing::HasSubstr("exclude \"[x\""));
}

}  // namespace
}  // namespace kernelmill
