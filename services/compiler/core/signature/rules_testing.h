#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_TESTING_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_TESTING_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/compiler/core/signature/infer.h"
#include "services/compiler/core/signature/rules.h"

// For the tests of the rules: a kernel of a few lines, and what is told of it.
namespace kernelmill::compiler {

inline constexpr char kImports[] = "import triton\nimport triton.language as tl\n";

// The kernel k(`parameters`) with `body`, one statement a line.
inline v1::Kernel MakeKernel(const std::string& parameters, const std::vector<std::string>& body) {
  std::string text = absl::StrCat(kImports, "@triton.jit\ndef k(", parameters, "):\n");
  for (const std::string& line : body) absl::StrAppend(&text, "    ", line, "\n");
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.set_module(text);
  kernel.set_source(text);
  return kernel;
}

inline v1::Kernel Launched(v1::Kernel kernel, const std::string& host) {
  kernel.mutable_launcher()->set_text(host);
  return kernel;
}

// The first rule of a signature that rules.h does not have; empty if it has all of them.
inline std::string FindUnknownRule(const v1::KernelSignature& signature) {
  for (const auto& each : signature.arguments()) {
    if (!IsKnownRule(each.rule())) return each.rule();
  }
  for (const auto& each : signature.constexprs()) {
    if (!IsKnownRule(each.rule())) return each.rule();
  }
  for (const auto& each : signature.options()) {
    if (!IsKnownRule(each.rule())) return each.rule();
  }
  return "";
}

// "type rule" of an argument, "value rule" of a constexpr or an option, of the try with that place.
inline std::string Told(const v1::Kernel& kernel, const std::string& name, size_t attempt = 0) {
  const absl::StatusOr<Inference> inferred = Inference::Infer(kernel);
  if (!inferred.ok()) return inferred.status().ToString();
  const Inference& inference = *inferred;
  if (attempt >= inference.tries().size()) return absl::StrCat("missing ", inference.missing());
  const v1::KernelSignature& made = inference.tries()[attempt];
  if (const std::string rule = FindUnknownRule(made); !rule.empty())
    return absl::StrCat("unknown rule ", rule);
  for (const auto& each : made.arguments()) {
    if (each.name() == name) return absl::StrCat(each.type(), " ", each.rule());
  }
  for (const auto& each : made.constexprs()) {
    if (each.name() == name) return absl::StrCat(each.value(), " ", each.rule());
  }
  for (const auto& each : made.options()) {
    if (each.name() == name) return absl::StrCat(each.value(), " ", each.rule());
  }
  return "nothing";
}

inline std::string Told(const std::string& parameters, const std::vector<std::string>& body,
                        const std::string& name) {
  return Told(MakeKernel(parameters, body), name);
}

// In any of the tries.
inline bool AnyTry(const v1::Kernel& kernel, const std::string& name, const std::string& told) {
  for (size_t i = 0; i < kMaxTries; ++i) {
    if (Told(kernel, name, i) == told) return true;
  }
  return false;
}

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_RULES_TESTING_H_
