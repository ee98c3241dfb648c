#ifndef KERNELMILL_COMMON_DSL_USUAL_IMPORTS_H_
#define KERNELMILL_COMMON_DSL_USUAL_IMPORTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dsl {

// An import that code in prose leaves out, because every reader knows what the name means: `tl` of
// "import triton.language as tl".
struct UsualImport {
  absl::string_view name;
  absl::string_view module;
  absl::string_view member = "";  // "pallas" of "from jax.experimental import pallas as pl"

  // Returns the dotted name that it binds `name` to: "jax.experimental.pallas".
  std::string GetOrigin() const;
  // Returns the import statement, with a line end.
  std::string GetStatement() const;
};

// Returns the usual imports of the extracted Python languages, each name once, in the order in
// which people write them.
const std::vector<UsualImport>& UsualImports();

// Returns the usual import of a name; null if it has none.
const UsualImport* FindUsualImport(absl::string_view name);

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_USUAL_IMPORTS_H_
