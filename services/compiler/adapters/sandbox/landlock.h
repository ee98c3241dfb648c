#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LANDLOCK_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LANDLOCK_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "services/compiler/adapters/sandbox/policy.h"

namespace kernelmill::compiler {

// Landlock is the part of Linux by which a process gives up access to files for itself and its
// descendants. A ruleset takes rights away everywhere ("handled") and gives them back below named
// folders.

// The oldest version that the sandbox accepts, of Linux 5.19. Triton's cache renames files between
// folders of the scratch folder, which older versions cannot allow. If later versions are missing,
// seccomp covers what they add: truncation (3), TCP (4), ioctls of devices (5), signals and
// abstract sockets (6).
inline constexpr int kMinLandlockAbi = 2;

// Returns the Landlock version of this kernel, or 0 if it has none or Landlock is switched off.
int LandlockAbi();

// The rights that a ruleset of a version takes away. Bits of linux/landlock.h.
struct LandlockRights {
  uint64_t files;   // handled_access_fs
  uint64_t net;     // handled_access_net
  uint64_t scoped;  // scoped
};
LandlockRights GetRights(int abi);

// Return the part of `rights.files` that is allowed for a file, or below a folder, that the process
// may read, execute or write.
uint64_t ReadAccess(const LandlockRights& rights, bool folder);
uint64_t ExecuteAccess(const LandlockRights& rights, bool folder);
uint64_t ScratchAccess(const LandlockRights& rights);

// Makes a ruleset, for landlock_restrict_self, that allows what `policy` names. The scratch folder
// is missing: the process that enters the ruleset adds it (AllowFolder), since it alone sees the
// file system that it mounts there. Errors: NOT_FOUND or PERMISSION_DENIED for a path of the
// policy; FAILED_PRECONDITION if the kernel has no Landlock.
absl::StatusOr<FileDescriptor> MakeRuleset(const Policy& policy);

// Allows `access` below an open folder. Returns false with errno set. Async-signal-safe.
bool AllowFolder(int ruleset, int folder, uint64_t access);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LANDLOCK_H_
