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

// Returns the product; nothing if the number is more than a tensor can have.
std::optional<Product> Multiply(const Product& left, const Product& right);

// Two numbers of elements that are equal: those before and after a reshape.
struct SizeEquation {
  Product left;
  Product right;
};

// Returns the value of `name` with which the equation holds, all others unchanged. Nothing if it
// has that value already, if no value fits, or if another name has to change: the last parameter of
// the names that occur once and are `guessed`.
//
// `place_of` gives a name's place among the parameters; `value_of` its number, 0 if it is not a
// number.
std::optional<int64_t> FindValueThatHolds(
    const SizeEquation& equation, absl::string_view name,
    const std::function<int(absl::string_view)>& place_of,
    const std::function<bool(absl::string_view)>& guessed,
    const std::function<int64_t(absl::string_view)>& value_of);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_SIZES_H_
