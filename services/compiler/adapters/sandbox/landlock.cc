#include "services/compiler/adapters/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::compiler {
namespace {

// Landlock denies every access that the ruleset handles and no rule allows. The ruleset handles all
// rights that this build and the running kernel know, so a newer kernel confines more. Rules allow
// reading the interpreter, its libraries and packages, executing the interpreter and its packages,
// and writing the scratch folder and /dev/null.

// Rights that are newer than the headers that we build with.
constexpr uint64_t kTruncate = 1u << 14;     // ABI 3
constexpr uint64_t kIoctlDevice = 1u << 15;  // ABI 5
constexpr uint64_t kBindAndConnect = 3;      // ABI 4, of TCP
constexpr uint64_t kSocketsAndSignals = 3;   // ABI 6: abstract Unix sockets, signals
// Rights that apply to a file. All others apply to folders only, and Linux refuses them for a file.
constexpr uint64_t kFileRights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                 LANDLOCK_ACCESS_FS_READ_FILE | kTruncate | kIoctlDevice;
// A program must not execute what it has written, nor make devices, sockets or pipes.
constexpr uint64_t kNeverInScratch = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                     LANDLOCK_ACCESS_FS_MAKE_FIFO | kIoctlDevice;

// struct landlock_ruleset_attr of version 6. Older kernels accept it if the fields that they do not
// know are 0.
struct RulesetAttributes {
  uint64_t files, net, scoped;
};

// Adds a rule that allows `access` for a file, or below a folder.
absl::Status Allow(const FileDescriptor& ruleset, const std::string& path,
                   const LandlockRights& rights, uint64_t (*access)(const LandlockRights&, bool)) {
  const FileDescriptor fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.is_open()) return ErrnoStatus(errno, absl::StrCat("the sandbox's path ", path));
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return ErrnoStatus(errno, path);
  if (!AllowFolder(ruleset.get(), fd.get(), access(rights, S_ISDIR(status.st_mode)))) {
    return ErrnoStatus(errno, absl::StrCat("landlock_add_rule of ", path));
  }
  return absl::OkStatus();
}

uint64_t Limited(uint64_t wanted, const LandlockRights& rights, bool folder) {
  return wanted & rights.files & (folder ? ~uint64_t{0} : kFileRights);
}

}  // namespace

int LandlockAbi() {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

LandlockRights GetRights(int abi) {
  LandlockRights rights = {(uint64_t{1} << 13) - 1, 0, 0};  // version 1 has 13 file rights
  if (abi >= 2) rights.files |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights.files |= kTruncate;
  if (abi >= 4) rights.net = kBindAndConnect;
  if (abi >= 5) rights.files |= kIoctlDevice;
  if (abi >= 6) rights.scoped = kSocketsAndSignals;
  return rights;
}

uint64_t ReadAccess(const LandlockRights& rights, bool folder) {
  return Limited(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, rights, folder);
}

uint64_t ExecuteAccess(const LandlockRights& rights, bool folder) {
  return ReadAccess(rights, folder) | Limited(LANDLOCK_ACCESS_FS_EXECUTE, rights, folder);
}

uint64_t ScratchAccess(const LandlockRights& rights) { return rights.files & ~kNeverInScratch; }

bool AllowFolder(int ruleset, int folder, uint64_t access) {
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = access;
  rule.parent_fd = folder;
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

absl::StatusOr<FileDescriptor> MakeRuleset(const Policy& policy) {
  const int abi = LandlockAbi();
  if (abi < kMinLandlockAbi) return absl::FailedPreconditionError("the kernel has no Landlock");
  const LandlockRights rights = GetRights(abi);
  const RulesetAttributes attributes = {rights.files, rights.net, rights.scoped};
  FileDescriptor ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0)));
  if (!ruleset.is_open()) return ErrnoStatus(errno, "landlock_create_ruleset");
  // Rules: the paths of the policy, and /dev/null for output.
  for (const std::string& path : policy.read)
    RETURN_IF_ERROR(Allow(ruleset, path, rights, ReadAccess));
  for (const std::string& path : policy.execute)
    RETURN_IF_ERROR(Allow(ruleset, path, rights, ExecuteAccess));
  const auto write = [](const LandlockRights& r, bool folder) {
    return Limited(ScratchAccess(r), r, folder);
  };
  RETURN_IF_ERROR(Allow(ruleset, "/dev/null", rights, write));
  return ruleset;
}

}  // namespace kernelmill::compiler
