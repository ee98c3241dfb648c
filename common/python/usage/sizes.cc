#include "common/python/usage/sizes.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "common/python/usage/triton_calls.h"
#include "common/python/usage/usage_finder.h"

namespace kernelmill::python {

// An example: tl.reshape(tl.arange(0, N), (A, B)) gives the equation N = A * B. If N is 64 and A is
// 16, and B is a guess, B becomes 4. Sizes are products of numbers and constexprs. An equation with
// anything else in it is not kept.

namespace {

constexpr int64_t kMostElements = 1 << 20;  // Triton's bound for a tensor

// Removes the names that both sides have.
SizeEquation Cancel(const SizeEquation& equation) {
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

// Returns the product of a side without `name`; 0 if it is not known.
int64_t MultiplySide(const Product& side, absl::string_view name,
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

// Each name may change by one equation only, or two guesses would correct each other for ever: the
// last guessed parameter gives way.
std::optional<int64_t> FindValueThatHolds(
    const SizeEquation& equation, absl::string_view name,
    const std::function<int(absl::string_view)>& place_of,
    const std::function<bool(absl::string_view)>& guessed,
    const std::function<int64_t(absl::string_view)>& value_of) {
  // A name on both sides may have any value. One that occurs twice on a side would need a root.
  const SizeEquation cancelled = Cancel(equation);
  if (CountIn(cancelled, name) != 1) return std::nullopt;
  for (const Product* side : {&cancelled.left, &cancelled.right}) {
    for (const absl::string_view other : side->names) {
      if (place_of(other) > place_of(name) && CountIn(cancelled, other) == 1 && guessed(other))
        return std::nullopt;
    }
  }
  const std::vector<absl::string_view>& names = cancelled.left.names;
  // The value is the other side, divided by the rest of its own side.
  const bool on_left = std::find(names.begin(), names.end(), name) != names.end();
  const int64_t own = MultiplySide(on_left ? cancelled.left : cancelled.right, name, value_of);
  const int64_t other = MultiplySide(on_left ? cancelled.right : cancelled.left, name, value_of);
  if (own <= 0 || other <= 0 || other % own != 0 || other / own == value_of(name))
    return std::nullopt;
  return other / own;
}

// The part of UsageFinder that follows the shapes of tensors.
//
// The basic idea: a reshape keeps the number of elements. The sizes before it are known as products
// of numbers and constexprs, those after it as well: that is an equation, and if the compiler has
// to guess one of the constexprs, the equation gives it from the others.

namespace {

constexpr size_t kMostEquations = 64;

// Returns the shape of an operation on two tensors, dimension by dimension from the last: a size of
// 1 becomes the other's.
std::vector<Product> Broadcast(const std::vector<Product>& one, const std::vector<Product>& two) {
  const std::vector<Product>& longer = one.size() < two.size() ? two : one;
  const std::vector<Product>& shorter = one.size() < two.size() ? one : two;
  std::vector<Product> made = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    Product& at = made[longer.size() - shorter.size() + i];
    if (at.names.empty() && at.number == 1) at = shorter[i];
  }
  return made;
}

std::optional<Product> CountElements(const std::vector<Product>& shape) {
  std::optional<Product> elements = Product();
  for (const Product& size : shape) elements = elements ? Multiply(*elements, size) : std::nullopt;
  return elements;
}

// Returns the sizes that a call lists: reshape(x, [a, b]), x.reshape(a, b).
std::vector<const Expression*> ListSizes(const Expression& call, size_t first) {
  if (call.parts.size() > first && call.parts[first]->kind == Expression::kSequence)
    return call.parts[first]->parts;
  std::vector<const Expression*> sizes;
  for (size_t i = first; i < call.parts.size(); ++i) {
    if (call.parts[i]->kind != Expression::kKeyword) sizes.push_back(call.parts[i]);
  }
  return sizes;
}

}  // namespace

// A size is a product if it is made of numbers, constexprs and names of these with one value.
std::optional<Product> UsageFinder::FindSize(Scope& scope, const Expression& size, int depth) {
  if (--steps_left_ < 0 || depth > 12) return std::nullopt;
  if (size.kind == Expression::kBinary && size.name == "*") {
    const std::optional<Product> left = FindSize(scope, *size.parts[0], depth + 1);
    const std::optional<Product> right = FindSize(scope, *size.parts[1], depth + 1);
    return left && right ? Multiply(*left, *right) : std::nullopt;
  }
  if (FindConstexpr(scope, size) != nullptr) return Product{1, {size.name}};
  if (size.kind == Expression::kName) {
    const auto values = scope.function.values.find(size.name);
    if (values != scope.function.values.end()) {
      return values->second.size() == 1 ? FindSize(scope, *values->second[0], depth + 1)
                                        : std::nullopt;
    }
  }
  const int64_t number = FindNumber(scope, size);
  return number > 0 ? std::optional<Product>(Product{number, {}}) : std::nullopt;
}

std::optional<UsageFinder::Shape> UsageFinder::MakeShape(
    Scope& scope, const std::vector<const Expression*>& sizes) {
  Shape shape;
  for (const Expression* size : sizes) {
    const std::optional<Product> product = FindSize(scope, *size, 0);
    if (!product) return std::nullopt;
    shape.push_back(*product);
  }
  return shape;
}

// Bottom up, like Classify: arange and zeros say a shape, operators broadcast their operands', and
// subscripts with None add dimensions. A parameter of a helper has no shape: callers give it
// several.
std::optional<UsageFinder::Shape> UsageFinder::FindShape(Scope& scope, const Expression& expression,
                                                         int depth) {
  if (--steps_left_ < 0 || depth > 24) return std::nullopt;
  const auto& parts = expression.parts;
  switch (expression.kind) {
    case Expression::kNumber:
      return Shape();
    case Expression::kName: {
      if (scope.function.Find(expression.name) >= 0) return std::nullopt;  // a helper takes any
      const auto values = scope.function.values.find(expression.name);
      if (values == scope.function.values.end()) return std::nullopt;
      return FindShape(scope, *values->second.front(), depth + 2);
    }
    case Expression::kUnary:
      return FindShape(scope, *parts[0], depth + 1);
    case Expression::kBinary:
    case Expression::kCompare: {
      const std::optional<Shape> left = FindShape(scope, *parts[0], depth + 1);
      const std::optional<Shape> right = FindShape(scope, *parts[1], depth + 1);
      // An unknown operand is more likely a scalar than a larger tensor.
      return left && right ? std::optional<Shape>(Broadcast(*left, *right)) : left ? left : right;
    }
    case Expression::kSubscript: {  // x[:, None]
      std::optional<Shape> of = FindShape(scope, *parts[0], depth + 1);
      if (!of) return std::nullopt;
      Shape shape;
      size_t next = 0;
      for (absl::string_view index : absl::StrSplit(parts[1]->text, ',')) {
        index = absl::StripAsciiWhitespace(index);
        if (index == "None") {
          shape.push_back({});
        } else if (index == ":" && next < of->size()) {
          shape.push_back((*of)[next++]);
        } else {
          return std::nullopt;
        }
      }
      return next == of->size() ? std::optional<Shape>(shape) : std::nullopt;
    }
    case Expression::kCall:
      return FindCallShape(scope, expression, depth);
    default:
      return std::nullopt;
  }
}

namespace {

bool IsElementwise(absl::string_view name) {
  static constexpr absl::string_view kElementwise[] = {
      "to",    "cast",    "load",    "abs",         "cdiv",
      "clamp", "minimum", "maximum", "multiple_of", "max_contiguous"};
  return GetCallTraits(name).floats || std::find(std::begin(kElementwise), std::end(kElementwise),
                                                 name) != std::end(kElementwise);
}

// Returns the place of the parameter whose shape a helper returns: p of `return tl.load(p,
// mask=m)`; -1 if its first return is of another form.
int FindShapeGiver(const Function& helper) {
  const auto returned =
      std::find_if(helper.statements.begin(), helper.statements.end(),
                   [](const Statement& statement) { return statement.kind == Statement::kReturn; });
  const Expression* value = returned == helper.statements.end() ? nullptr : returned->value;
  while (value != nullptr && value->kind == Expression::kCall && IsElementwise(LastName(*value))) {
    const bool method = IsMethodOfValue(helper, *value->parts[0]);
    value = method                    ? value->parts[0]->parts[0]
            : value->parts.size() > 1 ? value->parts[1]
                                      : nullptr;
  }
  const bool named = value != nullptr && value->kind == Expression::kName;
  return named && !helper.values.contains(value->name) ? helper.Find(value->name) : -1;
}

}  // namespace

// Constructors and reshapes list the shape; elementwise functions keep that of their first operand.
std::optional<UsageFinder::Shape> UsageFinder::FindCallShape(Scope& scope, const Expression& call,
                                                             int depth) {
  const Expression& callee = *call.parts[0];
  const absl::string_view name = LastName(call);
  const bool method = IsMethodOfValue(scope.function, callee);
  // x of x.f() and of f(x).
  const Expression* operand = method                  ? callee.parts[0]
                              : call.parts.size() > 1 ? call.parts[1]
                                                      : nullptr;
  if (operand == nullptr) return std::nullopt;
  const Function* helper = callee.kind == Expression::kName ? module_.Find(name) : nullptr;
  if (helper != nullptr) {
    const int at = FindShapeGiver(*helper);
    const Expression* given =
        at < 0 ? nullptr
               : FindArgument(call, helper->parameters[static_cast<size_t>(at)].name,
                              static_cast<size_t>(at));
    return given == nullptr ? std::nullopt : FindShape(scope, *given, depth + 2);
  }
  if (name == "arange" && call.parts.size() > 2 && call.parts[1]->text == "0")
    return MakeShape(scope, {call.parts[2]});
  if (name == "zeros" || name == "full") return MakeShape(scope, ListSizes(call, 1));
  if (name == "reshape" || name == "view" || name == "broadcast_to")
    return MakeShape(scope, ListSizes(call, method ? 1 : 2));
  if (name == "where" && call.parts.size() > 3) {
    const std::optional<Shape> one = FindShape(scope, *call.parts[2], depth + 1);
    const std::optional<Shape> two = FindShape(scope, *call.parts[3], depth + 1);
    return one && two ? std::optional<Shape>(Broadcast(*one, *two)) : std::nullopt;
  }
  return IsElementwise(name) ? FindShape(scope, *operand, depth + 1) : std::nullopt;
}

// static_assert(A == B * C) between constexprs. VisitAssertion sees the one with a number.
void UsageFinder::AddEqualSizes(Scope& scope, const Expression& left, const Expression& right) {
  const std::optional<Product> one = FindSize(scope, left, 0);
  const std::optional<Product> two = FindSize(scope, right, 0);
  if (one && two && !one->names.empty() && !two->names.empty()) AddEquation(scope, {*one, *two});
}

void UsageFinder::AddEquation(Scope& scope, SizeEquation equation) {
  if (equation.left.names.empty() && equation.right.names.empty()) return;
  if (scope.usage.equations.size() < kMostEquations)
    scope.usage.equations.push_back(std::move(equation));
}

// Adds the equation of a reshape whose shapes are both known.
void UsageFinder::VisitReshape(Scope& scope, const Expression& call) {
  const bool method = IsMethodOfValue(scope.function, *call.parts[0]);
  if (!method && call.parts.size() < 2) return;
  const Expression& operand = method ? *call.parts[0]->parts[0] : *call.parts[1];
  const std::optional<Shape> before = FindShape(scope, operand, 0);
  const std::optional<Shape> after = MakeShape(scope, ListSizes(call, method ? 1 : 2));
  if (!before || !after || before->empty() || after->empty()) return;
  const std::optional<Product> left = CountElements(*before);
  const std::optional<Product> right = CountElements(*after);
  if (left && right) AddEquation(scope, {*left, *right});
}

// arange(A, B) has B - A numbers, a power of two: B is twice as large as A.
void UsageFinder::VisitArange(Scope& scope, const Expression& call) {
  if (call.parts.size() < 3 || FindConstexpr(scope, *call.parts[1]) == nullptr) return;
  const std::optional<Product> begin = FindSize(scope, *call.parts[1], 0);
  const std::optional<Product> end = FindSize(scope, *call.parts[2], 0);
  const std::optional<Product> twice = begin ? Multiply({2, {}}, *begin) : std::nullopt;
  if (twice && end) AddEquation(scope, {*twice, *end});
}

// Adds a helper's equations, in terms of the arguments of the call.
void UsageFinder::AddHelperEquations(Scope& scope, const Expression& call, const Function& helper,
                                     const std::vector<SizeEquation>& theirs) {
  const auto given = [&](const Product& product) {
    std::optional<Product> made = Product{product.number, {}};
    for (const absl::string_view name : product.names) {
      const int at = helper.Find(name);
      const Expression* argument =
          at < 0 ? nullptr : FindArgument(call, name, static_cast<size_t>(at));
      const std::optional<Product> size =
          argument == nullptr ? std::nullopt : FindSize(scope, *argument, 0);
      made = made && size ? Multiply(*made, *size) : std::nullopt;
    }
    return made;
  };
  for (const SizeEquation& equation : theirs) {
    const std::optional<Product> left = given(equation.left);
    const std::optional<Product> right = given(equation.right);
    if (left && right) AddEquation(scope, {*left, *right});
  }
}

}  // namespace kernelmill::python
