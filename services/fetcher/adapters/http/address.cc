// IPv4 is public unless it is in one of IANA's special-purpose networks. IPv6 is the other way
// round: only 2000::/3 is assigned to the public, and within it the forms that carry an IPv4
// address (mapped, NAT64, 6to4) are as public as that address.
#include "services/fetcher/adapters/http/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {
namespace {

struct Network {
  uint32_t prefix;
  int bits;
};

// IANA's registry of special-purpose IPv4 addresses.
constexpr Network kNotPublic[] = {
    {0x00000000, 8},   // this network
    {0x0a000000, 8},   // private
    {0x64400000, 10},  // shared by carriers
    {0x7f000000, 8},   // loopback
    {0xa9fe0000, 16},  // link-local, cloud metadata
    {0xac100000, 12},  // private
    {0xc0000000, 24},  // protocol assignments
    {0xc0a80000, 16},  // private
    {0xc6120000, 15},  // benchmarks
    {0xe0000000, 3},   // multicast and reserved
};

bool IsPublicV4(uint32_t address) {
  return std::none_of(std::begin(kNotPublic), std::end(kNotPublic), [&](const Network& network) {
    return (address ^ network.prefix) >> (32 - network.bits) == 0;
  });
}

uint32_t BigEndian32(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

bool IsPublicV6(const uint8_t* b) {
  static constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  static constexpr uint8_t kNat64[12] = {0x00, 0x64, 0xff, 0x9b};
  if (std::memcmp(b, kMapped, 12) == 0 || std::memcmp(b, kNat64, 12) == 0) {
    return IsPublicV4(BigEndian32(b + 12));
  }
  if (b[0] == 0x20 && b[1] == 0x02) return IsPublicV4(BigEndian32(b + 2));  // 6to4
  return (b[0] & 0xe0) == 0x20;  // IANA has assigned no other range
}

}  // namespace

bool IsPublicAddress(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof(v4));
    return IsPublicV4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof(v6));
    return IsPublicV6(v6.sin6_addr.s6_addr);
  }
  return false;
}

// One address that is not public refuses the host: a server chooses the order of its addresses.
absl::StatusOr<std::vector<std::string>> ResolvePublicHost(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot resolve ", JsonString(host), ": ", ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (!IsPublicAddress(at->ai_addr)) {
      return absl::PermissionDeniedError(absl::StrCat(
          JsonString(host),
          " has an address that is not public; the fetcher's --allow-private allows it"));
    }
    char text[NI_MAXHOST];
    if (::getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      addresses.push_back(at->ai_family == AF_INET6 ? absl::StrCat("[", text, "]") : text);
    }
  }
  return addresses;
}

}  // namespace kernelmill::fetcher
