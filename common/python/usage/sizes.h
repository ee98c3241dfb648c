#ifndef KERNELMILL_COMMON_PYTHON_USAGE_SIZES_H_
#define KERNELMILL_COMMON_PYTHON_USAGE_SIZES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::python {

// number * names[0] * names[1] * ...; the names are constexprs.
struct Product {
  int64_t number = 1;
  std::vector<absl::string_view> names;
};

// Nothing where the number grows beyond what a tensor has.
std::optional<Product> Multiply(const Product& left, const Product& right);

// What is reshaped has as many elements after as before.
struct SizeEquation {
  Product left;
  Product right;
};

// The value that `name` has to have for the equation to hold, the others being as they are; nothing
// where it has it, where there is none, or where another name is the one to change. That is of the
// names that stand in it once and are `guessed` the last parameter.
//
// `place_of`: of a name among the parameters. `value_of`: a name's number; 0: it is none.
std::optional<int64_t> ValueThatHolds(const SizeEquation& equation, absl::string_view name,
                                      const std::function<int(absl::string_view)>& place_of,
                                      const std::function<bool(absl::string_view)>& guessed,
                                      const std::function<int64_t(absl::string_view)>& value_of);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_SIZES_H_
