#include "services/fetcher/adapters/wheel/wheel_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/wheel/testing/test_wheel.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;

std::vector<std::string> List(absl::string_view archive) {
  std::vector<std::string> paths;
  EXPECT_THAT(ListArchive(archive, {},
                          [&](const ArchiveMember& member) {
                            paths.push_back(member.path);
                            return absl::OkStatus();
                          }),
              IsOk());
  return paths;
}

bool All(size_t) { return true; }

TEST(WheelArchive, ListsAndReads) {
  const std::string bytes("\0\xff\r\n", 4);
  const std::string wheel = MakeTestWheel({{"a/x.py", "x"}, {"../y.py", bytes}, {"/z.py", ""}});
  EXPECT_THAT(List(wheel), ElementsAre("a/x.py", "../y.py", "/z.py"));
  const absl::StatusOr<MemberContents> contents =
      ReadMembers(wheel, {}, [](size_t number) { return number == 1; });
  ASSERT_THAT(contents, IsOk());
  ASSERT_EQ(contents->size(), 1u);
  EXPECT_EQ(*contents->at(1), bytes);
}

TEST(WheelArchive, NamesDoNotDependOnTheLocale) {
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "C.UTF-8");
  const std::string wheel = MakeTestWheel({{"na\xc3\xafve.py", "x"}});
  std::setlocale(LC_ALL, "C");
  EXPECT_THAT(List(wheel), ElementsAre("na\xc3\xafve.py"));
  std::setlocale(LC_ALL, locale.c_str());
}

TEST(WheelArchive, TimeDoesNotDependOnTheZone) {
  const std::string wheel = MakeTestWheel({{"x.py", "x"}});
  const int64_t time = NewestMemberTime(wheel);
  EXPECT_NEAR(time, 1'600'000'000, 24 * 3600);  // the archive's writer took the local zone
  ::setenv("TZ", "Asia/Tokyo", 1);
  ::tzset();
  EXPECT_EQ(NewestMemberTime(wheel), time);
  ::unsetenv("TZ");
  ::tzset();
  EXPECT_EQ(NewestMemberTime("PK\5\6"), 0);
  EXPECT_EQ(NewestMemberTime(wheel.substr(40)), 0);
}

// row 28
TEST(WheelArchive, LinksAreTold) {
  const std::string wheel = MakeTestWheel({{"l.py", "", "/etc/passwd"}});
  EntryKind kind = EntryKind::kFile;
  ASSERT_THAT(ListArchive(wheel, {},
                          [&](const ArchiveMember& member) {
                            kind = member.kind;
                            return absl::OkStatus();
                          }),
              IsOk());
  EXPECT_EQ(kind, EntryKind::kSymlink);
}

// row 28
TEST(WheelArchive, LargeMemberIsNotUnpackedToItsEnd) {
  const std::string wheel = MakeTestWheel({{"big.py", std::string(100'000, 'x')}, {"x.py", "x"}});
  ArchiveLimits limits;
  limits.member_bytes = 50'000;
  const absl::StatusOr<MemberContents> contents = ReadMembers(wheel, limits, All);
  ASSERT_THAT(contents, IsOk());
  EXPECT_THAT(contents->at(0), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(*contents->at(1), "x");
}

// row 28
TEST(WheelArchive, BombsAreRefused) {
  std::vector<TestMember> members;
  for (int i = 0; i < 8; ++i) {
    members.push_back({absl::StrCat(i, ".py"), std::string(4 << 20, 'x')});
  }
  const std::string wheel = MakeTestWheel(members);
  ASSERT_LT(wheel.size(), 100'000u);
  ArchiveLimits by_ratio;
  EXPECT_THAT(ReadMembers(wheel, by_ratio, All), StatusIs(absl::StatusCode::kFailedPrecondition));
  by_ratio.ratio = 2000;
  EXPECT_THAT(ReadMembers(wheel, by_ratio, All), IsOk());
  by_ratio.unpacked_bytes = 8 << 20;
  EXPECT_THAT(ReadMembers(wheel, by_ratio, All), StatusIs(absl::StatusCode::kFailedPrecondition));
  ArchiveLimits by_count;
  by_count.members = 7;
  EXPECT_THAT(ListArchive(wheel, by_count, [](const ArchiveMember&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// row 28
TEST(WheelArchive, DamageIsDataLoss) {
  const auto visit = [](const ArchiveMember&) { return absl::OkStatus(); };
  EXPECT_THAT(ListArchive("not a zip", {}, visit), StatusIs(absl::StatusCode::kDataLoss));
  std::string content;
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&content, i * 7919 % 10007);
  std::string wheel = MakeTestWheel({{"a.py", content}, {"b.py", "b"}});
  for (size_t i = 2000; i < 3000; ++i) wheel[i] = static_cast<char>(~wheel[i]);
  const absl::StatusOr<MemberContents> contents = ReadMembers(wheel, {}, All);
  ASSERT_THAT(contents, IsOk());
  EXPECT_THAT(contents->at(0), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(*contents->at(1), "b") << "the damage is the one member's";
}

}  // namespace
}  // namespace kernelmill::fetcher
