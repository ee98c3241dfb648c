#include "services/fetcher/adapters/http/host_policy.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {

struct HostPolicy::State {
  std::set<std::string> names;
  std::vector<std::string> domains;  // each with the dot before it
  std::vector<IpNetwork> networks;
  bool listed_only = false;  // there is a list
  bool allow_private = false;
  std::set<std::string> endpoints;
  Resolver resolver = &ResolveHost;

  bool ListsName(const std::string& host) const {
    return names.count(host) > 0 ||
           std::any_of(domains.begin(), domains.end(), [&](const std::string& domain) {
             return host.size() > domain.size() && absl::EndsWith(host, domain);
           });
  }
  bool ListsAddress(const IpAddress& address) const {
    return std::any_of(networks.begin(), networks.end(),
                       [&](const IpNetwork& network) { return network.Contains(address); });
  }
};

namespace {

// Returns whether names are made of the character. It leaves out what two parsers of URLs may read
// in two ways ('%', '\', '@'), and letters beyond ASCII, which a resolver may map to others: a full
// stop or digits of another script could make a number of a name.
bool IsHostCharacter(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_'; }

// Returns the host as it is compared: in lower case, without brackets and without the dot that may
// end a name.
absl::StatusOr<std::string> CanonicalHost(absl::string_view host) {
  std::string canonical = absl::AsciiStrToLower(host);
  if (absl::StartsWith(canonical, "[") && absl::EndsWith(canonical, "]")) {
    canonical = canonical.substr(1, canonical.size() - 2);
  }
  if (absl::StrContains(canonical, ':') && IpAddress::Parse(canonical).has_value()) {
    return canonical;
  }
  if (absl::EndsWith(canonical, ".")) canonical.pop_back();
  const bool named = !canonical.empty() && canonical[0] != '.' && canonical.back() != '.' &&
                     !absl::StrContains(canonical, "..") &&
                     std::all_of(canonical.begin(), canonical.end(), IsHostCharacter);
  if (named) return canonical;
  return absl::InvalidArgumentError(absl::StrCat(
      JsonString(host),
      ": must be a host's name in ASCII (xn--... for other letters) or an IP address"));
}

const char* KindText(AddressKind kind) {
  switch (kind) {
    case AddressKind::kLoopback:
      return "a loopback address";
    case AddressKind::kPrivate:
      return "a private address";
    case AddressKind::kLinkLocal:
      return "a link-local address";
    case AddressKind::kMetadata:
      return "an address of cloud metadata";
    case AddressKind::kReserved:
    case AddressKind::kPublic:
      break;
  }
  return "a reserved address";
}

bool IsNeverAllowed(AddressKind kind) {
  return kind == AddressKind::kLinkLocal || kind == AddressKind::kMetadata;
}

absl::Status Refused(absl::string_view host, absl::string_view why) {
  return absl::PermissionDeniedError(absl::StrCat(JsonString(host), " ", why));
}

absl::Status NotListed(absl::string_view host) {
  return Refused(host, "is not among the fetcher's --allow-hosts");
}

absl::Status BadEntry(absl::string_view entry, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(JsonString(entry), ": ", why));
}

}  // namespace

HostPolicy::HostPolicy() {
  static const auto* const state = new std::shared_ptr<const State>(std::make_shared<State>());
  state_ = *state;
}

absl::StatusOr<HostPolicy> HostPolicy::Create(const Rules& rules, Resolver resolver) {
  auto state = std::make_shared<State>();
  state->listed_only = !rules.allow_hosts.empty();
  state->allow_private = rules.allow_private;
  state->resolver = std::move(resolver);
  for (const std::string& entry : rules.allow_hosts) {
    if (absl::StrContains(entry, '/') || IpAddress::Parse(entry).has_value()) {
      ASSIGN_OR_RETURN(const IpNetwork network, ParseNetwork(entry));
      if (IsNeverAllowed(ClassifyAddress(network.prefix))) {
        return BadEntry(entry, "link-local addresses and cloud metadata are never allowed");
      }
      state->networks.push_back(network);
      continue;
    }
    absl::string_view name = entry;
    const bool below = absl::ConsumePrefix(&name, "*.");
    const absl::StatusOr<std::string> host = CanonicalHost(name);
    if (!host.ok() || absl::StrContains(name, ':')) {
      return BadEntry(entry, "must be a name, *.DOMAIN, an IP address or ADDRESS/BITS");
    }
    if (below) {
      state->domains.push_back("." + *host);
    } else {
      state->names.insert(*host);
    }
  }
  return HostPolicy(std::move(state));
}

