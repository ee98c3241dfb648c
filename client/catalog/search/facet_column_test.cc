#include "client/catalog/search/facet_column.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FacetColumnTest, FrequentValuesComeFirstAndEqualOnesByName) {
  FacetColumn facet;
  facet.Add({"MIT"});
  facet.Add({"BSD-3-Clause"});
  facet.Add({"Apache-2.0"});
  facet.Add({"Apache-2.0"});
  facet.Order();
  EXPECT_THAT(facet.values(), ElementsAre("Apache-2.0", "BSD-3-Clause", "MIT"));
  EXPECT_THAT(facet.counts(), ElementsAre(2u, 1u, 1u));
  EXPECT_THAT(facet.column(), ElementsAre(2u, 1u, 0u, 0u));
}

TEST(FacetColumnTest, KernelsWithTheSameValuesShareASetWhateverTheirOrder) {
  FacetColumn facet;
  facet.Add({"norm", "softmax", "norm"});
  facet.Add({"softmax", "norm"});
  facet.Add({"softmax"});
  facet.Order();
  EXPECT_THAT(facet.values(), ElementsAre("softmax", "norm"));
  EXPECT_THAT(facet.sets(), ElementsAre(ElementsAre(0u, 1u), ElementsAre(0u)));
  EXPECT_THAT(facet.column(), ElementsAre(0u, 0u, 1u));
}

TEST(FacetColumnTest, AKernelWithoutValuesHasTheEmptySet) {
  FacetColumn facet;
  facet.Add({});
  facet.Order();
  EXPECT_THAT(facet.values(), IsEmpty());
  EXPECT_THAT(facet.sets(), ElementsAre(IsEmpty()));
}

TEST(EncodeColumnTest, NumbersHaveAsManyBytesAsTheGreatestNeeds) {
  std::string bytes;
  const std::string one = EncodeColumn(std::vector<uint32_t>{1, 2, 255});
  ASSERT_TRUE(absl::Base64Unescape(one.substr(1), &bytes));
  EXPECT_EQ(one[0], '1');
  EXPECT_EQ(bytes, "\x01\x02\xff");
  const std::string two = EncodeColumn(std::vector<uint32_t>{5, 300});
  ASSERT_TRUE(absl::Base64Unescape(two.substr(1), &bytes));
  EXPECT_EQ(two[0], '2');
  EXPECT_EQ(bytes, std::string("\x05\x00\x2c\x01", 4));
  EXPECT_EQ(EncodeColumn(std::vector<uint32_t>{70000})[0], '4');
}

}  // namespace
}  // namespace kernelmill::client
