#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ZYGOTE_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ZYGOTE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "services/compiler/adapters/sandbox/confined_process.h"
#include "services/compiler/adapters/sandbox/policy.h"
#include "services/compiler/adapters/sandbox/sandbox_user.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// A confined Python of a toolchain that has imported Triton and forks for each kernel
// (python/zygote.py). The process, and all that it has started, ends with this object. Not
// thread-safe.
class Zygote {
 public:
  // `policy` is that of the environment (PythonPolicy); its user is chosen here. Returns when it
  // has started; Triton is loaded while the first job waits. Errors are those of
  // ConfinedProcess::Start.
  static absl::StatusOr<std::unique_ptr<Zygote>> Start(const std::string& environment,
                                                       Policy policy);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  // ABORTED: the process, or what it started, was lost or did not answer in time; UNAVAILABLE: the
  // machine could not compile the kernel; INTERNAL: it did not say what it should; CANCELLED: the
  // job was stopped, and all of the process with it. It is of no use then. A kernel for which all
  // of it had to be ended, since it slept or took too much memory or disk, has that in its report.
  absl::StatusOr<KernelReport> Compile(const KernelJob& job);

  // Whether it can compile another kernel.
  bool alive() const { return alive_; }

 private:
  explicit Zygote(SandboxUser user) : user_(std::move(user)) {}

  absl::StatusOr<KernelReport> Exchange(const KernelJob& job);
  absl::Status Write(absl::string_view line, absl::Time until);
  absl::StatusOr<std::string> ReadLine(absl::Time until);

  const SandboxUser user_;  // outlives the process
  FileDescriptor jobs_, reports_;
  std::string buffer_;
  bool ready_ = false;
  bool alive_ = true;
  std::unique_ptr<ConfinedProcess> process_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ZYGOTE_H_
