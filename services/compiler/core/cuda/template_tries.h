#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUDA_TEMPLATE_TRIES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUDA_TEMPLATE_TRIES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::compiler::cuda {

inline constexpr size_t kMaxTemplateTries = 16;

// The template arguments that a C++ kernel may have. A kernel that is no template has one try
// without any. The rule of an argument:
//
//   launch          the host writes it where it names the kernel, and no try can mix launches
//   host            a name there stands for it, or it may be another launch's (host_arguments.h)
//   default         the parameter's own. From a default that names another parameter on, none is given
//   guess:type      float, __half, __nv_bfloat16 and so on, if the module includes their header; int
//                   for names such as IndexType; float first for names such as acc_t
//   guess:compared  the kernel compares the parameter with it; those of static_assert come first
//   guess:struct    a struct of the module, if the kernel uses members of the type; those that have
//                   all of them, if there are such
//   guess:number    by the name: 128 for a dimension or a number of threads, 4 for a vector ...
//   guess:flag      false, then true
//   guess:value     the first values of another type: an enum
//
// Options: "std" is c++20 if the module has its words, else c++17 (rule "module"). "define" has the
// macros that the module's #if name and nothing defines, in the last tries (rule "guess:macro"): a
// build may define them.
struct TemplateTries {
  std::vector<v1::KernelSignature> tries;
  std::string missing;  // "template:Traits": no rule gives the parameter an argument
};

// Deterministic; linear in the record.
TemplateTries MakeTemplateTries(const v1::Kernel& kernel);

// Returns whether a rule says what the kernel is launched with.
bool IsRead(absl::string_view rule);

}  // namespace kernelmill::compiler::cuda

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_CUDA_TEMPLATE_TRIES_H_
