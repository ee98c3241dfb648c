#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/wheel/package_index.h"

namespace kernelmill::fetcher {
namespace {

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
