#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TRIES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TRIES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler {

// The signatures that a kernel is tried with.
struct Tries {
  std::vector<v1::KernelSignature> tries;
  std::string missing;  // an argument that no rule gives, if there are no tries; else empty

  // Adds a signature and numbers it, unless an equal one is there.
  void Add(v1::KernelSignature signature);
};

void AddArgument(absl::string_view name, absl::string_view type, absl::string_view rule,
                 v1::KernelSignature& signature);
void AddConstant(absl::string_view name, absl::string_view value, absl::string_view rule,
                 v1::KernelSignature& signature);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TRIES_H_
