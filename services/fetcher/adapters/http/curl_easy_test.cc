#include "services/fetcher/adapters/http/curl_easy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::StatusIs;

class BehindProxyTest : public ::testing::Test {
 protected:
  ~BehindProxyTest() override {
    for (const char* name : {"https_proxy", "no_proxy", "NO_PROXY"}) ::unsetenv(name);
  }
};

TEST_F(BehindProxyTest, OnlyAValueIsAProxy) {
  EXPECT_FALSE(BehindProxy("https", "example.org"));
  ::setenv("https_proxy", "", 1);
  EXPECT_FALSE(BehindProxy("https", "example.org"));
  ::setenv("https_proxy", "http://proxy:3128", 1);
  EXPECT_TRUE(BehindProxy("https", "example.org"));
  EXPECT_FALSE(BehindProxy("http", "example.org"));
  EXPECT_FALSE(BehindProxy("ssh", "example.org"));
}

TEST_F(BehindProxyTest, ExceptionsAreNamesDomainsAndNetworks) {
  ::setenv("https_proxy", "http://proxy:3128", 1);
  ::setenv("no_proxy", "example.org, .corp.example 10.0.0.0/8,::1", 1);
  for (const char* host : {"example.org", "git.example.org", "EXAMPLE.org.", "a.corp.example",
                           "corp.example", "10.1.2.3", "[::1]", "0x0a000001"}) {
    EXPECT_FALSE(BehindProxy("https", host)) << host;
  }
  for (const char* host : {"myexample.org", "example.org.evil", "11.0.0.1", "[::2]", "org"}) {
    EXPECT_TRUE(BehindProxy("https", host)) << host;
  }
  ::unsetenv("no_proxy");
  ::setenv("NO_PROXY", "*", 1);
  EXPECT_FALSE(BehindProxy("https", "anything"));
}

TEST(ParseUrl, PartsAreThoseThatTheRequestUses) {
  const UrlParts plain{"https", "example.org", "443"};
  EXPECT_EQ(*ParseUrl("HTTPS://user@example.org/a@b"), plain);
  EXPECT_EQ(*ParseUrl("https://example.org:443#@evil.org"), plain);
  EXPECT_EQ(ParseUrl("http://0x7f.1:80/x")->host, "127.0.0.1");
  EXPECT_EQ(ParseUrl("http://[::1]:8080/x")->host, "[::1]");
  EXPECT_EQ(ParseUrl("ftp://example.org/x")->scheme, "ftp");
  EXPECT_THAT(ParseUrl("no url"), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::fetcher
