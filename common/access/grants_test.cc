#include "common/access/grants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::access {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::HasSubstr;

constexpr char kKey[] = "0123456789abcdef0123456789abcdef\n";

class GrantsTest : public ::testing::Test {
 protected:
  static ResultWrite Write() { return {"aa/7", "extract", 11, "worker w3"}; }
  // Returns the error of the check of a grant for a write.
  std::string Check(const std::string& grant, const ResultWrite& write = Write()) {
    const absl::Status status = key_->Check(grant, write, now_);
    EXPECT_TRUE(status.ok() || absl::IsPermissionDenied(status)) << status;
    return std::string(status.message());
  }

  const TempDir dir_ = *TempDir::Create();
  const std::string path_ = dir_.path() + "/grant.key";
  const absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  const Grant grant_ = {"aa/7", "extract", 11, "worker w3", now_ + absl::Seconds(1)};
  const std::unique_ptr<GrantKey> key_ = [this] {
    EXPECT_THAT(WriteFile(path_, kKey), IsOk());
    return *GrantKey::Open(path_);
  }();
};

TEST_F(GrantsTest, LetItsCallerWriteTheResultOfItsAction) {
  EXPECT_EQ(Check(key_->Sign(grant_)), "");
}

TEST_F(GrantsTest, NoneIsRefused) { EXPECT_THAT(Check(""), HasSubstr("the grant is missing")); }

TEST_F(GrantsTest, OfAnotherKeyIsRefused) {
  const std::string other = dir_.path() + "/other.key";
  ASSERT_THAT(WriteFile(other, std::string(32, 'x')), IsOk());
  EXPECT_THAT(Check((*GrantKey::Open(other))->Sign(grant_)), HasSubstr("not signed"));
}

TEST_F(GrantsTest, ChangedInAnyByteIsRefused) {
  const std::string good = key_->Sign(grant_);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string forged = good;
    forged[i] ^= 1;
    EXPECT_THAT(Check(forged), HasSubstr("not signed")) << i;
  }
}

TEST_F(GrantsTest, TruncatedOrLengthenedIsRefused) {
  const std::string good = key_->Sign(grant_);
  for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(Check(good.substr(0, size)), "");
  EXPECT_THAT(Check(good + "4"), HasSubstr("not signed"));
  EXPECT_THAT(Check(good + std::string(10'000, 'x')), HasSubstr("malformed"));
}

TEST_F(GrantsTest, ExpiredIsRefused) {
  Grant old = grant_;
  old.expiry = now_;
  EXPECT_THAT(Check(key_->Sign(old)), HasSubstr("expired at 2027-01-15"));
}

TEST_F(GrantsTest, OfAnotherCallerIsRefusedAndNamesIt) {
  ResultWrite write = Write();
  write.caller = "worker w4";
  EXPECT_THAT(Check(key_->Sign(grant_), write), HasSubstr("given to worker w3"));
  Grant without = grant_;
  without.caller = "";
  EXPECT_THAT(Check(key_->Sign(without)), HasSubstr("given to an unnamed caller"));
}

TEST_F(GrantsTest, OfAnotherActionIsRefusedAndNamesIt) {
  ResultWrite write = Write();
  write.action = "bb/7";
  EXPECT_THAT(Check(key_->Sign(grant_), write), HasSubstr("for extract 11 of the action aa/7"));
}

TEST_F(GrantsTest, AResultMustBeOfTheGrantsStageAndVersion) {
  ResultWrite write = Write();
  write.stage = "sign";
  EXPECT_THAT(Check(key_->Sign(grant_), write), HasSubstr("the result is from 'sign 11'"));
  write = Write();
  write.version = 10;
  EXPECT_NE(Check(key_->Sign(grant_), write), "");
  write.stage = "extract/cache";
  EXPECT_NE(Check(key_->Sign(grant_), write), "");
}

TEST_F(GrantsTest, CoverTheCachesThatTheStageKeepsForItself) {
  ResultWrite write = Write();
  write.action = "bb/7";
  write.stage = "extract/cache";
  EXPECT_EQ(Check(key_->Sign(grant_), write), "");
  write.action = "aa/7";
  EXPECT_NE(Check(key_->Sign(grant_), write), "") << "an entry is no result of the action";
  write.action = "bb/7";
  write.stage = "extractor/cache";
  EXPECT_NE(Check(key_->Sign(grant_), write), "");
}

TEST_F(GrantsTest, AWordOfItsPartsCannotMoveIntoAnother) {
  Grant shifted = grant_;
  shifted.stage = "extract\n11\nworker w3";
  shifted.caller = "";
  ResultWrite write = Write();
  EXPECT_NE(Check(key_->Sign(shifted), write), "");
}

TEST_F(GrantsTest, AKeyThatChangesIsReadAgain) {
  const std::string before = key_->Sign(grant_);
  ASSERT_THAT(WriteFile(path_, std::string(40, 'n')), IsOk());
  std::string said;
  for (int i = 0; i < 100 && said.empty(); ++i) {
    said = Check(before);
    if (said.empty()) absl::SleepFor(absl::Milliseconds(50));
  }
  EXPECT_THAT(said, HasSubstr("not signed"));
  EXPECT_EQ(Check(key_->Sign(grant_)), "");
}

TEST_F(GrantsTest, AShortKeyIsNoKey) {
  ASSERT_THAT(WriteFile(path_, std::string(31, 'k') + "\n"), IsOk());
  EXPECT_THAT(GrantKey::Open(path_).status().ToString(),
              ::testing::AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("at least 32 bytes")));
}

}  // namespace
}  // namespace kernelmill::access
