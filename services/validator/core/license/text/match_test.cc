#include "services/validator/core/license/text/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/spdx/license_list.h"
#include "common/spdx/text/legal_words.h"
#include "services/validator/core/license/text/samples.h"

namespace kernelmill::validator {
namespace {

std::vector<LicenseMatch> Match(const std::string& text) {
  return MatchTemplates(spdx::LegalWords(text)).matches;
}

// The words of a template as a text's; `filled`: something stands for each wildcard.
std::vector<spdx::LegalWord> WordsOf(const spdx::LicenseTemplate& text, bool filled) {
  std::vector<spdx::LegalWord> words;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.words[i] != 0) {
      words.push_back({spdx::LicenseWords()[text.words[i] - 1], 1, i});
    } else if (filled) {
      words.push_back({"somebody", 1, i});
    }
  }
  return words;
}

TEST(LicenseMatchTest, EveryLicenceRecognizesItsOwnText) {
  for (const spdx::LicenseTemplate& text : spdx::LicenseTemplates()) {
    for (const bool filled : {false, true}) {
      const std::vector<spdx::LegalWord> words = WordsOf(text, filled);
      const LicenseMatches found = MatchTemplates(words);
      ASSERT_EQ(found.matches.size(), 1u) << text.ids;
      EXPECT_EQ(found.matches[0].id, text.id());
      EXPECT_FALSE(found.matches[0].altered) << text.ids;
      EXPECT_EQ(found.matches[0].score, 1.0) << text.ids;
      EXPECT_FALSE(found.exhausted);
    }
  }
}

TEST(LicenseMatchTest, WordsAroundAreNotPartOfIt) {
  const auto found = Match("Some words about it\n\n" + SampleText("BSD-2-Clause") + "\nand others");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].begin, 4u);
  EXPECT_EQ(found[0].score, 1.0);
}

TEST(LicenseMatchTest, CopiesAndNeighboursAreFoundEach) {
  const auto found = Match(SampleText("MIT") + SampleText("ISC") + SampleText("MIT"));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].id, "MIT");
  EXPECT_EQ(found[1].id, "ISC");
  EXPECT_EQ(found[2].id, "MIT");
  EXPECT_EQ(found[1].begin, found[0].end);
}

TEST(LicenseMatchTest, TheTextThatHasMostWordsWins) {
  for (const std::string id : {"MIT", "MIT-0", "X11", "JSON", "NCSA", "BSD-1-Clause",
                               "BSD-2-Clause", "BSD-3-Clause", "BSD-4-Clause", "BSD-3-Clause-Clear",
                               "ISC", "0BSD", "LGPL-3.0-only", "GPL-3.0-only", "AGPL-3.0-only"}) {
    const auto found = Match(SampleText(id));
    ASSERT_EQ(found.size(), 1u) << id;
    EXPECT_EQ(found[0].id, id);
  }
}

TEST(LicenseMatchTest, HalfATextIsAnAlteredOneOrNone) {
  const std::string mit = SampleText("MIT");
  for (const LicenseMatch& match : Match(mit.substr(0, mit.size() * 2 / 3))) {
    EXPECT_TRUE(match.altered);
  }
  EXPECT_THAT(Match(mit.substr(0, mit.size() / 4)), ::testing::IsEmpty());
  EXPECT_THAT(Match(""), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kernelmill::validator
