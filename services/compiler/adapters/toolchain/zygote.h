#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ZYGOTE_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ZYGOTE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/file.h"
#include "services/compiler/adapters/sandbox/confined_process.h"
#include "services/compiler/adapters/sandbox/policy.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// A confined Python process of a toolchain that has loaded its compiler and forks for each kernel
// (python/zygote.py). So the loading, which takes seconds, happens once. The process and all its
// descendants end with this object. Not thread-safe, except that a job's stop token works from any
// thread.
class Zygote {
 public:
  // Starts a zygote of a compiler: "triton", "nvrtc". `policy` is PythonPolicy(environment); the
  // user is chosen here. Returns when the process has started; the first job waits until the
  // compiler is loaded. Errors are those of ConfinedProcess::Start.
  static absl::StatusOr<std::unique_ptr<Zygote>> Start(const std::string& environment,
                                                       absl::string_view compiler, Policy policy);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  // Compiles one kernel. Errors: ABORTED if the process died or did not answer in time; UNAVAILABLE
  // if the machine could not compile the kernel; INTERNAL for a malformed report; CANCELLED if the
  // job was stopped. The zygote is dead after each of them. If a kernel made it exceed a bound (by
  // sleep, memory or disk), the zygote is dead too, and the kernel's report says so.
  absl::StatusOr<KernelReport> Compile(const KernelJob& job);

  // True if it can compile another kernel.
  bool alive() const { return alive_; }

 private:
  Zygote(SandboxUser user, absl::string_view compiler)
      : user_(std::move(user)), compiler_(compiler) {}

  absl::StatusOr<KernelReport> Exchange(const KernelJob& job);
  absl::Status Write(absl::string_view line, absl::Time until);
  absl::StatusOr<std::string> ReadLine(absl::Time until);

  const SandboxUser user_;  // outlives the process
  const std::string compiler_;
  FileDescriptor jobs_, reports_;
  std::string buffer_;
  bool ready_ = false;
  bool alive_ = true;
  std::unique_ptr<ConfinedProcess> process_;
};

// A module of the harness (python/ beside this file), which CMake builds into the program.
struct HarnessSource {
  absl::string_view name;  // "zygote"
  absl::string_view text;
};

// Return the program for `python3 -c`, and the modules that the worker sends to it.
absl::string_view HarnessBoot();
absl::Span<const HarnessSource> HarnessModules();

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ZYGOTE_H_
