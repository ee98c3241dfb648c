#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUTE_LAUNCHERS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUTE_LAUNCHERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/read_text.h"
#include "services/compiler/core/signature/tensor_uses.h"

namespace kernelmill::compiler::cute {

inline constexpr absl::string_view kInit = "__init__";  // the name of a constructor

// The function that launches a kernel, and what its object is made with.
struct Launcher {
  const Function* launcher = nullptr;     // null: none is known that the compiler could start
  const Function* constructor = nullptr;  // null: the class has none, or the kernel is no method
  std::string path;                       // "Class.__call__", "launch"
  std::vector<ReadText> texts;            // own them
};

// Returns the launcher of a kernel: of a method the first @cute.jit of its class, or of one that it
// derives from, that starts it; else the record's.
absl::StatusOr<Launcher> FindLauncher(const v1::Kernel& kernel);

// Returns the kernel's parameter that gets one of the launcher's; else empty.
absl::string_view FindGiven(const Function& launcher, const Function& kernel,
                            absl::string_view parameter);

// Returns how a parameter of a launcher, or of a kernel (`launcher` is then null), is used. The
// kernel to which a launcher hands its parameter tells as well, and a name such as mA_mkl.
TensorUse FindUse(const Function* launcher, const Function& kernel, absl::string_view parameter);

}  // namespace kernelmill::compiler::cute

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_CUTE_LAUNCHERS_H_
