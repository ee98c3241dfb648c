#include "services/fetcher/adapters/http/host_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kDenied = absl::StatusCode::kPermissionDenied;

// The names of the tests and their addresses; other hosts do not exist.
const std::map<std::string, std::vector<std::string>>& Names() {
  static const auto* const names = new std::map<std::string, std::vector<std::string>>{
      {"github.com", {"140.82.112.3"}},
      {"git.example.com", {"203.0.113.7", "2606:4700::7"}},
      {"a.b.example.com", {"203.0.113.8"}},
      {"example.com", {"203.0.113.9"}},
      {"evil-example.com", {"203.0.113.66"}},
      {"example.com.evil.org", {"203.0.113.66"}},
      {"intranet", {"10.1.2.3"}},
      {"localhost", {"127.0.0.1"}},
      {"mixed.example.com", {"203.0.113.7", "10.1.2.3"}},
      {"mixed6.example.com", {"203.0.113.7", "fd00::1"}},
      {"half-metadata.example.com", {"203.0.113.7", "169.254.169.254"}},
      {"metadata.example.com", {"169.254.169.254"}},
      {"mapped.example.com", {"::ffff:169.254.169.254"}},
      {"nat64.example.com", {"64:ff9b::a9fe:a9fe"}},
      {"nowhere.example.com", {}},
  };
  return *names;
}

absl::StatusOr<std::vector<IpAddress>> FakeResolve(const std::string& host) {
  if (const auto number = IpAddress::Parse(host)) return std::vector<IpAddress>{*number};
  const auto found = Names().find(host);
  if (found == Names().end()) return absl::UnavailableError("cannot resolve " + host);
  std::vector<IpAddress> addresses;
  for (const std::string& text : found->second) addresses.push_back(*IpAddress::Parse(text));
  return addresses;
}

HostPolicy Policy(std::vector<std::string> hosts, bool allow_private = false) {
  return *HostPolicy::Create({std::move(hosts), allow_private}, &FakeResolve);
}

std::string Why(const absl::Status& status) { return std::string(status.message()); }

TEST(HostPolicy, WithoutFlagsPublicHostsAreAllowed) {
  const HostPolicy policy = Policy({});
  for (const char* host : {"github.com", "git.example.com", "8.8.8.8", "[2606:4700::1]"}) {
    EXPECT_THAT(policy.Resolve(host), IsOk()) << host;
  }
  for (const char* host : {"intranet", "localhost", "127.0.0.1", "[::1]", "0.0.0.0"}) {
    EXPECT_THAT(policy.Resolve(host), StatusIs(kDenied)) << host;
  }
}

// row 20
TEST(HostPolicy, NumbersInEveryFormAreDecidedBeforeAnythingIsResolved) {
  const HostPolicy policy = Policy({});
  for (const char* host : {"127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "017700000001",
                           "2130706433", "127.0.0.1.", "::1", "[::1]", "[::ffff:127.0.0.1]",
                           "[::ffff:7f00:1]", "[::FFFF:10.0.0.1]", "[64:ff9b::a00:1]"}) {
    EXPECT_THAT(policy.CheckName(host), StatusIs(kDenied)) << host;
    EXPECT_THAT(policy.CheckBehindProxy(host), StatusIs(kDenied)) << host;
  }
}

// row 20
TEST(HostPolicy, LinkLocalAndMetadataAreNeverAllowed) {
  for (const HostPolicy& policy :
       {Policy({}), Policy({}, true), Policy({"0.0.0.0/0", "::/0"}, true),
        Policy({"*.example.com", "fd00::/8", "64:ff9b::/96"}, true),
        Policy({}, true).WithEndpoint("169.254.169.254").WithEndpoint("metadata.example.com")}) {
    for (const char* host : {"169.254.169.254", "0xa9fea9fe", "2852039166", "169.254.169.254.",
                             "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200",
                             "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]"}) {
      EXPECT_THAT(policy.CheckName(host), StatusIs(kDenied)) << host;
      EXPECT_THAT(Why(policy.CheckName(host)), HasSubstr("which no flag allows"));
      EXPECT_THAT(policy.CheckBehindProxy(host), StatusIs(kDenied)) << host;
    }
    for (const char* host : {"metadata.example.com", "half-metadata.example.com",
                             "mapped.example.com", "nat64.example.com"}) {
      EXPECT_THAT(policy.Resolve(host), StatusIs(kDenied)) << host;
    }
  }
}

TEST(HostPolicy, AListRefusesWhatItDoesNotName) {
  const HostPolicy policy = Policy({"GitHub.com", "*.example.com"});
  for (const char* host :
       {"github.com", "GITHUB.COM", "github.com.", "git.example.com", "a.b.example.com"}) {
    EXPECT_THAT(policy.Resolve(host), IsOk()) << host;
  }
  for (const char* host : {"example.com", "evil-example.com", "example.com.evil.org", "8.8.8.8",
                           "140.82.112.3", "com", "github.co"}) {
    EXPECT_THAT(policy.CheckName(host), StatusIs(kDenied)) << host;
    EXPECT_THAT(Why(policy.CheckName(host)), HasSubstr("--allow-hosts")) << host;
    EXPECT_THAT(policy.CheckBehindProxy(host), StatusIs(kDenied)) << host;
  }
  EXPECT_EQ(Why(policy.CheckName("evil.org")),
            "\"evil.org\" is not among the fetcher's --allow-hosts");
}

