#include "services/validator/core/license/text/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/spdx/license_list.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/samples.h"

namespace kernelmill::validator {
namespace {

std::vector<LicenseMatch> Match(const std::string& text) {
  return MatchTemplates(spdx::LegalWords(text)).matches;
}

// The words of a template as a text's; `filled`: something stands for each wildcard.
std::vector<spdx::LegalWord> SplitWords(const spdx::LicenseTemplate& text, bool filled) {
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
      const std::vector<spdx::LegalWord> words = SplitWords(text, filled);
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

using Words = std::vector<uint16_t>;

constexpr size_t kNoLimit = 1 << 30;

// How many words the runs have in common; checks that they are common, and in order.
size_t Common(const Words& a, const Words& b, size_t max_edits = 1000) {
  size_t steps = 0;
  std::vector<EqualRun> runs;
  if (!DiffWords(a, b, {max_edits, kNoLimit}, &steps, &runs)) return SIZE_MAX;
  size_t common = 0;
  size_t end_a = 0;
  size_t end_b = 0;
  for (const EqualRun& run : runs) {
    EXPECT_GE(run.at_a, end_a);
    EXPECT_GE(run.at_b, end_b);
    end_a = run.at_a + run.size;
    end_b = run.at_b + run.size;
    EXPECT_LE(end_a, a.size());
    EXPECT_LE(end_b, b.size());
    EXPECT_TRUE(std::equal(a.begin() + run.at_a, a.begin() + end_a, b.begin() + run.at_b));
    common += run.size;
  }
  return common;
}

size_t LongestCommon(const Words& a, const Words& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      best[i + 1][j + 1] = a[i] == b[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
    }
  }
  return best[a.size()][b.size()];
}

TEST(WordDiffTest, EqualTextsAreOneRun) {
  EXPECT_EQ(Common({1, 2, 3}, {1, 2, 3}, 0), 3u);
  EXPECT_EQ(Common({}, {}, 0), 0u);
  EXPECT_EQ(Common({}, {1, 2}), 0u);
  EXPECT_EQ(Common({1}, {}), 0u);
}

TEST(WordDiffTest, EditsAreAsFewAsCanBe) {
  uint32_t state = 1;
  for (int round = 0; round < 300; ++round) {
    Words a;
    Words b;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525 + 1013904223;
      if (state >> 31) a.push_back(state >> 24 & 3);
      if (state >> 30 & 1) b.push_back(state >> 20 & 3);
    }
    EXPECT_EQ(Common(a, b), LongestCommon(a, b));
  }
}

TEST(WordDiffTest, TooManyEditsOrStepsAreGivenUp) {
  EXPECT_EQ(Common({1, 2, 3}, {4, 5, 6}, 5), SIZE_MAX);
  EXPECT_EQ(Common({1, 2, 3}, {4, 5, 6}, 6), 0u);
  size_t steps = 0;
  std::vector<EqualRun> runs;
  EXPECT_FALSE(DiffWords(Words(1000, 1), Words(1000, 2), {2000, 5000}, &steps, &runs));
}

}  // namespace

}  // namespace kernelmill::validator
