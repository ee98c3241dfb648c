#ifndef KERNELMILL_COMMON_DSL_DIALECTS_H_
#define KERNELMILL_COMMON_DSL_DIALECTS_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dsl {

// A dialect of Triton: a language with names that Triton itself does not have.
struct Dialect {
  std::string name;         // "tlx"
  std::string requirement;  // the compiler or package that has it; empty if that is not known
  std::string found_by;     // the name that says so: "triton.language.extra.tlx.local_alloc"
};

// Returns whether a dotted module is a dialect's language or its compiler: what comes with the
// dialect's requirement, as triton.language comes with Triton.
bool IsDialectModule(absl::string_view module);

// Finds the dialect of a linked Triton or Gluon kernel, by the names that it calls and that its
// module imports. Every module of triton.language.extra that Triton itself lacks is a dialect; the
// table in dialects.cc has others. Kernels of other languages have none.
std::optional<Dialect> FindDialect(const v1::Kernel& kernel);

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_DIALECTS_H_
