#include "services/fetcher/core/discover/discover_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;

constexpr char kRow[] =
    R"({"full_name":"a/b","html_url":"https://github.com/a/b","url":"https://api.github.com/x",
        "stargazers_count":7,"fork":true,"archived":true,"private":true,"topics":["gpu",5,"triton"]})";

TEST(DiscoverAnswer, ARowIsARepository) {
  const auto page = ParseRepositorySearch(
      absl::StrCat(R"({"total_count":1234,"incomplete_results":true,"items":[)", kRow, "]}"));
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->total, 1234);
  EXPECT_TRUE(page->incomplete);
  ASSERT_EQ(page->repositories.size(), 1u);
  const FoundRepository& repository = page->repositories[0];
  EXPECT_EQ(repository.name, "a/b");
  EXPECT_EQ(repository.url, "https://github.com/a/b");
  EXPECT_EQ(repository.stars, 7);
  EXPECT_TRUE(repository.fork);
  EXPECT_TRUE(repository.archived);
  EXPECT_TRUE(repository.closed);
  EXPECT_THAT(repository.topics, ElementsAre("gpu", "triton"));
  EXPECT_EQ(ParseRepository(kRow)->name, "a/b");
}

TEST(DiscoverAnswer, ARowOfCodeNamesItsRepository) {
  const auto page = ParseCodeSearch(
      R"({"total_count":2,"items":[{"path":"k.py","repository":{"full_name":"a/b","fork":false}},
          {"path":"x.py"}]})");
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->rows, 2);
  ASSERT_EQ(page->repositories.size(), 1u);
  EXPECT_EQ(page->repositories[0].name, "a/b");
}

TEST(DiscoverAnswer, RowsThatMakeNoSenseAreCountedAndLeftOut) {
  const char* const kRows[] = {
      "5",
      "[]",
      "null",
      R"({"full_name":"a/b","stargazers_count":1})",
      R"({"full_name":"../b","html_url":"https://x.org/b","stargazers_count":1})",
      R"({"full_name":"a/b","html_url":"file:///etc","stargazers_count":1})",
      R"({"full_name":"a/b","html_url":"ext::sh -c x","stargazers_count":1})",
      R"({"full_name":"a/b","html_url":"https://u:p@x.org/b","stargazers_count":1})",
      R"({"full_name":"a/b","html_url":"https://x.org/\u0000b","stargazers_count":1})",
      R"({"full_name":"a/b","html_url":"https://x.org/b","stargazers_count":-1})",
      R"({"full_name":"a/b","html_url":"https://x.org/b","stargazers_count":1e99})",
      R"({"full_name":"a/b","html_url":"https://x.org/b","stargazers_count":18446744073709551615})",
      R"({"full_name":5,"html_url":5,"stargazers_count":"5"})"};
  for (const char* row : kRows) {
    const auto page =
        ParseRepositorySearch(absl::StrCat(R"({"total_count":1,"items":[)", row, "]}"));
    ASSERT_THAT(page, IsOk()) << row;
    EXPECT_EQ(page->rows, 1) << row;
    EXPECT_TRUE(page->repositories.empty()) << row;
    EXPECT_THAT(ParseRepository(row), StatusIs(absl::StatusCode::kDataLoss)) << row;
  }
}

TEST(DiscoverAnswer, OtherAnswersAreDataLoss) {
  const std::string deep = std::string(4 << 20, '[') + std::string(4 << 20, ']');
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("{}"),
        std::string("<html>"), std::string(R"({"total_count":1,"items":{}})"),
        std::string(R"({"total_count":-1,"items":[]})"), std::string(R"({"items":[]})"),
        std::string("{\"total_count\":1,\"items\":[\"\xff\"]}"), deep}) {
    EXPECT_THAT(ParseRepositorySearch(body), StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_THAT(ParseCodeSearch(body), StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_THAT(ParseRepository(body), StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST(DiscoverAnswer, NoMoreRowsAreTakenThanAPageCanHave) {
  std::string rows = kRow;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&rows, ",", kRow);
  const auto page =
      ParseRepositorySearch(absl::StrCat(R"({"total_count":1001,"items":[)", rows, "]}"));
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->rows, 100);
  EXPECT_EQ(page->repositories.size(), 100u);
}

TEST(ErrorText, IsShortAndOnOneLine) {
  EXPECT_EQ(ErrorText(R"({"message":"Validation Failed","errors":[{"message":"too long"},"x"]})"),
            "Validation Failed: too long");
  EXPECT_EQ(ErrorText(R"({"message":"a\nb"})"), "a b");
  EXPECT_EQ(ErrorText("<html>"), "");
  EXPECT_EQ(ErrorText(R"({"message":5})"), "");
  EXPECT_LE(ErrorText(absl::StrCat(R"({"message":")", std::string(9999, 'x'), "\"}")).size(), 300u);
}

}  // namespace
}  // namespace kernelmill::fetcher
