#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_VICTIM_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_VICTIM_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace kernelmill::compiler {

// What attacks can harm: servers that wait for somebody, a file and a folder that all the world may
// write to, and a process of the user that compilers run as. Ends with this object.
class Victim {
 public:
  static absl::StatusOr<std::unique_ptr<Victim>> Create();
  ~Victim();

  // Python that names it: VICTIM = {...}
  std::string Description() const;

  // INTERNAL: what has happened to it.
  absl::Status Unharmed() const;

 private:
  explicit Victim(TempDir folder) : folder_(std::move(folder)) {}
  absl::Status Listen();
  absl::Status StartProcess();

  TempDir folder_;
  FileDescriptor tcp_, udp_, unix_, abstract_;
  int tcp_port_ = 0, udp_port_ = 0;
  pid_t process_ = -1;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_VICTIM_H_
