#include "services/validator/core/license/tree/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::validator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(GlobTest, OneStarStaysInItsFolder) {
  EXPECT_TRUE(GlobMatches("a/*.cu", "a/k.cu", false));
  EXPECT_FALSE(GlobMatches("a/*.cu", "a/b/k.cu", false));
  EXPECT_TRUE(GlobMatches("a/**", "a/b/k.cu", false));
  EXPECT_TRUE(GlobMatches("**/k.cu", "a/b/k.cu", false));
  EXPECT_FALSE(GlobMatches("**/k.cu", "k.cu", false)) << "the slash is a character";
  EXPECT_TRUE(GlobMatches("**", "a/b/k.cu", false));
  EXPECT_TRUE(GlobMatches("a\\*b", "a*b", false));
  EXPECT_FALSE(GlobMatches("a\\*b", "axb", false));
  EXPECT_TRUE(GlobMatches("a?", "a?", false)) << "no wildcard of REUSE.toml";
  EXPECT_FALSE(GlobMatches("", "a", false));
  EXPECT_FALSE(GlobMatches("a", "ab", false));
}

TEST(GlobTest, Dep5sStarSpansFolders) {
  EXPECT_TRUE(GlobMatches("a/*.cu", "a/b/k.cu", true));
  EXPECT_TRUE(GlobMatches("*", "a/b/k.cu", true));
  EXPECT_TRUE(GlobMatches("a?c", "abc", true));
}

TEST(GlobTest, ManyStarsTakeLinearSteps) {
  std::string glob;
  for (int i = 0; i < 2000; ++i) glob += "*a";
  EXPECT_FALSE(GlobMatches(glob, std::string(4000, 'a') + "b", false));
}

TEST(ReuseTomlTest, TablesAreRead) {
  const std::vector<Annotation> read = ReadReuseToml(
      "version = 1\n"
      "SPDX-PackageName = \"x\"  # not an annotation\n"
      "\n"
      "[[annotations]]\n"
      "path = \"src/**\"\n"
      "precedence = \"aggregate\"\n"
      "SPDX-FileCopyrightText = \"2024 Ann\"\n"
      "SPDX-License-Identifier = 'MIT'\n"
      "[[annotations]] # the second\n"
      "path = [\n  \"a.cu\", # one\n  'b\\*.cu',\n]\n"
      "SPDX-License-Identifier = [\"ISC\", \"Zlib\"]\n"
      "SPDX-FileCopyrightText = \"\"\"\nBob\"\"\"\n"
      "other = { inline = 1 }\n"
      "[tool]\npath = \"none\"\n");
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_THAT(read[0].globs, ElementsAre("src/**"));
  EXPECT_EQ(read[0].precedence, Precedence::kAggregate);
  EXPECT_THAT(read[0].licenses, ElementsAre("MIT"));
  EXPECT_THAT(read[0].copyrights, ElementsAre("2024 Ann"));
  EXPECT_EQ(read[0].line, 4);
  EXPECT_THAT(read[1].globs, ElementsAre("a.cu", "b\\*.cu"));
  EXPECT_EQ(read[1].precedence, Precedence::kClosest);
  EXPECT_THAT(read[1].licenses, ElementsAre("ISC", "Zlib"));
}

TEST(ReuseTomlTest, HostileTextIsBounded) {
  for (const char* text :
       {"[[annotations]]\npath = [", "[[annotations]]\npath = \"x", "[[[[",
        "= =", "[[annotations]]\npath = [1, 2]\n", "\"", "[[annotations]]\n= 'x'\n"}) {
    ReadReuseToml(text);
  }
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "[[annotations]]\npath = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa'\n";
  const std::vector<Annotation> read = ReadReuseToml(many);
  EXPECT_LE(read.size(), 1024u);
  EXPECT_THAT(read.back().globs, IsEmpty());
}

