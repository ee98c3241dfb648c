#include "services/fetcher/adapters/http/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::StatusIs;

bool IsPublic(const char* text) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
    return IsPublicAddress(reinterpret_cast<sockaddr*>(&v4));
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  EXPECT_EQ(::inet_pton(AF_INET6, text, &v6.sin6_addr), 1) << text;
  return IsPublicAddress(reinterpret_cast<sockaddr*>(&v6));
}

// row 20
TEST(Address, PrivateOnesAreKnownInEveryForm) {
  for (const char* text : {"127.0.0.1",
                           "127.255.0.1",
                           "10.1.2.3",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.0.1",
                           "169.254.169.254",
                           "100.64.0.1",
                           "0.0.0.0",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::1",
                           "::",
                           "fe80::1",
                           "fd00::1",
                           "fc00::1",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "64:ff9b::a9fe:a9fe",
                           "2002:7f00:1::1"}) {
    EXPECT_FALSE(IsPublic(text)) << text;
  }
  for (const char* text : {"8.8.8.8", "172.32.0.1", "172.15.0.1", "11.0.0.1", "126.0.0.1",
                           "128.0.0.1", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"}) {
    EXPECT_TRUE(IsPublic(text)) << text;
  }
}

// row 20
TEST(Address, HostsAtPrivateAddressesAreDenied) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1", "0x7f000001", "2130706433", "::1"}) {
    EXPECT_THAT(ResolvePublicHost(host), StatusIs(absl::StatusCode::kPermissionDenied)) << host;
  }
}

}  // namespace
}  // namespace kernelmill::fetcher
