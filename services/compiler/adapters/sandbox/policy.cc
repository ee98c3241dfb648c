#include "services/compiler/adapters/sandbox/policy.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::compiler {
namespace {

// Where the dynamic loader looks for shared libraries, and what they read when they are loaded.
constexpr absl::string_view kSystemLibraries[] = {
    "/usr/lib", "/usr/lib64",       "/usr/local/lib",      "/lib",
    "/lib64",   "/etc/ld.so.cache", "/etc/ssl/openssl.cnf"};
// The loaders of x86-64: executing a program opens its loader for execution too.
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

template <typename Paths>
void AddExisting(const Paths& paths, std::vector<std::string>& to) {
  for (const absl::string_view path : paths) {
    if (Exists(std::string(path))) to.emplace_back(path);
  }
}

}  // namespace

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

absl::Status CheckPolicy(const Policy& policy) {
  std::vector<std::string> paths = policy.read;
  paths.insert(paths.end(), policy.execute.begin(), policy.execute.end());
  paths.push_back(policy.scratch_parent);
  for (const std::string& path : paths) {
    if (!absl::StartsWith(path, "/")) {
      return absl::InvalidArgumentError(
          absl::StrCat("the sandbox's path '", path, "' is not absolute"));
    }
  }
  if (policy.uid == 0) return absl::InvalidArgumentError("the sandbox's user is root");
  const SandboxLimits& limits = policy.limits;
  for (const int64_t bound :
       {limits.address_space_bytes, limits.file_bytes, int64_t{limits.open_files},
        limits.cpu_seconds, limits.total_memory_bytes, int64_t{limits.total_tasks},
        limits.scratch_bytes, int64_t{limits.scratch_entries},
        absl::ToInt64Milliseconds(limits.poll_period)}) {
    if (bound <= 0) return absl::InvalidArgumentError("a bound of the sandbox is not positive");
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::compiler
