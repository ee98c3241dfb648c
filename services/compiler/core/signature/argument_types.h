#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ARGUMENT_TYPES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ARGUMENT_TYPES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"
#include "common/python/syntax/imports.h"
#include "common/python/usage/usage_finder.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/inductor.h"
#include "services/compiler/core/signature/launch.h"

namespace kernelmill::compiler {

using python::Expression;
using python::Function;
using python::FunctionUsage;
using python::ModuleFunctions;

// What is known of a kernel, for the rules to choose from. Refers to all of it.
struct KernelFacts {
  const v1::Kernel& kernel;
  const ModuleFunctions& module;
  const python::ImportMap& imports;  // of the module
  const Function& function;          // of the module
  const FunctionUsage& usage;
  const Launch& launch;
  const InductorMeta* inductor = nullptr;  // null: none
};

// The type of an argument that is no constexpr.
struct InferredType {
  std::string type;  // "*?": a pointer to floats, of which the tries differ; empty: none was found
  std::string rule;  // of rules.h
  bool optional = false;     // the launch may give None
  bool always_none = false;  // the launch gives None
};

// Of the parameter at `place` of the function.
InferredType InferType(const KernelFacts& facts, size_t place);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ARGUMENT_TYPES_H_
