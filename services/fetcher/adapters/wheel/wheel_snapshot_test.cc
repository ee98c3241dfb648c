#include "services/fetcher/adapters/wheel/wheel_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/http/testing/http_server.h"
#include "services/fetcher/adapters/wheel/testing/test_wheel.h"
#include "services/fetcher/core/assemble.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFile[] = "/files/my_pkg-1.0-py3-none-any.whl";

class WheelSnapshotTest : public ::testing::Test {
 protected:
  WheelSnapshotTest() { options_.index_url = server_.Url("/simple"); }

  void ServeJson(const std::string& sha256) {
    const std::string hashes =
        sha256.empty() ? "{}" : absl::StrCat("{\"sha256\":\"", sha256, "\"}");
    server_.Set(
        "/simple/my-pkg/",
        {200, "application/vnd.pypi.simple.v1+json",
         absl::StrCat("{\"files\":[{\"filename\":\"my_pkg-1.0-py3-none-any.whl\",\"url\":\"",
                      server_.Url(kFile), "\",\"hashes\":", hashes, "}]}")});
  }
  void ServeHtml(const std::string& fragment) {
    server_.Set("/simple/my-pkg/",
                {200, "text/html; charset=utf-8",
                 absl::StrCat("<a href=\"../..", kFile, fragment, "\">my_pkg</a>")});
  }
  void ServeWheel(const std::string& bytes) {
    server_.Set(kFile, {200, "application/octet-stream", bytes});
  }

  absl::StatusOr<v1::SourceTree> Fetch(const std::string& sha256) {
    absl::StatusOr<std::unique_ptr<Snapshot>> snapshot =
        FetchWheel("My.Pkg==1.0", sha256, globs_, options_);
    if (!snapshot.ok()) return snapshot.status();
    return DescribeTree(**snapshot, "my", {});
  }

  TestHttpServer server_;
  WheelOptions options_;
  GlobSet globs_ = *GlobSet::Compile({"**/*.py"}, {});
  const std::string wheel_ =
      MakeTestWheel({{"my_pkg/k.py", "import triton"},
                     {"my_pkg/data.bin", "data"},
                     {"my_pkg-1.0.dist-info/METADATA",
                      "License-Expression: MIT\nRequires-Dist: triton>=3.0.0\n\nmore"},
                     {"my_pkg-1.0.dist-info/LICENSE", "MIT License"},
                     {"my_pkg-1.0.dist-info/licenses/AUTHORS", "someone"},
                     {"other/LICENSE", "not ours"}});
  const std::string hash_ = Sha256Hex(wheel_);
};

TEST_F(WheelSnapshotTest, PinTakesTheIndexsWordAndDoesNotDownload) {
  ServeJson(std::string(64, 'a'));
  const absl::StatusOr<WheelPin> pin = PinWheel("My.Pkg==1.0", /*require_hash=*/true, options_);
  ASSERT_THAT(pin, IsOk());
  EXPECT_EQ(pin->sha256, std::string(64, 'a'));
  EXPECT_FALSE(pin->computed);
  EXPECT_THAT(server_.Requests(), ElementsAre("/simple/my-pkg/"));
}

TEST_F(WheelSnapshotTest, PinDownloadsWhereTheIndexGivesNoHash) {
  ServeHtml("");
  ServeWheel(wheel_);
  const absl::StatusOr<WheelPin> pin = PinWheel("My.Pkg==1.0", /*require_hash=*/false, options_);
  ASSERT_THAT(pin, IsOk());
  EXPECT_EQ(pin->sha256, hash_);
  EXPECT_TRUE(pin->computed);
}

TEST_F(WheelSnapshotTest, ARequiredHashIsTheIndexsAndNotOurs) {
  ServeHtml("");
  ServeWheel(wheel_);
  const absl::Status pin = PinWheel("My.Pkg==1.0", /*require_hash=*/true, options_).status();
  EXPECT_THAT(pin, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(pin.message()), HasSubstr("set the source's sha256"));
  EXPECT_THAT(server_.Requests(), ElementsAre("/simple/my-pkg/")) << "the wheel is not downloaded";
}

