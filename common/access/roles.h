#ifndef KERNELMILL_COMMON_ACCESS_ROLES_H_
#define KERNELMILL_COMMON_ACCESS_ROLES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::access {

// The role of a caller in a cluster. The values are bits of a RoleSet.
enum class Role : uint8_t {
  kClient = 1,       // submits jobs, watches them, exports datasets
  kWorker = 2,       // leases tasks, writes blobs and action results
  kCoordinator = 4,  // holds blobs in the store
  kOperator = 8,     // operates the cluster: collects garbage, makes backups, lists workers
  kMetrics = 16,     // reads /metrics
};

using RoleSet = uint8_t;

constexpr RoleSet Only(Role role) { return static_cast<RoleSet>(role); }
constexpr RoleSet operator|(RoleSet a, Role b) { return static_cast<RoleSet>(a | Only(b)); }
constexpr RoleSet operator|(Role a, Role b) { return Only(a) | b; }
constexpr bool Has(RoleSet roles, Role role) { return (roles & Only(role)) != 0; }

absl::Span<const Role> AllRoles();
absl::string_view RoleName(Role role);  // "client", "worker", ...
std::optional<Role> FindRole(absl::string_view name);
// Returns the names: "client or operator"; "none" for an empty set.
std::string RoleNames(RoleSet roles);

// The identity of a caller. Without TLS it is unknown, and there is no role.
struct Caller {
  std::optional<Role> role;
  std::string name;  // from the certificate or token; without TLS: the peer's address
};

// The roles that a gRPC method needs.
struct MethodAccess {
  absl::string_view method;  // "/package.Service/Method", as on the wire
  RoleSet roles;             // the roles that may call it
  bool anyone = false;       // true if callers without a role may call it too
};

// Returns the access table: every method of every service of kernelmill's servers. Methods missing
// from the table are denied to everyone.
absl::Span<const MethodAccess> MethodTable();
// Finds a method in the table; null if it is missing.
const MethodAccess* FindMethod(absl::string_view method);

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_ROLES_H_
