// IPv4 is public unless it is in one of IANA's special-purpose networks. IPv6 is the other way
// round: only 2000::/3 is assigned to the public, and within it the forms that carry an IPv4
// address are as public as that address.
#include "services/fetcher/adapters/http/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {
namespace {

constexpr int kV4Bits = 96;  // before the IPv4 address in an IPv6 one

bool HasBit(const std::array<uint8_t, 16>& bytes, int at) {
  return (bytes[at / 8] >> (7 - at % 8) & 1) != 0;
}

IpNetwork Known(const char* text) { return *ParseNetwork(text); }

// The special-purpose networks; the first that an address is in decides.
const std::vector<std::pair<IpNetwork, AddressKind>>& SpecialNetworks() {
  using enum AddressKind;
  static const auto* const networks = new std::vector<std::pair<IpNetwork, AddressKind>>{
      {Known("169.254.0.0/16"), kLinkLocal}, {Known("fe80::/10"), kLinkLocal},
      {Known("100.100.100.200"), kMetadata},  // Alibaba Cloud
      {Known("192.0.0.192"), kMetadata},      // Oracle Cloud
      {Known("168.63.129.16"), kMetadata},    // Azure
      {Known("fd00:ec2::/32"), kMetadata},    // AWS
      {Known("fd20:ce::254"), kMetadata},     // Google Cloud
      {Known("0.0.0.0/8"), kReserved},       {Known("10.0.0.0/8"), kPrivate},
      {Known("100.64.0.0/10"), kPrivate},    {Known("127.0.0.0/8"), kLoopback},
      {Known("172.16.0.0/12"), kPrivate},    {Known("192.0.0.0/24"), kReserved},
      {Known("192.168.0.0/16"), kPrivate},   {Known("198.18.0.0/15"), kReserved},
      {Known("224.0.0.0/3"), kReserved},     {Known("::1"), kLoopback},
      {Known("fc00::/7"), kPrivate},         {Known("2001:0::/23"), kReserved},
  };
  return *networks;
}

uint32_t BigEndian32(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

bool IsIn(const char* network, const IpAddress& address) {
  return Known(network).Contains(address);
}

// Returns the IPv4 address at which a translator between the two families, of the public kind,
// reaches what this address names: NAT64 and 6to4.
std::optional<IpAddress> TranslatedV4(const IpAddress& address) {
  const uint8_t* const b = address.bytes().data();
  if (IsIn("64:ff9b::/96", address)) return IpAddress::V4(BigEndian32(b + 12));
  if (IsIn("2002::/16", address)) return IpAddress::V4(BigEndian32(b + 2));
  return std::nullopt;
}

// Returns every IPv4 address that this one may carry in one of the other forms. Few gateways act on
// them, but nothing that is honest has a link-local one.
std::vector<IpAddress> CarriedV4(const IpAddress& address) {
  const uint8_t* const b = address.bytes().data();
  std::vector<uint32_t> carried;
  if (IsIn("::/96", address) || IsIn("::ffff:0:0:0/96", address)) {
    carried = {BigEndian32(b + 12)};  // "compatible", and SIIT
  }
  if (IsIn("64:ff9b:1::/48", address)) {
    // NAT64 of a network's own, RFC 6052: the length of its prefix is not known, and byte 8 is left
    // out.
    const uint8_t in48[] = {b[6], b[7], b[9], b[10]}, in56[] = {b[7], b[9], b[10], b[11]};
    carried = {BigEndian32(in48), BigEndian32(in56), BigEndian32(b + 9), BigEndian32(b + 12)};
  }
  if (IsIn("2001:0::/32", address)) {  // Teredo: the server, and the client's address inverted
    carried = {BigEndian32(b + 4), ~BigEndian32(b + 12)};
  }
  if ((b[8] & 0xfd) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe) {
    carried.push_back(BigEndian32(b + 12));  // ISATAP
  }
  std::vector<IpAddress> addresses;
  for (const uint32_t v4 : carried) addresses.push_back(IpAddress::V4(v4));
  return addresses;
}

bool IsNeverPublic(AddressKind kind) {
  return kind == AddressKind::kLinkLocal || kind == AddressKind::kMetadata;
}

}  // namespace

IpAddress IpAddress::V4(uint32_t address) {
  IpAddress ip;
  ip.bytes_[10] = ip.bytes_[11] = 0xff;
  for (int i = 0; i < 4; ++i) ip.bytes_[12 + i] = static_cast<uint8_t>(address >> (24 - 8 * i));
  return ip;
}

std::optional<IpAddress> IpAddress::From(const sockaddr* address) {
  IpAddress ip;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof(v4));
    return V4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6;
  std::memcpy(&v6, address, sizeof(v6));
  std::memcpy(ip.bytes_.data(), v6.sin6_addr.s6_addr, ip.bytes_.size());
  return ip;
}

