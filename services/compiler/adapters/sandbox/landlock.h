#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LANDLOCK_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LANDLOCK_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "services/compiler/adapters/sandbox/policy.h"

namespace kernelmill::compiler {

// Files must be renamed between folders of the scratch folder (Triton's cache does), which no older
// ABI can allow: Linux 5.19. What later ABIs add, seccomp covers as well where they are missing:
// truncation (3), TCP (4), ioctls of devices (5), signals and abstract sockets (6).
inline constexpr int kMinLandlockAbi = 2;

// The version of Landlock that this kernel has; 0: none, or it is switched off.
int LandlockAbi();

// What a ruleset of an ABI takes away from all that it does not name. Bits of linux/landlock.h.
struct LandlockRights {
  uint64_t files;   // handled_access_fs
  uint64_t net;     // handled_access_net
  uint64_t scoped;  // scoped
};
LandlockRights RightsOfAbi(int abi);

// What of `rights.files` is allowed below a folder (or for a file) that is read, executed or
// written.
uint64_t ReadAccess(const LandlockRights& rights, bool folder);
uint64_t ExecuteAccess(const LandlockRights& rights, bool folder);
uint64_t ScratchAccess(const LandlockRights& rights);

// A ruleset that allows what `policy` names, with `scratch` to write to; for
// landlock_restrict_self. NOT_FOUND, PERMISSION_DENIED: a path of the policy. FAILED_PRECONDITION:
// the kernel has no Landlock.
absl::StatusOr<FileDescriptor> MakeRuleset(const Policy& policy, const std::string& scratch);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LANDLOCK_H_
