#include "common/dsl/usual_imports.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace kernelmill::dsl {

std::string UsualImport::GetOrigin() const {
  return member.empty() ? std::string(module) : absl::StrCat(module, ".", member);
}

std::string UsualImport::GetStatement() const {
  std::string statement = member.empty() ? absl::StrCat("import ", module)
                                         : absl::StrCat("from ", module, " import ", member);
  if (name != (member.empty() ? module : member)) absl::StrAppend(&statement, " as ", name);
  return statement + "\n";
}

// These are the names that the documentation of Triton, JAX and PyTorch uses throughout.
const std::vector<UsualImport>& UsualImports() {
  static const auto& imports = *new std::vector<UsualImport>{
      {"functools", "functools"},
      {"math", "math"},
      {"partial", "functools", "partial"},
      {"np", "numpy"},
      {"torch", "torch"},
      {"triton", "triton"},
      {"tl", "triton.language"},
      {"gluon", "triton.experimental", "gluon"},
      {"gl", "triton.experimental.gluon", "language"},
      {"ttgl", "triton.experimental.gluon", "language"},
      {"jax", "jax"},
      {"jnp", "jax.numpy"},
      {"lax", "jax", "lax"},
      {"pl", "jax.experimental", "pallas"},
      {"pltpu", "jax.experimental.pallas", "tpu"},
      {"plgpu", "jax.experimental.pallas", "mosaic_gpu"},
      {"plsc", "jax.experimental.pallas", "tpu_sc"},
  };
  return imports;
}

const UsualImport* FindUsualImport(absl::string_view name) {
  const std::vector<UsualImport>& imports = UsualImports();
  const auto found =
      std::find_if(imports.begin(), imports.end(),
                   [name](const UsualImport& import) { return import.name == name; });
  return found == imports.end() ? nullptr : &*found;
}

}  // namespace kernelmill::dsl