std::optional<IpAddress> IpAddress::Parse(const std::string& text) {
  IpAddress ip;
  if (::inet_pton(AF_INET6, text.c_str(), ip.bytes_.data()) == 1) return ip;
  in_addr v4{};
  if (::inet_aton(text.c_str(), &v4) == 0) return std::nullopt;
  return V4(ntohl(v4.s_addr));
}

bool IpAddress::v4() const {
  static constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(bytes_.data(), kMapped, sizeof(kMapped)) == 0;
}

std::string IpAddress::Text() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (v4()) {
    ::inet_ntop(AF_INET, bytes_.data() + 12, text, sizeof(text));
  } else {
    ::inet_ntop(AF_INET6, bytes_.data(), text, sizeof(text));
  }
  return text;
}

bool IpNetwork::Contains(const IpAddress& address) const {
  if (address.v4() != prefix.v4()) return false;
  for (int at = 0; at < bits; ++at) {
    if (HasBit(address.bytes(), at) != HasBit(prefix.bytes(), at)) return false;
  }
  return true;
}

absl::StatusOr<IpNetwork> ParseNetwork(absl::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<IpAddress> prefix = IpAddress::Parse(std::string(text.substr(0, slash)));
  if (!prefix.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(JsonString(text), ": must be ADDRESS/BITS"));
  }
  const int before = prefix->v4() ? kV4Bits : 0;
  int bits = 128 - before;
  if (slash != absl::string_view::npos &&
      (!absl::SimpleAtoi(text.substr(slash + 1), &bits) || bits < 0 || bits > 128 - before)) {
    return absl::InvalidArgumentError(
        absl::StrCat(JsonString(text), ": the number of bits must be from 0 to ", 128 - before));
  }
  const IpNetwork network{*prefix, before + bits};
  for (int at = network.bits; at < 128; ++at) {
    if (HasBit(prefix->bytes(), at)) {
      return absl::InvalidArgumentError(
          absl::StrCat(JsonString(text), ": no bit may be set after the first ", bits));
    }
  }
  return network;
}

AddressKind ClassifyAddress(const IpAddress& address) {
  if (const std::optional<IpAddress> v4 = TranslatedV4(address)) return ClassifyAddress(*v4);
  for (const IpAddress& v4 : CarriedV4(address)) {
    if (const AddressKind kind = ClassifyAddress(v4); IsNeverPublic(kind)) return kind;
  }
  for (const auto& [network, kind] : SpecialNetworks()) {
    if (network.Contains(address)) return kind;
  }
  const bool assigned = address.v4() || IsIn("2000::/3", address);
  return assigned ? AddressKind::kPublic : AddressKind::kReserved;
}

absl::StatusOr<std::vector<IpAddress>> ResolveHost(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot resolve ", JsonString(host), ": ", ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  std::vector<IpAddress> addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (const auto address = IpAddress::From(at->ai_addr)) addresses.push_back(*address);
  }
  return addresses;
}

}  // namespace kernelmill::fetcher