TEST(HostPolicy, APrivateAddressNeedsItsNetworkOrTheFlag) {
  EXPECT_THAT(Policy({"intranet"}).Resolve("intranet"), StatusIs(kDenied));
  EXPECT_THAT(Why(Policy({"intranet"}).Resolve("intranet").status()),
              HasSubstr("has a private address; allow its network"));
  EXPECT_THAT(Policy({"intranet", "10.0.0.0/8"}).Resolve("intranet"), IsOk());
  EXPECT_THAT(Policy({"10.0.0.0/8"}).Resolve("intranet"), IsOk());
  EXPECT_THAT(Policy({"10.1.2.3"}).Resolve("10.1.2.3"), IsOk());
  EXPECT_THAT(Policy({"10.1.2.4/32"}).Resolve("intranet"), StatusIs(kDenied));
  EXPECT_THAT(Policy({"intranet"}, true).Resolve("intranet"), IsOk());
  EXPECT_THAT(Policy({}, true).Resolve("intranet"), IsOk());
  EXPECT_THAT(Policy({"github.com"}, true).Resolve("intranet"), StatusIs(kDenied))
      << "the flag does not add to the list";
}

TEST(HostPolicy, ANetworkInAListAllowsNoOtherAddress) {
  const HostPolicy policy = Policy({"10.0.0.0/8"});
  EXPECT_THAT(policy.CheckName("github.com"), IsOk()) << "its addresses decide";
  EXPECT_THAT(policy.Resolve("github.com"), StatusIs(kDenied));
  EXPECT_THAT(policy.CheckName("8.8.8.8"), StatusIs(kDenied));
  EXPECT_THAT(policy.CheckBehindProxy("intranet"), StatusIs(kDenied))
      << "only the proxy knows its address";
}

// row 20
TEST(HostPolicy, OneRefusedAddressRefusesTheHost) {
  for (const char* host : {"mixed.example.com", "mixed6.example.com"}) {
    EXPECT_THAT(Policy({}).Resolve(host), StatusIs(kDenied)) << host;
    EXPECT_THAT(Policy({"*.example.com"}).Resolve(host), StatusIs(kDenied)) << host;
    EXPECT_THAT(Policy({"*.example.com"}, true).Resolve(host), IsOk()) << host;
  }
  EXPECT_THAT(Policy({"10.0.0.0/8"}).Resolve("mixed.example.com"), StatusIs(kDenied));
  EXPECT_THAT(Policy({}).Resolve("nowhere.example.com"), StatusIs(absl::StatusCode::kUnavailable));
}

// row 20
TEST(HostPolicy, HostsThatTwoParsersMayReadInTwoWaysAreRefused) {
  for (const HostPolicy& policy : {Policy({}), Policy({"*.example.com"}), Policy({}, true)}) {
    for (const char* host : {"",
                             ".",
                             "..",
                             "a..example.com",
                             ".example.com",
                             "git.example.com..",
                             "user@git.example.com",
                             "evil.org\\git.example.com",
                             "evil.org/git.example.com",
                             "evil.org#git.example.com",
                             "evil.org?git.example.com",
                             "evil.org git.example.com",
                             "%31%32%37.0.0.1",
                             "[fe80::1%25lo]",
                             "fe80::1%lo",
                             "git.example.com:80",
                             "[::1",
                             "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1",
                             "127\xe3\x80\x82\x30\xe3\x80\x82\x30.1",
                             "b\xc3\xbc.example.com"}) {
      EXPECT_THAT(policy.CheckName(host), StatusIs(absl::StatusCode::kInvalidArgument)) << host;
      EXPECT_THAT(policy.Resolve(host), StatusIs(absl::StatusCode::kInvalidArgument)) << host;
    }
  }
  EXPECT_THAT(Policy({"*.xn--bcher-kva.example"}).CheckName("git.XN--BCHER-KVA.example"), IsOk());
}

TEST(HostPolicy, AnEndpointOfTheOperatorIsAllowedAndNothingElse) {
  const HostPolicy policy = Policy({"github.com"}).WithEndpoint("Intranet");
  EXPECT_THAT(policy.Resolve("intranet"), IsOk());
  EXPECT_THAT(policy.CheckBehindProxy("intranet."), IsOk());
  EXPECT_THAT(policy.Resolve("localhost"), StatusIs(kDenied));
  EXPECT_THAT(Policy({}).WithEndpoint("intranet").Resolve("localhost"), StatusIs(kDenied));
}

TEST(HostPolicy, EntriesThatAreNoneAreRefused) {
  for (const char* entry :
       {"", "*", "*.", "**.example.com", "git.*.com", "https://example.com", "example.com:443",
        "example.com/path", "10.0.0.0/33", "10.1.0.0/8", "[::1]:80", "b\xc3\xbc.example.com", "a b",
        "169.254.0.0/16", "169.254.169.254", "fe80::/10", "fd00:ec2::254", "100.100.100.200"}) {
    EXPECT_THAT(HostPolicy::Create({{entry}}), StatusIs(absl::StatusCode::kInvalidArgument))
        << entry;
  }
  for (const char* entry : {"example.com", "*.example.com", "10.0.0.0/8", "fd00::/8", "::1",
                            "10.1.2.3", "localhost", "0.0.0.0/0", "a_b.example.com."}) {
    EXPECT_THAT(HostPolicy::Create({{entry}}), IsOk()) << entry;
  }
}

TEST(HostPolicy, KeysTellPoliciesApart) {
  EXPECT_EQ(Policy({"a.org", "10.0.0.0/8"}).Key(), Policy({"a.org", "10.0.0.0/8"}).Key());
  const std::vector<std::string> keys = {Policy({}).Key(),
                                         Policy({}, true).Key(),
                                         Policy({"a.org"}).Key(),
                                         Policy({"*.a.org"}).Key(),
                                         Policy({"10.0.0.0/8"}).Key(),
                                         Policy({"10.0.0.0/9"}).Key(),
                                         Policy({}).WithEndpoint("a.org").Key()};
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

}  // namespace
}  // namespace kernelmill::fetcher
