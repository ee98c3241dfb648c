#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ELEMENT_TYPES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ELEMENT_TYPES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::compiler {

// The types of elements, under the three names that they have: signatures say "fp16", PyTorch and
// Triton's language "float16".

// "fp16" of "float16", as PyTorch or Triton's language writes it; empty of what is no type.
std::string TritonType(absl::string_view name);

// "float8_e4m3fn" of "fp8e4nv"; "int32" of what is no type.
absl::string_view TorchType(absl::string_view element);

// "float8e4nv" of "fp8e4nv"; "float32" of what is no type.
absl::string_view LanguageType(absl::string_view element);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ELEMENT_TYPES_H_
