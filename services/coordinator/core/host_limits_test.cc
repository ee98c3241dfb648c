#include "services/coordinator/core/host_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
  EXPECT_TRUE(limits.Take("a", 1));
  EXPECT_TRUE(limits.Take("a", 2));
  EXPECT_FALSE(limits.Take("a", 3));
  EXPECT_FALSE(limits.Take("a", 4));
  EXPECT_TRUE(limits.Take("b", 5));
  EXPECT_THAT(limits.TakeRunnable(), IsEmpty());
  limits.Release("a");
  EXPECT_THAT(limits.TakeRunnable(), ElementsAre(3));
  EXPECT_TRUE(limits.Take("a", 3));
  limits.Release("a");
  limits.Release("a");
  EXPECT_THAT(limits.TakeRunnable(), ElementsAre(4));
}

TEST(HostLimits, NoHostAndNoLimitNeverWait) {
  HostLimits limits(1);
  EXPECT_TRUE(limits.Take("", 1));
  EXPECT_TRUE(limits.Take("", 2));
  HostLimits none(0);
  EXPECT_TRUE(none.Take("a", 1));
  EXPECT_TRUE(none.Take("a", 2));
}

}  // namespace
}  // namespace kernelmill::coordinator
