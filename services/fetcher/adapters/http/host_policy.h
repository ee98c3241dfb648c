#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HOST_POLICY_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HOST_POLICY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/fetcher/adapters/http/address.h"

namespace kernelmill::fetcher {

// Says which hosts the fetcher may call. Sources come from job files, which may be written by
// anyone who can submit a job: without it a URL could make the fetcher call services that are only
// reachable from inside the operator's network.
//
// Every request is decided twice: by the host's name before it is resolved, and by each address
// before it is connected to. Redirects are requests. The rules, the first that applies:
//   1. Link-local and metadata addresses are refused, whatever the flags say.
//   2. With --allow-hosts, a host must have a listed name or an address in a listed network.
//   3. Public addresses and those in a listed network are allowed.
//   4. Other addresses are allowed with --allow-private.
// A proxy resolves names itself, so behind one only names and numbers in URLs are decided.
//
// Errors: PERMISSION_DENIED, which names the host and the flag; INVALID_ARGUMENT: the host has a
// character that no host name has. Immutable, cheap to copy and thread-safe.
class HostPolicy {
 public:
  struct Rules {
    // Names (git.example.com), names below a domain (*.example.com), addresses and networks
    // (10.0.0.0/8). Empty: every host with an allowed address.
    std::vector<std::string> allow_hosts;
    bool allow_private = false;  // allow loopback, private and reserved addresses
  };
  using Resolver = std::function<absl::StatusOr<std::vector<IpAddress>>(const std::string& host)>;

  // Allows the hosts with public addresses.
  HostPolicy();

  // INVALID_ARGUMENT: an entry has another form, or is within what is always refused.
  static absl::StatusOr<HostPolicy> Create(const Rules& rules, Resolver resolver = &ResolveHost);

  // Returns a policy that also allows a host which the operator names in another flag, at any
  // address that rule 1 leaves.
  HostPolicy WithEndpoint(absl::string_view host) const;

  // Decides by name, and by address if the host is one. OK may mean that the addresses decide.
  absl::Status CheckName(absl::string_view host) const;

  // Decides by name alone, for a host that a proxy will resolve.
  absl::Status CheckBehindProxy(absl::string_view host) const;

  // Decides by an address of a host that has passed CheckName.
  absl::Status CheckAddress(absl::string_view host, const IpAddress& address) const;

  // Resolves a host that is allowed. One address that is refused refuses the host, since its name
  // server chooses their order. UNAVAILABLE: the host cannot be resolved.
  absl::StatusOr<std::vector<IpAddress>> Resolve(absl::string_view host) const;

  // Returns a text that differs for policies with different rules.
  std::string Key() const;

 private:
  struct State;
  explicit HostPolicy(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_HOST_POLICY_H_
