#include "common/spdx/text/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::spdx {
namespace {

// The words with a blank between, "<>" for a wildcard.
std::string Words(const std::string& text, bool placeholders = false) {
  std::string joined;
  for (const LegalWord& word : LegalWords(text, placeholders)) {
    absl::StrAppend(&joined, joined.empty() ? "" : " ", word.text.empty() ? "<>" : word.text);
  }
  return joined;
}

TEST(WordsTest, PunctuationCaseAndLineBreaksDoNotMatter) {
  EXPECT_EQ(NormalizeWords("/*\n * The  \"MIT\" Licence,\tv2.0. */"), " the mit license v2.0 ");
  EXPECT_EQ(NormalizeWords(""), " ");
  EXPECT_EQ(NormalizeWords(absl::string_view("a\0b", 3)), " a b ");
  EXPECT_THAT(SentenceWords("Use v. 2.0. See LICENSE.txt\n\nmore"),
              ::testing::ElementsAre("use", "v", "2.0", ".", "see", "license", "txt", ".", "more"));
}

TEST(WordsTest, SentenceWordsKnowTheirLines) {
  std::vector<int> lines;
  EXPECT_THAT(SentenceWords("a b.\nc\n\nd", &lines), ::testing::SizeIs(6));
  EXPECT_THAT(lines, ::testing::ElementsAre(1, 1, 1, 2, 4, 4));
}

TEST(LegalWordsTest, CaseQuotesAndPunctuationDoNotMatter) {
  EXPECT_EQ(Words("THE \xe2\x80\x9cSOFTWARE\xe2\x80\x9d, the `Author's'"),
            "the software the author");
}

TEST(LegalWordsTest, BulletsAndCommentMarksAreNoWords) {
  for (const std::string bullet :
       {"1. ", "(a) ", "iv) ", "* ", "- ", "# 2.1 ", " * c. ", "// 12) ", "o "}) {
    EXPECT_EQ(Words(bullet + "Redistributions must"), "redistributions must") << bullet;
  }
  EXPECT_EQ(Words("a copy of it"), "a copy of it");
  EXPECT_EQ(Words("i think"), "i think");
  EXPECT_EQ(Words("2007 was long ago"), "2007 was long ago");
}

TEST(LegalWordsTest, CopyrightLinesAreNoWords) {
  for (const std::string line :
       {"Copyright (c) 2020 X", "Copyright 2020, X. All rights reserved.", "(c) 2020 X",
        "\xc2\xa9 2020 X", "Copyright \xc2\xa9 X", "# Copyright Facebook, Inc.",
        " * Copyright (C) <year> <owner>", "All rights reserved.", "Copyright [yyyy] [name]",
        "Copyright: (c) X", "copyright 2020 by x", "Portions Copyright (c) 2000 X"}) {
    EXPECT_EQ(Words(line + "\nPermission"), "permission") << line;
  }
  for (const std::string line :
       {"copyright notice, this list", "Copyright holders shall", "COPYRIGHT HOLDERS BE LIABLE",
        "copyright law", "Copyright License. Subject to"}) {
    EXPECT_FALSE(IsCopyrightLine(line)) << line;
  }
  EXPECT_FALSE(IsCopyrightLine("Copyright (c) 2020 X " + std::string(300, 'x')));
}

TEST(LegalWordsTest, VarietiesOfSpellingAreOne) {
  EXPECT_EQ(Words("Licence, sub-licence, copyright owner, acknowledgement, https://x"),
            "license sublicense copyright holder acknowledgment http x");
}

TEST(LegalWordsTest, PlaceholdersAreWildcardsWhereAskedFor) {
  EXPECT_EQ(Words("by <copyright holder> or", true), "by <> or");
  EXPECT_EQ(Words("by <copyright holder> or"), "by copyright holder or");
  EXPECT_EQ(Words("see <https://x.org/a>", true), "see http x org a");
  EXPECT_EQ(Words("a < b", true), "a b");
}

TEST(LegalWordsTest, WordsKnowTheirLines) {
  const auto words = LegalWords("one\n\ntwo three");
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[0].line, 1);
  EXPECT_EQ(words[2].line, 3);
}

}  // namespace
}  // namespace kernelmill::spdx
