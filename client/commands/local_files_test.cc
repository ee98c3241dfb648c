#include "client/commands/local_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::Contains;
using ::testing::ElementsAre;

class LocalFilesTest : public ::testing::Test {
 protected:
  LocalFilesTest() : root_(*TempDir::Create()) {
    for (const char* path : {"a/b.py", "a/.git/x.py", "a/c/d.py", "a/c/data.txt", "LICENSE",
                             "a/LICENCE.md", "a/license.py", "z/LICENSE"}) {
      fs::create_directories(fs::path(Path(path)).parent_path());
      EXPECT_THAT(WriteFile(Path(path), "x"), IsOk());
    }
    fs::create_symlink(Path("a/b.py"), Path("a/link.py"));
  }
  std::string Path(const std::string& path) const { return root_.path() + "/" + path; }
  std::vector<std::string> Shown(const std::vector<LocalFile>& files) const {
    std::vector<std::string> shown;
    for (const LocalFile& file : files) {
      shown.emplace_back(absl::StripPrefix(file.shown, root_.path() + "/"));
    }
    return shown;
  }

  TempDir root_;
};

TEST_F(LocalFilesTest, FoldersAreSearchedForPythonAlone) {
  const auto files = FindPythonFiles({Path("a")});
  ASSERT_THAT(files, IsOk());
  EXPECT_THAT(Shown(*files), ElementsAre("a/b.py", "a/c/d.py", "a/license.py"));
}

TEST_F(LocalFilesTest, NamedFilesAreTakenOnceWhateverTheirName) {
  const auto files = FindPythonFiles({Path("a/c/data.txt"), Path("a/c/../b.py"), Path("a/b.py")});
  ASSERT_THAT(files, IsOk());
  EXPECT_THAT(Shown(*files), ElementsAre("a/c/data.txt", "a/c/../b.py"));
}

TEST_F(LocalFilesTest, AMissingPathIsAnError) {
  EXPECT_THAT(FindPythonFiles({Path("nowhere")}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LocalFilesTest, LicensesAreThoseOfTheFoldersAbove) {
  const std::vector<std::string> shown =
      Shown(FindLicenseFiles(*FindPythonFiles({Path("a/c/d.py")})));
  EXPECT_THAT(shown, Contains("LICENSE"));
  EXPECT_THAT(shown, Contains("a/LICENCE.md"));
  EXPECT_THAT(shown, ::testing::Not(Contains("z/LICENSE")));
  EXPECT_THAT(shown, ::testing::Not(Contains("a/license.py")));
}

}  // namespace
}  // namespace kernelmill::client
