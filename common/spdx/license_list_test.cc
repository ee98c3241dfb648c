#include "common/spdx/license_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_split.h"
#include "common/spdx/expression.h"

namespace kernelmill::spdx {
namespace {

const LicenseTemplate* Find(absl::string_view id) {
  for (const LicenseTemplate& text : LicenseTemplates()) {
    if (text.id() == id) return &text;
  }
  return nullptr;
}

TEST(LicenseListTest, TextsAreWholeAndOfKnownIds) {
  ASSERT_GT(LicenseTemplates().size(), 600u);
  std::set<std::string> seen;
  for (const LicenseTemplate& text : LicenseTemplates()) {
    for (const absl::string_view id : absl::StrSplit(text.ids, ' ')) {
      EXPECT_TRUE(IsKnownLicenseId(id)) << id;
      EXPECT_EQ(CanonicalLicenseId(id), id) << "deprecated";
      EXPECT_TRUE(seen.emplace(id).second) << id;
    }
    EXPECT_LE(text.first, text.last) << text.ids;
    EXPECT_LE(text.last, text.size) << text.ids;
    EXPECT_TRUE(std::all_of(text.words, text.words + text.size,
                            [](char16_t word) { return word <= LicenseWords().size(); }));
  }
}

TEST(LicenseListTest, EqualTextsStandForTheirShortestId) {
  EXPECT_STREQ(Find("GPL-2.0-only")->ids, "GPL-2.0-only GPL-2.0-or-later");
  EXPECT_NE(Find("MIT"), nullptr);
  EXPECT_EQ(Find("GPL-2.0-or-later"), nullptr);
  EXPECT_EQ(Find("GPL-2.0"), nullptr);
}

TEST(LicenseListTest, TitlesAndInstructionsAreNotTheLicence) {
  const LicenseTemplate& apache = *Find("Apache-2.0");
  EXPECT_GT(apache.size - apache.last, 100u);
  EXPECT_EQ(Find("MIT")->first, 2u);
  EXPECT_EQ(Find("MIT")->last, Find("MIT")->size);
}

}  // namespace
}  // namespace kernelmill::spdx
