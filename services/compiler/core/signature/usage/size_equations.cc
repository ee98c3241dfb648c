#include "services/compiler/core/signature/usage/size_equations.h"

#include <algorithm>

namespace kernelmill::compiler {
namespace {

constexpr int64_t kMostElements = 1 << 20;  // of a tensor, by Triton

// Takes out what stands on both sides.
SizeEquation Cancelled(const SizeEquation& equation) {
  SizeEquation left = equation;
  SizeEquation made{{equation.left.number, {}}, {equation.right.number, {}}};
  for (const absl::string_view name : equation.left.names) {
    const auto twin = std::find(left.right.names.begin(), left.right.names.end(), name);
    if (twin == left.right.names.end()) {
      made.left.names.push_back(name);
    } else {
      left.right.names.erase(twin);
    }
  }
  made.right.names = left.right.names;
  return made;
}

int64_t CountIn(const SizeEquation& equation, absl::string_view name) {
  int64_t count = 0;
  for (const Product* side : {&equation.left, &equation.right})
    count += std::count(side->names.begin(), side->names.end(), name);
  return count;
}

// The product of a side without `name`; 0: not known.
int64_t ValueOf(const Product& side, absl::string_view name,
                const std::function<int64_t(absl::string_view)>& value_of) {
  int64_t value = side.number;
  for (const absl::string_view other : side.names) {
    if (other == name) continue;
    const int64_t factor = value_of(other);
    if (factor <= 0 || factor > kMostElements || value > kMostElements / factor) return 0;
    value *= factor;
  }
  return value;
}

}  // namespace

std::optional<Product> Multiply(const Product& left, const Product& right) {
  if (left.number <= 0 || right.number <= 0 || left.number > kMostElements / right.number)
    return std::nullopt;
  Product made{left.number * right.number, left.names};
  made.names.insert(made.names.end(), right.names.begin(), right.names.end());
  return made;
}

std::optional<int64_t> ValueThatHolds(const SizeEquation& equation, absl::string_view name,
                                      const std::function<int(absl::string_view)>& place_of,
                                      const std::function<bool(absl::string_view)>& guessed,
                                      const std::function<int64_t(absl::string_view)>& value_of) {
  const SizeEquation cancelled = Cancelled(equation);
  if (CountIn(cancelled, name) != 1) return std::nullopt;
  for (const Product* side : {&cancelled.left, &cancelled.right}) {
    for (const absl::string_view other : side->names) {
      if (place_of(other) > place_of(name) && CountIn(cancelled, other) == 1 && guessed(other))
        return std::nullopt;
    }
  }
  const std::vector<absl::string_view>& names = cancelled.left.names;
  const bool on_left = std::find(names.begin(), names.end(), name) != names.end();
  const int64_t own = ValueOf(on_left ? cancelled.left : cancelled.right, name, value_of);
  const int64_t other = ValueOf(on_left ? cancelled.right : cancelled.left, name, value_of);
  if (own <= 0 || other <= 0 || other % own != 0 || other / own == value_of(name))
    return std::nullopt;
  return other / own;
}

}  // namespace kernelmill::compiler
