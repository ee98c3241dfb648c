#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_ADDRESS_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_ADDRESS_H_

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// An IP address. IPv4 is kept in its IPv6 form, ::ffff:a.b.c.d, so that both forms of an address
// are equal.
class IpAddress {
 public:
  // Returns nothing for a family other than IPv4 and IPv6.
  static std::optional<IpAddress> From(const sockaddr* address);
  // Parses an address in every form that a resolver takes for a number: 127.0.0.1, 127.1,
  // 0x7f000001, 017700000001, 2130706433, ::1, ::ffff:127.0.0.1. Nothing: it is a name.
  static std::optional<IpAddress> Parse(const std::string& text);
  static IpAddress V4(uint32_t address);

  bool v4() const;
  const std::array<uint8_t, 16>& bytes() const { return bytes_; }
  std::string Text() const;  // for IPv4 a.b.c.d
  bool operator==(const IpAddress& other) const { return bytes_ == other.bytes_; }

 private:
  std::array<uint8_t, 16> bytes_ = {};
};

// A network, as 10.0.0.0/8 writes it.
struct IpNetwork {
  IpAddress prefix;
  int bits = 0;  // counted in the IPv6 form

  // IPv4 addresses are in IPv4 networks only.
  bool Contains(const IpAddress& address) const;
};

// Parses ADDRESS/BITS, or an address alone. INVALID_ARGUMENT: it is neither, or bits after the
// prefix are set.
absl::StatusOr<IpNetwork> ParseNetwork(absl::string_view text);

enum class AddressKind {
  kPublic,
  kLoopback,
  kPrivate,    // also what carriers share
  kReserved,   // unspecified, multicast, benchmarks, not assigned
  kLinkLocal,  // where clouds serve the metadata, and so the credentials, of a machine
  kMetadata,   // the other addresses at which clouds do
};

// Returns what an address leads to. An IPv6 address that carries an IPv4 address (NAT64, 6to4,
// Teredo and the like) is link-local or metadata if that is.
AddressKind ClassifyAddress(const IpAddress& address);

// Returns the addresses of a host. UNAVAILABLE: it cannot be resolved.
absl::StatusOr<std::vector<IpAddress>> ResolveHost(const std::string& host);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_ADDRESS_H_