TEST(Dep5Test, ParagraphsAreRead) {
  const std::vector<Annotation> read = ReadDep5(
      "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
      "Upstream-Name: x\n"
      "\n"
      "# a remark\n"
      "Files: src/*\n      b.cu\n"
      "Copyright: 2024 Ann\n           2023 Bob\n"
      "License: MIT\n"
      "\n"
      "Files: *\nCopyright: X\nLicense: Apache-2.0\n a text\n");
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_THAT(read[0].globs, ElementsAre("src/*", "b.cu"));
  EXPECT_THAT(read[0].licenses, ElementsAre("MIT"));
  EXPECT_THAT(read[0].copyrights, ElementsAre("2024 Ann", "2023 Bob"));
  EXPECT_EQ(read[0].precedence, Precedence::kAggregate);
  EXPECT_THAT(read[1].licenses, ElementsAre("Apache-2.0"));
}

std::string Text(const std::optional<Annotated>& annotated) {
  if (!annotated.has_value()) return "";
  return absl::StrCat(annotated->license.has_value() ? annotated->license->ToString() : "?", "@",
                      annotated->path);
}

// "instead|besides|otherwise"
std::string Answer(const std::vector<std::pair<std::string, std::string>>& files,
                   const std::string& path) {
  v1::SourceTree tree;
  for (const auto& [name, text] : files) {
    v1::SourceFile& file = *tree.add_license_files();
    file.set_path(name);
    file.set_content(text);
  }
  const Annotations::Answer answer = Annotations(tree).Of(path);
  return absl::StrCat(Text(answer.instead), "|", Text(answer.besides), "|", Text(answer.otherwise));
}

std::string Table(const std::string& path, const std::string& license,
                  const std::string& precedence = "closest") {
  return absl::StrCat("[[annotations]]\npath = '", path, "'\nprecedence = '", precedence,
                      "'\nSPDX-License-Identifier = '", license, "'\n");
}

TEST(AnnotationsTest, TheLastTableThatNamesThePathCounts) {
  const std::string toml = Table("**", "MIT") + Table("a/**", "ISC");
  EXPECT_EQ(Answer({{"REUSE.toml", toml}}, "k.py"), "||MIT@REUSE.toml");
  EXPECT_EQ(Answer({{"REUSE.toml", toml}}, "a/k.py"), "||ISC@REUSE.toml");
  EXPECT_EQ(Answer({{"b/REUSE.toml", toml}}, "k.py"), "||");
  EXPECT_EQ(Answer({{"b/REUSE.toml", toml}}, "b/a/k.py"), "||ISC@b/REUSE.toml");
}

TEST(AnnotationsTest, OverridesEndTheSearchAndAggregatesAddUp) {
  EXPECT_EQ(
      Answer({{"REUSE.toml", Table("**", "MIT")}, {"a/REUSE.toml", Table("**", "ISC")}}, "a/k.py"),
      "||ISC@a/REUSE.toml");
  EXPECT_EQ(Answer({{"REUSE.toml", Table("**", "MIT", "override")},
                    {"a/REUSE.toml", Table("**", "ISC", "override")}},
                   "a/k.py"),
            "MIT@REUSE.toml||");
  EXPECT_EQ(Answer({{"REUSE.toml", Table("**", "MIT", "aggregate")},
                    {"a/REUSE.toml", Table("**", "ISC", "aggregate")}},
                   "a/k.py"),
            "|MIT AND ISC@REUSE.toml|");
  EXPECT_EQ(Answer({{".reuse/dep5", "Files: a/*\nLicense: MIT\n"}}, "a/b/k.py"),
            "|MIT@.reuse/dep5|");
}

TEST(AnnotationsTest, WhatIsNoExpressionIsNotPassedOver) {
  EXPECT_EQ(Answer({{"REUSE.toml", Table("**", "see LICENSE")}}, "k.py"), "||?@REUSE.toml");
}

}  // namespace
}  // namespace kernelmill::validator
