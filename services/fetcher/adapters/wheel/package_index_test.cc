#include "services/fetcher/adapters/wheel/package_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
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

// Returns the highest memory of this process in bytes.
int64_t HighestMemory() {
  const absl::StatusOr<std::string> status = ReadFile("/proc/self/status", 1 << 20);
  EXPECT_THAT(status, IsOk());
  const std::vector<std::string> parts = absl::StrSplit(*status, "VmHWM:");
  return int64_t{1024} * std::atoi(parts.at(1).c_str());
}

TEST(PackageIndex, WhatNobodyAskedForIsNotKept) {
  std::string ballast = "[0";
  for (int i = 0; i < 1'000'000; ++i) ballast += ",0";
  ballast += "]";
  const std::string body =
      absl::StrCat(R"({"x":)", ballast, R"(,"files":[)", ballast,
                   R"(,{"filename":"x-1-py3-none-any.whl","url":"u",)", R"("y":)", ballast,
                   R"(,"hashes":{"sha256":")", kHash, R"(","z":)", ballast, R"(},"yanked":)",
                   ballast, R"(}],"versions":)", ballast, "}");
  const int64_t before = HighestMemory();
  const auto files = ParseIndexJson(body, kPage);
  ASSERT_THAT(files, IsOk());
  ASSERT_EQ(files->size(), 1u);
  EXPECT_EQ((*files)[0].sha256, kHash);
  EXPECT_LT(HighestMemory() - before, 32 << 20) << "a tree of all values takes 96 MB";
}

