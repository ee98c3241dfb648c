#include "common/access/roles.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kernelmill::access {
namespace {

constexpr Role kAll[] = {Role::kClient, Role::kWorker, Role::kCoordinator, Role::kOperator,
                         Role::kMetrics};

// Sets of roles that occur more than once in the table.
constexpr RoleSet kUsers = Role::kClient | Role::kOperator;
constexpr RoleSet kWorkers = Only(Role::kWorker);
constexpr RoleSet kOperators = Only(Role::kOperator);
constexpr RoleSet kKeepers = Role::kCoordinator | Role::kOperator;
constexpr RoleSet kReaders = kUsers | Role::kWorker | Role::kCoordinator;
constexpr RoleSet kEvery = kReaders | Role::kMetrics;

// Sorted by service. Only workers write content and results, since datasets are made from them;
// clients only read.
constexpr MethodAccess kMethods[] = {
    {"/kernelmill.v1.Crawl/Submit", kUsers},
    {"/kernelmill.v1.Crawl/Watch", kUsers},
    {"/kernelmill.v1.Crawl/GetJob", kUsers},
    {"/kernelmill.v1.Crawl/ListJobs", kUsers},
    {"/kernelmill.v1.Crawl/Cancel", kUsers},
    {"/kernelmill.v1.Crawl/Retry", kUsers},
    {"/kernelmill.v1.Crawl/Delete", kUsers},
    {"/kernelmill.v1.Crawl/ListFailures", kUsers},
    {"/kernelmill.v1.Crawl/ReadLock", kUsers},
    {"/kernelmill.v1.Crawl/ListWorkers", kUsers},
    {"/kernelmill.v1.Crawl/Timeline", kUsers},

    {"/kernelmill.v1.Coordinator/Backup", kOperators},
    {"/kernelmill.v1.Coordinator/PruneBackups", kOperators},
    {"/kernelmill.v1.Coordinator/ListBackups", kOperators},

    {"/kernelmill.v1.Work/Lease", kWorkers},
    {"/kernelmill.v1.Work/Renew", kWorkers},
    {"/kernelmill.v1.Work/Complete", kWorkers},

    {"/kernelmill.v1.Extractor/Extract", kUsers},
    {"/kernelmill.v1.Compiler/Compile", kUsers},
    {"/kernelmill.v1.Validator/Validate", kUsers},
    {"/kernelmill.v1.Deduplicator/Deduplicate", kUsers},
    {"/kernelmill.v1.Deduplicator/Similar", kUsers},

    {"/kernelmill.v1.Store/Hold", kKeepers},
    {"/kernelmill.v1.Store/Release", kKeepers},
    {"/kernelmill.v1.Store/Stat", kKeepers},
    {"/kernelmill.v1.Store/Verify", kOperators},
    {"/kernelmill.v1.Store/CollectGarbage", kOperators},
    {"/kernelmill.v1.Store/Backup", kOperators},
    {"/kernelmill.v1.Store/PruneBackups", kOperators},
    {"/kernelmill.v1.Store/ForgetResults", kOperators},

    {"/build.bazel.remote.execution.v2.ActionCache/GetActionResult", kReaders},
    {"/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult", kWorkers},
    {"/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs", kReaders},
    {"/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs", kReaders},
    {"/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs", kWorkers},
    {"/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", kReaders},
    {"/google.bytestream.ByteStream/Read", kReaders},
    {"/google.bytestream.ByteStream/QueryWriteStatus", kWorkers},
    {"/google.bytestream.ByteStream/Write", kWorkers},

    {"/grpc.health.v1.Health/Check", kEvery, /*anyone=*/true},
    {"/grpc.health.v1.Health/Watch", kEvery, /*anyone=*/true},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", kUsers},
};

}  // namespace

absl::Span<const Role> AllRoles() { return kAll; }

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kClient:
      return "client";
    case Role::kWorker:
      return "worker";
    case Role::kCoordinator:
      return "coordinator";
    case Role::kOperator:
      return "operator";
    case Role::kMetrics:
      return "metrics";
  }
  return "";
}

std::optional<Role> FindRole(absl::string_view name) {
  for (const Role role : kAll) {
    if (RoleName(role) == name) return role;
  }
  return std::nullopt;
}

// Joins the names for a message; "none" for the empty set, which a method outside the table has.
std::string RoleNames(RoleSet roles) {
  std::vector<absl::string_view> names;
  for (const Role role : kAll) {
    if (Has(roles, role)) names.push_back(RoleName(role));
  }
  return names.empty() ? "none" : absl::StrJoin(names, " or ");
}

absl::Span<const MethodAccess> MethodTable() { return kMethods; }

// Returns null for a method that the table does not have; callers refuse such a method. The map is
// built once and never destroyed, since calls may still come while the process exits.
const MethodAccess* FindMethod(absl::string_view method) {
  static const auto* const kByName = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const MethodAccess*>;
    for (const MethodAccess& access : kMethods) (*map)[access.method] = &access;
    return map;
  }();
  const auto found = kByName->find(method);
  return found == kByName->end() ? nullptr : found->second;
}

}  // namespace kernelmill::access
