#ifndef KERNELMILL_SERVICES_COMPILER_CORE_GUESSER_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_GUESSER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/second_guesses.h"

namespace kernelmill::compiler {

// The knowledge that depends on a kernel's compiler: the signatures that it is tried with, and what
// a refusal says of the kernel. Refers to the kernel. Not thread-safe.
class Guesser {
 public:
  virtual ~Guesser() = default;

  // The kernel's name as the compiler's driver takes it.
  virtual std::string function() const = 0;
  // In order, each once; empty if something is missing.
  virtual const std::vector<v1::KernelSignature>& tries() const = 0;
  // The thing that is missing for a try; empty: nothing.
  virtual std::string missing() const = 0;
  // Adds to tries() second guesses after the refusal of the try at place `refused`, if it has any.
  virtual void GuessAgain(size_t refused, const Refusal& refusal) = 0;

  // The result of a kernel whose module could not be loaded.
  virtual v1::CompileResult JudgeImport(const v1::ModuleImport& failed) const = 0;
  // Decides whether a refusal is the kernel's error, or unknown.
  virtual void JudgeFailure(const v1::KernelSignature& signature, bool compiles_elsewhere,
                            v1::CompileResult& result) const = 0;
};

// Returns the Guesser of a compiler (toolchains::PinnedToolchain::compiler). Errors:
// DEADLINE_EXCEEDED as Inference::Infer; INTERNAL: no such compiler.
absl::StatusOr<std::unique_ptr<Guesser>> NewGuesser(absl::string_view compiler,
                                                    const v1::Kernel& kernel);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_GUESSER_H_
