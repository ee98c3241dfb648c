#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUTE_LAUNCHERS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUTE_LAUNCHERS_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/functions.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/tensor_uses.h"

namespace kernelmill::compiler::cute {

inline constexpr absl::string_view kInit = "__init__";  // the name of a constructor

// The functions of a text. That of a method is indented.
class Functions {
 public:
  // DEADLINE_EXCEEDED as Inference::Infer.
  static absl::StatusOr<std::unique_ptr<Functions>> Read(absl::string_view text);

  const Function* Find(absl::string_view name) const { return functions_->Find(name); }
  const std::deque<Function>& all() const { return functions_->all(); }

 private:
  explicit Functions(std::string text) : text_(std::move(text)) {}

  const std::string text_;
  std::unique_ptr<const python::ParsedText> parsed_;
  std::optional<python::ModuleFunctions> functions_;
};

// The function that launches a kernel, and what its object is made with.
struct Launcher {
  const Function* launcher = nullptr;     // null: none is known that the compiler could start
  const Function* constructor = nullptr;  // null: the class has none, or the kernel is no method
  std::string path;                       // "Class.__call__", "launch"
  std::unique_ptr<Functions> functions;   // owns them
  std::vector<std::unique_ptr<Functions>> classes;
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
