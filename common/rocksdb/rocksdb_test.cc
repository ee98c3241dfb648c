#include "common/rocksdb/rocksdb.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class DatabaseFolderTest : public ::testing::Test {
 protected:
  // Creates a folder with empty files of these names.
  std::string Folder(const std::vector<std::string>& names) {
    const std::string folder = dir_.path() + "/" + std::to_string(++folders_);
    fs::create_directory(folder);
    for (const std::string& name : names) {
      EXPECT_THAT(WriteFile(folder + "/" + name, ""), IsOk());
    }
    return folder;
  }

  const TempDir dir_ = *TempDir::Create();
  int folders_ = 0;
};

TEST_F(DatabaseFolderTest, FilesWithDataAndNoCurrentAreRefused) {
  for (const char* name : {"000012.sst", "000012.ldb", "000012.blob", "000012.log",
                           "MANIFEST-000005", "MANIFEST-000010"}) {
    const absl::Status status = PrepareDatabaseFolder(Folder({"IDENTITY", "LOCK", name}));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss)) << name;
    EXPECT_NE(status.message().find(name), absl::string_view::npos) << status;
    EXPECT_THAT(PrepareDatabaseFolder(Folder({"CURRENT", name})), IsOk()) << name;
  }
  EXPECT_THAT(PrepareDatabaseFolder(Folder({"MANIFEST-000001", "000004.log"})),
              StatusIs(absl::StatusCode::kDataLoss));
}

// A process may be killed at any point of its first start.
TEST_F(DatabaseFolderTest, AnInterruptedFirstStartMayGoOn) {
  EXPECT_THAT(PrepareDatabaseFolder(Folder({})), IsOk());
  EXPECT_THAT(PrepareDatabaseFolder(Folder({"LOCK", "IDENTITY", "SYNCED"})), IsOk());
  EXPECT_THAT(PrepareDatabaseFolder(Folder({"LOCK", "MANIFEST-000001", "000001.dbtmp"})), IsOk());
}

TEST_F(DatabaseFolderTest, OnlyANewFolderGetsAMode) {
  const auto mode = [](const std::string& path) { return fs::status(path).permissions(); };
  const std::string old = Folder({});
  ASSERT_EQ(::chmod(old.c_str(), 0750), 0);
  EXPECT_THAT(PrepareDatabaseFolder(old), IsOk());
  EXPECT_EQ(mode(old), fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
  for (const std::string name : {"/new/deep", "/new/slash/"}) {
    EXPECT_THAT(PrepareDatabaseFolder(dir_.path() + name), IsOk());
    EXPECT_EQ(mode(dir_.path() + name), fs::perms::owner_all) << name;
    EXPECT_EQ(mode(dir_.path() + "/new"), fs::perms::owner_all);
  }
  const fs::path before = fs::current_path();
  fs::current_path(dir_.path());
  EXPECT_THAT(PrepareDatabaseFolder("relative"), IsOk());
  fs::current_path(before);
  EXPECT_EQ(mode(dir_.path() + "/relative"), fs::perms::owner_all);
  EXPECT_THAT(WriteFile(dir_.path() + "/file", ""), IsOk());
  EXPECT_FALSE(PrepareDatabaseFolder(dir_.path() + "/file").ok());
  EXPECT_FALSE(PrepareDatabaseFolder(dir_.path() + "/file/db").ok());
}

}  // namespace
}  // namespace kernelmill
