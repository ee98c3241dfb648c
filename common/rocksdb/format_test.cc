#include "common/rocksdb/format.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class FormatTest : public ::testing::Test {
 protected:
  std::string dir() const { return dir_.path() + "/db"; }

  static std::unique_ptr<rocksdb::DB> Open(const std::string& dir) {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    EXPECT_TRUE(rocksdb::DB::Open(options, dir, &db).ok());
    return std::unique_ptr<rocksdb::DB>(db);
  }
  static std::string Read(rocksdb::DB& db, const std::string& key) {
    std::string value;
    return db.Get({}, key, &value).ok() ? value : "none";
  }

  // Formats 2 to `newest`. A step appends its number to the row "row" and to ran_; the step
  // fails_ fails.
  Formats To(rocksdb::DB& db, int newest) {
    Formats formats{.key = "format", .oldest = 2, .steps = {}, .files = {"beside"}};
    for (int from = 2; from < newest; ++from) {
      formats.steps.push_back({absl::StrCat("step ", from), [this, &db, from]() -> absl::Status {
                                 ran_.push_back(from);
                                 if (from == fails_) return absl::ResourceExhaustedError("full");
                                 const std::string row = absl::StrCat(Read(db, "row"), from);
                                 EXPECT_TRUE(db.Put({}, "row", row).ok());
                                 return absl::OkStatus();
                               }});
    }
    return formats;
  }
  absl::Status Upgrade(int newest) {
    const auto db = Open(dir());
    return UpgradeFormat(*db, dir(), To(*db, newest));
  }

  const TempDir dir_ = *TempDir::Create();
  std::vector<int> ran_;
  int fails_ = 0;
};

TEST_F(FormatTest, ANewDatabaseGetsTheNewestFormatAndNoCopy) {
  EXPECT_THAT(Upgrade(4), IsOk());
  EXPECT_EQ(Read(*Open(dir()), "format"), "4");
  EXPECT_TRUE(ran_.empty());
  EXPECT_FALSE(fs::exists(dir() + "/before-format-4"));
}

TEST_F(FormatTest, StepsRunInOrderAfterACopyWasMade) {
  ASSERT_THAT(Upgrade(2), IsOk());
  ASSERT_TRUE(Open(dir())->Put({}, "row", "r").ok());
  ASSERT_THAT(WriteFile(dir() + "/beside", "name"), IsOk());
  ASSERT_THAT(Upgrade(4), IsOk());
  EXPECT_EQ(ran_, (std::vector<int>{2, 3}));
  EXPECT_EQ(Read(*Open(dir()), "row"), "r23");
  EXPECT_EQ(Read(*Open(dir()), "format"), "4");
  const std::string copy = dir() + "/before-format-4";
  EXPECT_EQ(Read(*Open(copy), "row"), "r");
  EXPECT_EQ(Read(*Open(copy), "format"), "2");
  EXPECT_EQ(*ReadFile(copy + "/beside", 100), "name");
  EXPECT_EQ(fs::status(copy).permissions(), fs::perms::owner_all);
  ASSERT_THAT(Upgrade(4), IsOk());  // there is nothing to do
  EXPECT_EQ(ran_.size(), 2u);
}

TEST_F(FormatTest, AnUpgradeThatFailedGoesOnAndKeepsItsCopy) {
  ASSERT_THAT(Upgrade(2), IsOk());
  ASSERT_TRUE(Open(dir())->Put({}, "row", "r").ok());
  fails_ = 3;
  EXPECT_THAT(Upgrade(4), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(Read(*Open(dir()), "format"), "3 to 4");
  // Neither the old program nor the one between may open it now.
  for (const int newest : {2, 3}) {
    EXPECT_THAT(Upgrade(newest), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  fails_ = 0;
  ASSERT_THAT(Upgrade(4), IsOk());
  EXPECT_EQ(ran_, (std::vector<int>{2, 3, 3}));
  EXPECT_EQ(Read(*Open(dir() + "/before-format-4"), "row"), "r");
  EXPECT_FALSE(fs::exists(dir() + "/before-format-4-2"));
}

TEST_F(FormatTest, AnEarlierCopyIsNotReplaced) {
  ASSERT_THAT(Upgrade(2), IsOk());
  fs::create_directories(dir() + "/before-format-3");
  fs::create_directories(dir() + "/upgrading");  // left by a killed process
  ASSERT_THAT(Upgrade(3), IsOk());
  EXPECT_TRUE(fs::is_empty(dir() + "/before-format-3"));
  EXPECT_EQ(Read(*Open(dir() + "/before-format-3-2"), "format"), "2");
  EXPECT_FALSE(fs::exists(dir() + "/upgrading"));
}

TEST_F(FormatTest, AnotherFormatIsRefusedWithBothNamedAndLeftAlone) {
  for (const char* record : {"5", "4 to 5", "1", "x"}) {
    ASSERT_TRUE(Open(dir())->Put({}, "format", record).ok());
    const absl::Status refused = Upgrade(4);
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_TRUE(absl::StrContains(refused.message(), record)) << refused;
    EXPECT_TRUE(absl::StrContains(refused.message(), "reads formats 2 to 4")) << refused;
    EXPECT_EQ(Read(*Open(dir()), "format"), record);
  }
  EXPECT_TRUE(ran_.empty());
}

}  // namespace
}  // namespace kernelmill