TEST(PackageIndex, TagsThatDoNotEndTakeNoTime) {
  std::string page;
  for (int i = 0; i < 1'000'000; ++i) page += "<a href=x ";
  const absl::Time begun = absl::Now();
  EXPECT_TRUE(ParseIndexHtml(page, kPage).empty());
  EXPECT_TRUE(ParseIndexHtml(page + ">", kPage).empty());
  EXPECT_EQ(ParseIndexHtml(page + "><a href=\"y.whl\">", kPage).size(), 1u);
  EXPECT_LT(absl::Now() - begun, absl::Seconds(20));
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

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

TEST(IndexSetting, PipConfiguration) {
  EXPECT_EQ(IndexInPipConfig("# x\n[global]\nindex-url = https://a.example.org/simple\n"),
            "https://a.example.org/simple");
  EXPECT_EQ(IndexInPipConfig("[install]\nindex_url: https://b.example.org/s\n"),
            "https://b.example.org/s");
  EXPECT_EQ(IndexInPipConfig("[other]\nindex-url = https://c.example.org\n"), "");
  EXPECT_EQ(IndexInPipConfig("[global]\n#index-url = https://c.example.org\nextra-index-url = d\n"),
            "");
}

TEST(IndexSetting, OptionThenEnvironmentThenFile) {
  const TempDir folder = *TempDir::Create();
  const std::string file = folder.path() + "/pip.conf";
  ASSERT_THAT(WriteFile(file, "[global]\nindex-url = https://file.example.org/simple\n"), IsOk());
  ::setenv("PIP_CONFIG_FILE", file.c_str(), 1);
  ::setenv("PIP_INDEX_URL", "https://env.example.org/simple", 1);
  EXPECT_EQ(*ResolvePackageIndex("https://option.example.org/simple"),
            "https://option.example.org/simple");
  EXPECT_EQ(*ResolvePackageIndex(""), "https://env.example.org/simple");
  ::unsetenv("PIP_INDEX_URL");
  EXPECT_EQ(*ResolvePackageIndex(""), "https://file.example.org/simple");
  ::unsetenv("PIP_CONFIG_FILE");
}

TEST(IndexSetting, WhatIsNoHttpUrlIsRefused) {
  EXPECT_THAT(ResolvePackageIndex("file:///srv/simple"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

using ::kernelmill::testing::StatusIs;

IndexFile File(const std::string& filename, const std::string& sha256 = "", bool yanked = false) {
  return {filename, "https://example.org/" + filename, sha256, yanked};
}

std::string Choose(std::vector<IndexFile> files, const std::string& sha256 = "") {
  const PackageName package = {"My.Pkg", "1.0"};
  const absl::StatusOr<IndexFile> chosen = ChooseWheel(files, package, sha256);
  std::reverse(files.begin(), files.end());
  const absl::StatusOr<IndexFile> reversed = ChooseWheel(files, package, sha256);
  EXPECT_EQ(chosen.ok(), reversed.ok());
  if (!chosen.ok()) return absl::StatusCodeToString(chosen.status().code());
  EXPECT_EQ(chosen->filename, reversed->filename) << "the order of the page does not matter";
  return chosen->filename;
}

TEST(ParsePackage, NameAndVersion) {
  EXPECT_EQ(ParsePackage("a-b==1.0+cu1")->name, "a-b");
  EXPECT_EQ(ParsePackage("a-b==1.0+cu1")->version, "1.0+cu1");
  for (const char* bad : {"", "a", "a==", "==1", "a/../b==1", "..==1", "a?x==1", "a b==1"}) {
    EXPECT_THAT(ParsePackage(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

TEST(ChooseWheel, PureBeforeCompiledThenByName) {
  EXPECT_EQ(Choose({File("my_pkg-1.0-cp310-cp310-linux_x86_64.whl"),
                    File("my_pkg-1.0-py3-none-any.whl"), File("my_pkg-1.0-py2.py3-none-any.whl")}),
            "my_pkg-1.0-py3-none-any.whl");
  EXPECT_EQ(Choose({File("my_pkg-1.0-cp311-cp311-linux_x86_64.whl"),
                    File("my_pkg-1.0-cp310-cp310-linux_x86_64.whl")}),
            "my_pkg-1.0-cp310-cp310-linux_x86_64.whl");
}

TEST(ChooseWheel, OnlyThisProjectAndVersion) {
  EXPECT_EQ(Choose({File("my_pkg-1.0.1-py3-none-any.whl"), File("other-1.0-py3-none-any.whl"),
                    File("my_pkg-1.0.tar.gz"), File("my_pkg-1.0-py3-none-any.whl.metadata"),
                    File("MY_PKG-1.0-1-py3-none-any.whl")}),
            "MY_PKG-1.0-1-py3-none-any.whl");
  EXPECT_EQ(Choose({File("my_pkg-1.0.tar.gz")}), "NOT_FOUND");
}

TEST(ChooseWheel, YankedOnesComeLast) {
  EXPECT_EQ(Choose({File("my_pkg-1.0-py3-none-any.whl", "", true),
                    File("my_pkg-1.0-cp310-cp310-linux_x86_64.whl")}),
            "my_pkg-1.0-cp310-cp310-linux_x86_64.whl");
  EXPECT_EQ(Choose({File("my_pkg-1.0-py3-none-any.whl", "", true)}), "my_pkg-1.0-py3-none-any.whl");
}

TEST(ChooseWheel, HashDecides) {
  const std::string a(64, 'a'), b(64, 'b'), c(64, 'c');
  const std::vector<IndexFile> files = {File("my_pkg-1.0-py3-none-any.whl", a),
                                        File("my_pkg-1.0-cp310-cp310-linux_x86_64.whl", b)};
  EXPECT_EQ(Choose(files, b), "my_pkg-1.0-cp310-cp310-linux_x86_64.whl");
  EXPECT_EQ(Choose(files, c), "FAILED_PRECONDITION");
  EXPECT_EQ(Choose({files[0], File("my_pkg-1.0-cp310-cp310-linux_x86_64.whl")}, c),
            "my_pkg-1.0-cp310-cp310-linux_x86_64.whl")
      << "one without a hash may be it";
}

}  // namespace

}  // namespace kernelmill::fetcher
