#include "services/compiler/core/signature/tries.h"

#include <utility>

namespace kernelmill::compiler {

void Tries::Add(v1::KernelSignature signature) {
  for (const v1::KernelSignature& known : tries) {
    signature.set_attempt(known.attempt());
    if (signature.SerializeAsString() == known.SerializeAsString()) return;
  }
  signature.set_attempt(static_cast<int>(tries.size()) + 1);
  tries.push_back(std::move(signature));
}

void AddArgument(absl::string_view name, absl::string_view type, absl::string_view rule,
                 v1::KernelSignature& signature) {
  v1::ArgumentType& added = *signature.add_arguments();
  added.set_name(std::string(name));
  added.set_type(std::string(type));
  added.set_rule(std::string(rule));
}

void AddConstant(absl::string_view name, absl::string_view value, absl::string_view rule,
                 v1::KernelSignature& signature) {
  v1::ConstexprValue& added = *signature.add_constexprs();
  added.set_name(std::string(name));
  added.set_value(std::string(value));
  added.set_rule(std::string(rule));
}

}  // namespace kernelmill::compiler