// A host that is malformed is left out: requests to it are refused.
HostPolicy HostPolicy::WithEndpoint(absl::string_view host) const {
  auto state = std::make_shared<State>(*state_);
  const absl::StatusOr<std::string> endpoint = CanonicalHost(host);
  if (endpoint.ok()) state->endpoints.insert(*endpoint);
  return HostPolicy(std::move(state));
}

absl::Status HostPolicy::CheckName(absl::string_view host) const {
  ASSIGN_OR_RETURN(const std::string name, CanonicalHost(host));
  if (const auto address = IpAddress::Parse(name)) return CheckAddress(host, *address);
  // A name that is not listed may have an address that is.
  return state_->networks.empty() ? CheckBehindProxy(host) : absl::OkStatus();
}

absl::Status HostPolicy::CheckBehindProxy(absl::string_view host) const {
  ASSIGN_OR_RETURN(const std::string name, CanonicalHost(host));
  if (const auto address = IpAddress::Parse(name)) return CheckAddress(host, *address);
  if (!state_->listed_only || state_->ListsName(name) || state_->endpoints.count(name) > 0) {
    return absl::OkStatus();
  }
  return NotListed(host);
}

absl::Status HostPolicy::CheckAddress(absl::string_view host, const IpAddress& address) const {
  ASSIGN_OR_RETURN(const std::string name, CanonicalHost(host));
  const AddressKind kind = ClassifyAddress(address);
  const char* const has = IpAddress::Parse(name).has_value() ? "is " : "has ";
  if (IsNeverAllowed(kind)) {
    return Refused(host, absl::StrCat(has, KindText(kind), ", which no flag allows"));
  }
  if (state_->endpoints.count(name) > 0 || state_->ListsAddress(address)) return absl::OkStatus();
  if (state_->listed_only && !state_->ListsName(name)) return NotListed(host);
  if (kind == AddressKind::kPublic || state_->allow_private) return absl::OkStatus();
  return Refused(host, absl::StrCat(has, KindText(kind),
                                    "; allow its network with the fetcher's --allow-hosts, or all "
                                    "of them with --allow-private"));
}

absl::StatusOr<std::vector<IpAddress>> HostPolicy::Resolve(absl::string_view host) const {
  RETURN_IF_ERROR(CheckName(host));
  ASSIGN_OR_RETURN(const std::string name, CanonicalHost(host));
  ASSIGN_OR_RETURN(std::vector<IpAddress> addresses, state_->resolver(name));
  for (const IpAddress& address : addresses) RETURN_IF_ERROR(CheckAddress(host, address));
  if (addresses.empty()) {
    return absl::UnavailableError(absl::StrCat("cannot resolve ", JsonString(host)));
  }
  return addresses;
}

std::string HostPolicy::Key() const {
  std::vector<std::string> parts = {state_->listed_only ? "listed" : "all",
                                    state_->allow_private ? "private" : "public"};
  for (const IpNetwork& network : state_->networks) {
    parts.push_back(absl::StrCat(network.prefix.Text(), "/", network.bits));
  }
  for (const auto& [mark, names] :
       {std::pair("=", std::vector<std::string>(state_->names.begin(), state_->names.end())),
        std::pair("*", state_->domains),
        std::pair("!",
                  std::vector<std::string>(state_->endpoints.begin(), state_->endpoints.end()))}) {
    for (const std::string& name : names) parts.push_back(mark + name);
  }
  return absl::StrJoin(parts, " ");
}

}  // namespace kernelmill::fetcher
