#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_NAMES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_NAMES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::compiler {

// A type or a value that a name alone tells.
struct NameRule {
  std::string value;  // a type or a value
  std::string rule;   // "name:FRAGMENT"
};

// The type of what a pointer of that name points to: i32, i64, i1, fp32. Words are told apart by
// '_' and by capitals.
std::optional<NameRule> ElementByName(absl::string_view name);

// The type of a number of that name.
std::optional<NameRule> ScalarByName(absl::string_view name);

// The value of a constexpr of that name: an integer, False or True.
std::optional<NameRule> ConstexprByName(absl::string_view name);

// The value of a constexpr that a call takes as that argument: "input_precision".
std::optional<std::string> ConstexprByKeyword(absl::string_view keyword);

// The types of elements, under the three names that they have: signatures say "fp16", PyTorch and
// Triton's language "float16".

// "fp16" of "float16", as PyTorch or Triton's language writes it; empty of what is no type.
std::string TritonType(absl::string_view name);

// "float8_e4m3fn" of "fp8e4nv"; "int32" of what is no type.
absl::string_view TorchType(absl::string_view element);

// "float8e4nv" of "fp8e4nv"; "float32" of what is no type.
absl::string_view LanguageType(absl::string_view element);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_NAMES_H_