TEST_F(WheelSnapshotTest, JsonAndHtmlIndexGiveTheSameTree) {
  ServeWheel(wheel_);
  ServeJson(hash_);
  const absl::StatusOr<v1::SourceTree> json = Fetch(hash_);
  ServeHtml("#sha256=" + hash_);
  const absl::StatusOr<v1::SourceTree> html = Fetch(hash_);
  ASSERT_THAT(json, IsOk());
  ASSERT_THAT(html, IsOk());
  EXPECT_EQ(json->SerializeAsString(), html->SerializeAsString());
  EXPECT_EQ(json->commit(), "sha256:" + hash_);
  EXPECT_NE(json->commit_time(), 0);
  ASSERT_EQ(json->files_size(), 1);
  EXPECT_EQ(json->files(0).path(), "my_pkg/k.py");
  EXPECT_EQ(json->files(0).fate(), v1::FILE_FATE_SHARDED);
  EXPECT_EQ(json->unselected_files(), 5);
  ASSERT_EQ(json->license_files_size(), 1) << "AUTHORS is not a licence file";
  EXPECT_EQ(json->license_files(0).path(), "my_pkg-1.0.dist-info/LICENSE");
  EXPECT_THAT(json->declared_licenses(), ElementsAre("MIT"));
  EXPECT_EQ(json->requires_triton(), ">=3.0.0");
  EXPECT_EQ(json->requires_triton_path(), "my_pkg-1.0.dist-info/METADATA");
}

