#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/github/github_client.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TokenFile, HoldsOneTokenOrNone) {
  const TempDir folder = *TempDir::Create();
  const std::string path = folder.path() + "/token";
  ASSERT_THAT(WriteFile(path, " ghp_abc\n"), IsOk());
  EXPECT_EQ(*ReadTokenFile(path), "ghp_abc");
  ASSERT_THAT(WriteFile(path, ""), IsOk());
  EXPECT_EQ(*ReadTokenFile(path), "");
  EXPECT_EQ(*ReadTokenFile(""), "");
}

TEST(TokenFile, ErrorsNameTheFileAndNotWhatIsInIt) {
  const TempDir folder = *TempDir::Create();
  const std::string path = folder.path() + "/token";
  EXPECT_THAT(ReadTokenFile(path), StatusIs(absl::StatusCode::kFailedPrecondition));
  for (const std::string& text : {std::string("secret\nX-Other: y"), std::string(5000, 's')}) {
    ASSERT_THAT(WriteFile(path, text), IsOk());
    const auto token = ReadTokenFile(path);
    EXPECT_THAT(token, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(token.status().message()), HasSubstr(path));
    EXPECT_THAT(std::string(token.status().message()), Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace kernelmill::fetcher
