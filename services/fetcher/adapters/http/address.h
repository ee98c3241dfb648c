#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_ADDRESS_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_ADDRESS_H_

#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kernelmill::fetcher {

// Returns whether an address belongs to the public internet: not loopback, link-local (which
// includes cloud metadata), private, shared, multicast or reserved, nor an IPv6 form of such an
// IPv4 address. Families other than IPv4 and IPv6 are not public.
//
// Sources come from job files, which may be written by anyone who can submit a job. Without this
// check a URL could make the fetcher call services that are only reachable from inside the
// operator's network.
bool IsPublicAddress(const sockaddr* address);

// Returns the addresses of a host as text, IPv6 ones in brackets. PERMISSION_DENIED: one of them is
// not public; UNAVAILABLE: the host cannot be resolved.
absl::StatusOr<std::vector<std::string>> ResolvePublicHost(const std::string& host);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_ADDRESS_H_
