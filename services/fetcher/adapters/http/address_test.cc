#include "services/fetcher/adapters/http/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>

#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

AddressKind Kind(const char* text) {
  const std::optional<IpAddress> address = IpAddress::Parse(text);
  EXPECT_TRUE(address.has_value()) << text;
  return ClassifyAddress(address.value_or(IpAddress()));
}

// row 20
TEST(Address, PrivateOnesAreKnownInEveryForm) {
  for (const char* text : {"127.0.0.1",
                           "127.255.0.1",
                           "10.1.2.3",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.0.1",
                           "100.64.0.1",
                           "0.0.0.0",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::1",
                           "::",
                           "fd00::1",
                           "fc00::1",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "64:ff9b::7f00:1",
                           "2002:7f00:1::1",
                           "::127.0.0.1",
                           "::ffff:0:127.0.0.1",
                           "2001::1",
                           "fec0::1",
                           "64:ff9b:1::a00:1"}) {
    const AddressKind kind = Kind(text);
    EXPECT_TRUE(kind == AddressKind::kLoopback || kind == AddressKind::kPrivate ||
                kind == AddressKind::kReserved)
        << text;
  }
  for (const char* text : {"8.8.8.8", "172.32.0.1", "172.15.0.1", "11.0.0.1", "126.0.0.1",
                           "128.0.0.1", "169.253.0.1", "2606:4700::1", "::ffff:8.8.8.8",
                           "64:ff9b::808:808", "2002:808:808::1", "2001:4860:4860::8888"}) {
    EXPECT_EQ(Kind(text), AddressKind::kPublic) << text;
  }
}

// row 20
TEST(Address, LinkLocalAndMetadataAreKnownInEveryForm) {
  for (const char* text :
       {"169.254.169.254", "169.254.170.2", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376",
        "169.16689662", "fe80::1", "febf::1", "::ffff:169.254.169.254", "::169.254.169.254",
        "::ffff:0:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1", "2001::5601:5601",
        "2001:db8::5efe:169.254.169.254", "2001:db8::200:5efe:169.254.169.254"}) {
    EXPECT_EQ(Kind(text), AddressKind::kLinkLocal) << text;
  }
  for (const char* text : {"100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254",
                           "fd00:ec2::23", "fd20:ce::254", "::ffff:100.100.100.200",
                           "64:ff9b::6464:64c8", "0x646464c8", "1684301000"}) {
    EXPECT_EQ(Kind(text), AddressKind::kMetadata) << text;
  }
}

TEST(Address, NamesAreNoNumbers) {
  for (const char* text : {"localhost", "example.org", "1.2.3.4.5", "256.1.1.1", "0x", "1.2.3.4.",
                           "[::1]", "::1%lo", "", "xn--a.1"}) {
    EXPECT_FALSE(IpAddress::Parse(text).has_value()) << text;
  }
}

TEST(Address, TextIsTheUsualForm) {
  EXPECT_EQ(IpAddress::Parse("0x7f.1")->Text(), "127.0.0.1");
  EXPECT_EQ(IpAddress::Parse("::ffff:10.0.0.1")->Text(), "10.0.0.1");
  EXPECT_EQ(IpAddress::Parse("2001:DB8:0::1")->Text(), "2001:db8::1");
}

TEST(Network, HoldsTheAddressesOfItsPrefixAndFamily) {
  const IpNetwork ten = *ParseNetwork("10.0.0.0/8");
  EXPECT_TRUE(ten.Contains(*IpAddress::Parse("10.255.0.1")));
  EXPECT_TRUE(ten.Contains(*IpAddress::Parse("::ffff:10.0.0.1")));
  EXPECT_FALSE(ten.Contains(*IpAddress::Parse("11.0.0.1")));
  EXPECT_TRUE(ParseNetwork("10.1.2.3")->Contains(*IpAddress::Parse("10.1.2.3")));
  EXPECT_FALSE(ParseNetwork("10.1.2.3")->Contains(*IpAddress::Parse("10.1.2.4")));
  EXPECT_TRUE(ParseNetwork("0.0.0.0/0")->Contains(*IpAddress::Parse("8.8.8.8")));
  EXPECT_FALSE(ParseNetwork("::/0")->Contains(*IpAddress::Parse("8.8.8.8")));
  EXPECT_TRUE(ParseNetwork("fd00:1::/33")->Contains(*IpAddress::Parse("fd00:1:7fff::1")));
  EXPECT_FALSE(ParseNetwork("fd00:1::/33")->Contains(*IpAddress::Parse("fd00:1:8000::1")));
}

TEST(Network, WhatIsNoneIsRefused) {
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "10.1.0.0/8",
                           "fd00::1/64", "::/129", "example.org/8", "/8", ""}) {
    EXPECT_THAT(ParseNetwork(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

TEST(ResolveHost, NumbersAreThemselves) {
  for (const char* host : {"127.0.0.1", "127.1", "0x7f000001", "2130706433", "::ffff:127.0.0.1"}) {
    const auto addresses = ResolveHost(host);
    ASSERT_THAT(addresses, IsOk()) << host;
    EXPECT_EQ(addresses->at(0).Text(), "127.0.0.1") << host;
  }
}

}  // namespace
}  // namespace kernelmill::fetcher