// row 28
TEST_F(WheelSnapshotTest, WrongHashIsRefused) {
  ServeWheel(wheel_);
  ServeJson(hash_);
  const absl::StatusOr<v1::SourceTree> none = Fetch(std::string(64, 'b'));
  EXPECT_THAT(none, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("wrong hash"));
  ServeJson("");
  EXPECT_THAT(Fetch(std::string(64, 'b')), StatusIs(absl::StatusCode::kFailedPrecondition));
  ServeJson(hash_);
  ServeWheel(wheel_ + "x");
  EXPECT_THAT(Fetch(hash_), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(WheelSnapshotTest, MissingPackageVersionAndFileAreNotFound) {
  EXPECT_THAT(PinWheel("My.Pkg==1.0", false, options_), StatusIs(absl::StatusCode::kNotFound));
  ServeJson(hash_);
  EXPECT_THAT(PinWheel("My.Pkg==2.0", false, options_), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Fetch(hash_), StatusIs(absl::StatusCode::kNotFound));
}

// An index's URL may have a password, as pip's configuration has it. It is used, and no error or
// record repeats it. Relative links in the index's page inherit it.
TEST_F(WheelSnapshotTest, APasswordInTheIndexsUrlIsUsedAndNeverShown) {
  const std::string plain = server_.Url("/simple");
  const auto with_user = [&](absl::string_view user) {
    return absl::StrReplaceAll(plain, {{"http://", absl::StrCat("http://", user, "@")}});
  };
  options_.index_url = with_user("user:s3cret");
  std::vector<std::string> shown;
  const auto refused = [&] {
    const absl::Status fetched = Fetch(hash_).status(),
                       pin = PinWheel("My.Pkg==1.0", false, options_).status();
    EXPECT_FALSE(fetched.ok() || fetched.message().empty());
    shown.push_back(fetched.ToString());
    shown.push_back(pin.ToString());
  };
  ServeHtml("");
  ServeWheel(wheel_);
  const absl::StatusOr<v1::SourceTree> tree = Fetch(hash_);
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(server_.LastRequest().headers.at("authorization"), "Basic dXNlcjpzM2NyZXQ=");
  shown.push_back(tree->DebugString());
  for (const int code : {301, 400, 401, 403, 404, 429, 500}) {
    server_.Set("/simple/my-pkg/", {code, "text/html", ""});
    refused();
    ServeHtml("");
    server_.Set(kFile, {code, "text/html", ""});
    refused();
    ServeWheel(wheel_);
  }
  server_.Set("/simple/my-pkg/", {200, "application/vnd.pypi.simple.v1+json", "no JSON"});
  refused();
  server_.Set("/simple/my-pkg/", {.code = 302, .location = with_user("u:s3cret") + "/elsewhere"});
  refused();
  server_.Set("/simple/my-pkg/", {.code = 302, .location = "ftp://u:s3cret@127.0.0.1/x"});
  refused();
  server_.Set("/simple/my-pkg/", {.cut_short = true});
  refused();
  options_.download_bytes = 10;
  ServeHtml("");
  refused();
  for (const char* url :
       {"http://user:s3cret@127.0.0.1:1/simple", "http://user:s3cret@[::1/simple",
        "https://user:s3cret@127.0.0.1:1/simple", "http://s3cret@127.0.0.1:1/s",
        "http://user:a b s3cret@127.0.0.1:1/simple", "ftp://user:s3cret@host/x",
        "http://user:a/s3cret@127.0.0.1:1/s", "http://user:a#s3cret@127.0.0.1/s",
        "http://user:a\"s3cret@127.0.0.1:1/s", "http://u:a@s3cret@127.0.0.1:1/s"}) {
    options_.index_url = url;
    refused();
  }
  for (const std::string& text : shown) EXPECT_THAT(text, Not(HasSubstr("s3cret")));
  EXPECT_THAT(shown.back(), HasSubstr("127.0.0.1"));
}

// row 28
TEST_F(WheelSnapshotTest, DownloadIsBounded) {
  ServeJson(hash_);
  ServeWheel(wheel_);
  options_.download_bytes = 10;
  EXPECT_THAT(Fetch(hash_), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(WheelSnapshotTest, AnEmptyFileIsNotAWheel) {
  ServeJson("");
  ServeWheel("");
  EXPECT_THAT(Fetch(Sha256Hex("")), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(WheelSnapshotTest, AWheelLeavesNothingInTheTemporaryFolder) {
  const absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  options_.temp_dir = folder->path();
  ServeJson(hash_);
  ServeWheel(wheel_);
  EXPECT_THAT(Fetch(hash_), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
}

// row 28
TEST_F(WheelSnapshotTest, TraversalLinksAndRepeatedNamesAreSkippedAndCounted) {
  const std::string wheel = MakeTestWheel({{"../../up.py", "triton"},
                                           {"/abs.py", "triton"},
                                           {"a/../b.py", "triton"},
                                           {"a.py", "triton 1"},
                                           {"a.py", "triton 2"},
                                           {"link.py", "", "a.py"},
                                           {".git/x.py", "triton"}});
  absl::StatusOr<std::unique_ptr<Snapshot>> snapshot = OpenWheel(wheel, globs_, options_);
  ASSERT_THAT(snapshot, IsOk());
  const absl::StatusOr<v1::SourceTree> tree = DescribeTree(**snapshot, "my", {});
  ASSERT_THAT(tree, IsOk());
  const std::map<std::string, int64_t> expected = {{"files.seen", 7},
                                                   {"files.sharded", 1},
                                                   {"files.skipped.duplicate_path", 1},
                                                   {"files.skipped.symlink", 1},
                                                   {"files.skipped.unsafe_path", 4}};
  EXPECT_EQ(CountFiles(*tree), expected);
}

// row 28
TEST_F(WheelSnapshotTest, LargeMemberIsSkipped) {
  options_.archive.member_bytes = ContentLimits().file_bytes;
  const std::string wheel = MakeTestWheel(
      {{"big.py", std::string(ContentLimits().file_bytes + 1, 't')}, {"x.py", "triton"}});
  options_.archive.ratio = 10'000;
  absl::StatusOr<std::unique_ptr<Snapshot>> snapshot = OpenWheel(wheel, globs_, options_);
  ASSERT_THAT(snapshot, IsOk());
  const absl::StatusOr<v1::SourceTree> tree = DescribeTree(**snapshot, "my", {});
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(tree->files(0).reason(), "too_large");
  EXPECT_EQ(tree->files(1).fate(), v1::FILE_FATE_SHARDED);
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WheelMetadata, ExpressionThenLicenseThenClassifiers) {
  EXPECT_THAT(DeclaredLicenses("Metadata-Version: 2.4\r\n"
                               "Classifier: License :: OSI Approved :: MIT License\n"
                               "Classifier: Programming Language :: Python\n"
                               "License: MIT License\n"
                               "        Copyright someone\n"
                               "LICENSE-EXPRESSION: MIT\n"
                               "\n"
                               "License: in the description\n"),
              ElementsAre("MIT", "MIT License\nCopyright someone",
                          "License :: OSI Approved :: MIT License"));
}

TEST(WheelMetadata, UnknownIsNothing) {
  EXPECT_THAT(DeclaredLicenses("License: UNKNOWN\nLicense-Expression:\n"), IsEmpty());
  EXPECT_THAT(DeclaredLicenses(""), IsEmpty());
  EXPECT_THAT(DeclaredLicenses(" goes on with nothing\nno colon\n"), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::fetcher
