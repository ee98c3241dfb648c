#include "services/coordinator/core/dispatch/host_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Clock::Time kNow{std::chrono::hours(1)};

std::string HostOfGit(const std::string& url) {
  v1::Source source;
  source.set_git(url);
  return HostOfSource(source);
}

TEST(HostOfSource, IsTheHostOfEveryKindOfUrl) {
  EXPECT_EQ(HostOfGit("https://Example.org/a/b.git"), "example.org");
  EXPECT_EQ(HostOfGit("https://user:secret@example.org:8443/a"), "example.org");
  EXPECT_EQ(HostOfGit("ssh://git@example.org/a"), "example.org");
  EXPECT_EQ(HostOfGit("git@example.org:a/b.git"), "example.org");
  EXPECT_EQ(HostOfGit("http://[::1]:80/a"), "[::1]");
  EXPECT_EQ(HostOfGit("http://[::1]/a"), "[::1]");
  EXPECT_EQ(HostOfGit("file:///srv/a.git"), "");
  EXPECT_EQ(HostOfGit("/srv/a:b.git"), "");
  v1::Source package;
  package.set_package("a==1");
  EXPECT_EQ(HostOfSource(package), "package index");
  v1::Source path;
  path.set_path("./a");
  EXPECT_EQ(HostOfSource(path), "");
}

TEST(HostLimits, ATaskBeyondTheLimitWaitsForAPlace) {
  HostLimits limits(2);
  EXPECT_TRUE(limits.Take("a", 1, kNow));
  EXPECT_TRUE(limits.Take("a", 2, kNow));
  EXPECT_FALSE(limits.Take("a", 3, kNow));
  EXPECT_FALSE(limits.Take("a", 4, kNow));
  EXPECT_TRUE(limits.Take("b", 5, kNow));
  EXPECT_THAT(limits.TakeRunnable(kNow), IsEmpty());
  limits.Release("a");
  EXPECT_THAT(limits.TakeRunnable(kNow), ElementsAre(3));
  EXPECT_TRUE(limits.Take("a", 3, kNow));
  limits.Release("a");
  limits.Release("a");
  EXPECT_THAT(limits.TakeRunnable(kNow), ElementsAre(4));
}

TEST(HostLimits, NoHostAndNoLimitNeverWait) {
  HostLimits limits(1);
  EXPECT_TRUE(limits.Take("", 1, kNow));
  EXPECT_TRUE(limits.Take("", 2, kNow));
  HostLimits none(0);
  EXPECT_TRUE(none.Take("a", 1, kNow));
  EXPECT_TRUE(none.Take("a", 2, kNow));
}

TEST(HostLimits, AHostIsLeftAloneAsLongAsItWishes) {
  for (const int limit : {0, 2}) {
    HostLimits limits(limit);
    EXPECT_TRUE(limits.Take("a", 1, kNow));
    limits.Pause("a", kNow + std::chrono::seconds(60));
    limits.Pause("a", kNow + std::chrono::seconds(30));
    limits.Release("a");
    EXPECT_FALSE(limits.Take("a", 2, kNow + std::chrono::seconds(59)));
    EXPECT_TRUE(limits.Take("b", 3, kNow));
    EXPECT_THAT(limits.TakeRunnable(kNow + std::chrono::seconds(59)), IsEmpty());
    EXPECT_THAT(limits.TakeRunnable(kNow + std::chrono::seconds(60)), ElementsAre(2));
    EXPECT_TRUE(limits.Take("a", 2, kNow + std::chrono::seconds(60)));
  }
}

}  // namespace
}  // namespace kernelmill::coordinator
