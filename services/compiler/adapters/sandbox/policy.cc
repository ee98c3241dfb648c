// The policy of a Python environment. The basic idea: name what an interpreter needs to start and
// to load packages, and nothing more. A venv's bin/python3 is a link to its base interpreter, so
// that paths are resolved before they are named; Landlock checks the real ones.

#include "services/compiler/adapters/sandbox/policy.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::compiler {
namespace {

// The folders in which the dynamic loader looks for shared libraries, and the files that these read
// when they are loaded.
constexpr absl::string_view kSystemLibraries[] = {
    "/usr/lib", "/usr/lib64",       "/usr/local/lib",      "/lib",
    "/lib64",   "/etc/ld.so.cache", "/etc/ssl/openssl.cnf"};
// The loader of x86-64. Executing a program opens its loader for execution too.
constexpr absl::string_view kLoaders[] = {"/lib64/ld-linux-x86-64.so.2"};
constexpr absl::string_view kDevices[] = {"/dev/urandom", "/dev/zero"};

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

absl::StatusOr<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr) return ErrnoStatus(errno, path);
  return std::string(real.get());
}

std::string Parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Adds those paths that exist: machines differ, and Landlock needs an open file for each rule.
template <typename Paths>
void AddExisting(const Paths& paths, std::vector<std::string>& to) {
  for (const absl::string_view path : paths) {
    if (Exists(std::string(path))) to.emplace_back(path);
  }
}

}  // namespace

// Returns what an interpreter needs to start. An error: `python` does not exist.
absl::StatusOr<Policy> InterpreterPolicy(const std::string& python) {
  ASSIGN_OR_RETURN(const std::string real, RealPath(python));
  Policy policy;
  policy.execute = {real};
  AddExisting(kLoaders, policy.execute);
  AddExisting(kSystemLibraries, policy.read);
  AddExisting(kDevices, policy.read);
  // /opt/python/bin/python3.11 has its modules in /opt/python/lib.
  const std::string library = absl::StrCat(Parent(Parent(real)), "/lib");
  if (library != "/usr/lib" && library != "/lib" && Exists(library)) policy.read.push_back(library);
  return policy;
}

absl::StatusOr<Policy> PythonPolicy(const std::string& environment) {
  ASSIGN_OR_RETURN(const std::string folder, RealPath(environment));
  ASSIGN_OR_RETURN(Policy policy, InterpreterPolicy(absl::StrCat(folder, "/bin/python3")));
  policy.execute.push_back(folder);
  return policy;
}

// INVALID_ARGUMENT: a relative path, root as the user, or a limit that is not positive.
absl::Status CheckPolicy(const Policy& policy) {
  std::vector<std::string> paths = policy.read;
  paths.insert(paths.end(), policy.execute.begin(), policy.execute.end());
  paths.push_back(policy.scratch_parent);
  for (const std::string& path : paths) {
    if (!absl::StartsWith(path, "/")) {
      return absl::InvalidArgumentError(
          absl::StrCat("sandbox: paths must be absolute: '", path, "'"));
    }
  }
  if (policy.uid == 0) return absl::InvalidArgumentError("sandbox: the user must not be root");
  const SandboxLimits& limits = policy.limits;
  for (const int64_t bound :
       {limits.address_space_bytes, limits.file_bytes, int64_t{limits.open_files},
        limits.cpu_seconds, limits.total_memory_bytes, int64_t{limits.total_tasks},
        limits.scratch_bytes, int64_t{limits.scratch_entries},
        absl::ToInt64Milliseconds(limits.poll_period)}) {
    if (bound <= 0) return absl::InvalidArgumentError("sandbox: every limit must be positive");
  }
  return absl::OkStatus();
}

namespace {

constexpr uid_t kUsers = 128;

// Binds the abstract socket that reserves a user. Returns a closed descriptor if it is taken.
FileDescriptor HoldName(uid_t uid) {
  FileDescriptor fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = absl::StrCat("kernelmill-compiler-user-", uid);
  std::copy(name.begin(), name.end(),
            address.sun_path + 1);  // a first byte of 0 makes the name abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (fd.is_open() && ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    fd.Close();
  }
  return fd;
}

}  // namespace

// Compilers that run at the same time get users of their own, so that they cannot signal one
// another. The kernel frees an abstract socket when its process ends, so a reservation never
// outlives its worker. If all kUsers are taken, the last one is shared.
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
