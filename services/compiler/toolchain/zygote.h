#ifndef KERNELMILL_SERVICES_COMPILER_TOOLCHAIN_ZYGOTE_H_
#define KERNELMILL_SERVICES_COMPILER_TOOLCHAIN_ZYGOTE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// A Python of a toolchain that has imported Triton and forks for each kernel (python/zygote.py).
// The process, and all that it has started, ends with this object. Not thread-safe.
class Zygote {
 public:
  // Returns when it has started; Triton is loaded while the first job waits. FAILED_PRECONDITION:
  // it cannot be started.
  static absl::StatusOr<std::unique_ptr<Zygote>> Start(const std::string& environment);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;
  ~Zygote();

  // UNAVAILABLE: the process was lost, or did not answer in time; INTERNAL: it did not say what it
  // should. It is of no use then.
  absl::StatusOr<KernelReport> Compile(const KernelJob& job);

 private:
  explicit Zygote(TempDir scratch) : scratch_(std::move(scratch)) {}

  absl::Status Write(absl::string_view line, absl::Time until);
  absl::StatusOr<std::string> ReadLine(absl::Time until);

  TempDir scratch_;
  int pid_ = -1;
  FileDescriptor jobs_, reports_;
  std::string buffer_;
  bool ready_ = false;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_TOOLCHAIN_ZYGOTE_H_
