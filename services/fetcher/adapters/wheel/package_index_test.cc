#include "services/fetcher/adapters/wheel/package_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

const std::string kHash(64, 'a');
constexpr char kPage[] = "https://index.example.org/simple/x/";

TEST(PackageIndex, NamesAreNormalized) {
  EXPECT_EQ(NormalizeProjectName("Fla_Core"), "fla-core");
  EXPECT_EQ(NormalizeProjectName("a.-_b"), "a-b");
}

TEST(PackageIndex, JsonPage) {
  const auto files = ParseIndexJson(
      R"({"meta":{"api-version":"1.1"},"files":[
        {"filename":"x-1-py3-none-any.whl","url":"../../f/x-1-py3-none-any.whl",
         "hashes":{"sha256":")" +
          kHash + R"("},"yanked":false},
        {"filename":"x-2-py3-none-any.whl","url":"https://cdn.example.org/x2","hashes":{},
         "yanked":"broken"},
        {"filename":"x-3-py3-none-any.whl","url":"https://cdn.example.org/x3",
         "hashes":{"sha256":"short"}},
        {"filename":7,"url":"y"}, "nonsense", {"url":"no name"}]})",
      kPage);
  ASSERT_THAT(files, IsOk());
  ASSERT_EQ(files->size(), 3u);
  EXPECT_EQ((*files)[0].url, "https://index.example.org/f/x-1-py3-none-any.whl");
  EXPECT_EQ((*files)[0].sha256, kHash);
  EXPECT_FALSE((*files)[0].yanked);
  EXPECT_TRUE((*files)[1].yanked);
  EXPECT_EQ((*files)[1].sha256, "");
  EXPECT_EQ((*files)[2].sha256, "");
}

TEST(PackageIndex, BrokenJsonIsDataLoss) {
  for (const char* body : {"", "{", "[]", "{}", "{\"files\":{}}", "null"}) {
    EXPECT_THAT(ParseIndexJson(body, kPage), StatusIs(absl::StatusCode::kDataLoss)) << body;
  }
  EXPECT_THAT(ParseIndexJson(std::string(1 << 20, '['), kPage),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(PackageIndex, HtmlPage) {
  const std::vector<IndexFile> files = ParseIndexHtml(
      "<!DOCTYPE html><html><body><abbr>x</abbr>\n"
      "<a href=\"../../f/x-1%2Bcu-py3-none-any.whl#sha256=" +
          kHash +
          "\">x</a><br/>\n"
          "<A data-yanked=\"\" "
          "HREF='https://cdn.example.org/x-2-py3-none-any.whl?a=1&amp;b=2'>x</A>\n"
          "<a name=\"nothing\">y</a><a href=\"https://[broken\">z</a><a href=\"cut",
      kPage);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].filename, "x-1+cu-py3-none-any.whl");
  EXPECT_EQ(files[0].url, "https://index.example.org/f/x-1%2Bcu-py3-none-any.whl");
  EXPECT_EQ(files[0].sha256, kHash);
  EXPECT_FALSE(files[0].yanked);
  EXPECT_EQ(files[1].url, "https://cdn.example.org/x-2-py3-none-any.whl?a=1&b=2");
  EXPECT_EQ(files[1].filename, "x-2-py3-none-any.whl");
  EXPECT_TRUE(files[1].yanked);
}

}  // namespace
}  // namespace kernelmill::fetcher
