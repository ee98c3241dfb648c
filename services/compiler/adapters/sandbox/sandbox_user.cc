#include "services/compiler/adapters/sandbox/sandbox_user.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/compiler/adapters/sandbox/policy.h"

namespace kernelmill::compiler {
namespace {

constexpr uid_t kUsers = 128;

// Closed: somebody has it.
FileDescriptor HoldName(uid_t uid) {
  FileDescriptor fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = absl::StrCat("kernelmill-compiler-user-", uid);
  std::copy(name.begin(), name.end(), address.sun_path + 1);  // the first byte, 0, is of such names
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (fd.is_open() && ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    fd.Close();
  }
  return fd;
}

}  // namespace

SandboxUser SandboxUser::Take() {
  const uid_t first = Policy().uid;
  if (::geteuid() != 0) return {first, FileDescriptor()};
  for (uid_t uid = first; uid < first + kUsers; ++uid) {
    FileDescriptor name = HoldName(uid);
    if (name.is_open()) return {uid, std::move(name)};
  }
  return {first + kUsers - 1, FileDescriptor()};
}

}  // namespace kernelmill::compiler
