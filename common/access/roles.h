#ifndef KERNELMILL_COMMON_ACCESS_ROLES_H_
#define KERNELMILL_COMMON_ACCESS_ROLES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::access {

// What a caller is to a cluster. The values are bits of a RoleSet.
enum class Role : uint8_t {
  kClient = 1,       // submits jobs, watches them, exports datasets
  kWorker = 2,       // leases tasks, writes blobs and action results
  kCoordinator = 4,  // tells the store what to keep
  kOperator = 8,     // looks after the cluster: collects garbage, backs up, lists workers
  kMetrics = 16,     // reads /metrics
};

using RoleSet = uint8_t;

constexpr RoleSet Only(Role role) { return static_cast<RoleSet>(role); }
constexpr RoleSet operator|(RoleSet a, Role b) { return static_cast<RoleSet>(a | Only(b)); }
constexpr RoleSet operator|(Role a, Role b) { return Only(a) | b; }
constexpr bool Has(RoleSet roles, Role role) { return (roles & Only(role)) != 0; }

absl::Span<const Role> AllRoles();
absl::string_view RoleName(Role role);  // "client", "worker", ...
std::optional<Role> RoleOfName(absl::string_view name);
// "client or operator"; "nobody" of an empty set.
std::string RoleNames(RoleSet roles);

// Who calls. Without TLS nobody says who they are: there is no role then.
struct Caller {
  std::optional<Role> role;
  std::string name;  // of the certificate or token; without TLS the peer's address
};

// What a method of gRPC needs.
struct MethodAccess {
  absl::string_view method;  // "/package.Service/Method", as on the wire
  RoleSet roles;             // that may call it
  bool anyone = false;       // callers without a role, too
};

// The one table of who may call what: every method of every service that a kernelmill server has. A
// method that it lacks nobody may call.
absl::Span<const MethodAccess> MethodTable();
// Null where the table lacks it.
const MethodAccess* FindMethod(absl::string_view method);

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_ROLES_H_
