#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INFER_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INFER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/constexpr_values.h"
#include "services/compiler/core/signature/second_guesses.h"

namespace kernelmill::compiler {

constexpr size_t kMaxTries = 15;

// The signatures that a kernel may have, as far as its record tells, by the rules of rules.h.
// Deterministic. Linear in the record, up to the bounds of UsageFinder. Refers to the kernel. Not
// thread-safe.
class Inference {
 public:
  // DEADLINE_EXCEEDED: the clock ran out on this machine over a text of the record; another try may
  // succeed. A module that no parser reads within its bounds misses its "function".
  static absl::StatusOr<Inference> Infer(const v1::Kernel& kernel);
  Inference(Inference&&) noexcept;
  Inference& operator=(Inference&&) noexcept;
  ~Inference();

  // In order, each once; empty if something is missing. The values of constexprs are Python
  // expressions, as Try (services/compiler/core/compiler.h) has them.
  const std::vector<v1::KernelSignature>& tries() const { return tries_; }
  // "type:x_ptr", "constexpr:COMBINE", "function"; empty: nothing.
  const std::string& missing() const { return missing_; }

  // Adds to tries() the second guesses after the refusal of the try at place `refused`, which may
  // be a second guess itself.
  void GuessAgain(size_t refused, const Refusal& refusal);

 private:
  class Record;  // the kernel's texts and facts

  Inference();
  void AddTry(const Variant& variant);

  std::unique_ptr<const Record> record_;  // null without a function
  std::vector<v1::KernelSignature> tries_;
  std::vector<Variant> variants_;  // one for each try
  std::vector<std::string> seen_;  // tries without their numbers, serialized
  std::string missing_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INFER_H_
