#include "common/job/source_spec.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::job {
namespace {

std::string HostOfGit(const std::string& url) {
  v1::Source source;
  source.set_git(url);
  return SourceHost(source);
}

TEST(SourceHost, IsTheHostOfEveryKindOfUrl) {
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
  EXPECT_EQ(SourceHost(package), "package index");
  v1::Source path;
  path.set_path("./a");
  EXPECT_EQ(SourceHost(path), "");
}

}  // namespace
}  // namespace kernelmill::job
