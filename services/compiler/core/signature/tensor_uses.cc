#include "services/compiler/core/signature/tensor_uses.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace kernelmill::compiler {

using absl::string_view;
using python::Expression;
using python::LastName;
using python::Statement;

namespace {

using Kind = Expression::Kind;

constexpr int kMaxUseDepth = 60;  // how deep an expression is searched

// Members that only tensors have.
constexpr string_view kMembers[] = {"shape",    "strides", "stride", "element_type", "layout",
                                    "iterator", "dtype",   "size",   "ndim"};

bool IsNamed(const Expression& expression, string_view name) {
  return expression.kind == Kind::kName && expression.name == name;
}

// Returns whether it is x.shape, x.stride, or x.layout.shape.
bool IsShape(const Expression& expression, string_view name) {
  if (expression.kind != Kind::kAttribute) return false;
  if (expression.name != "shape" && expression.name != "stride") return false;
  const Expression* of = expression.parts[0];
  if (of->kind == Kind::kAttribute && of->name == "layout") of = of->parts[0];
  return IsNamed(*of, name);
}

// Returns the number after a number that is written down, or 0.
int AfterNumber(const Expression& expression) {
  int number = 0;
  return absl::SimpleAtoi(expression.text, &number) && number >= 0 && number < 16 ? number + 1 : 0;
}

class UseFinder {
 public:
  explicit UseFinder(string_view name) : name_(name) {}

  TensorUse Find(const Function& function) {
    for (const Statement& statement : function.statements) {
      if (statement.value == nullptr) continue;
      Visit(*statement.value, 0);
      if (statement.target == nullptr) continue;
      Visit(*statement.target, 0);
      // m, n = x.shape; m, n, k = sizes
      const bool unpacks = statement.kind == Statement::kAssign &&
                           statement.target->kind == Kind::kSequence &&
                           (IsShape(*statement.value, name_) || IsNamed(*statement.value, name_));
      if (unpacks) SetExact(statement.target->parts.size());
    }
    return use_;
  }

 private:
  void Visit(const Expression& expression, int depth) {
    if (depth > kMaxUseDepth) return;
    if (expression.kind == Kind::kSubscript) VisitSubscript(expression);
    if (expression.kind == Kind::kCall) VisitCall(expression);
    if (expression.kind == Kind::kAttribute && IsNamed(*expression.parts[0], name_)) {
      use_.is_tensor |= std::find(std::begin(kMembers), std::end(kMembers), expression.name) !=
                        std::end(kMembers);
    }
    for (const Expression* part : expression.parts) Visit(*part, depth + 1);
  }

  void VisitSubscript(const Expression& subscript) {
    const Expression& index = *subscript.parts[1];
    if (IsShape(*subscript.parts[0], name_)) SetAtLeast(AfterNumber(index));
    if (!IsNamed(*subscript.parts[0], name_)) return;
    use_.is_tensor = true;
    if (index.kind == Kind::kSequence) return SetExact(index.parts.size());
    // One index that is a name may be a coordinate of all modes.
    if (index.kind == Kind::kBinary || index.kind == Kind::kNumber) SetExact(1);
    if (index.kind == Kind::kName && use_.at_least == 0) use_.at_least = 1;
  }

  // cute.size(x, mode=[2]), cute.group_modes(x, 0, 2), cuda.atomic.add(x, (i, j), 1), len(x)
  void VisitCall(const Expression& call) {
    const string_view function = LastName(call);
    const Expression* const first = python::FindArgument(call, "a", 0);
    if (first == nullptr || !(IsNamed(*first, name_) || IsShape(*first, name_))) return;
    use_.is_tensor |= function == "len";
    if (absl::StrContains(call.parts[0]->text, "atomic.") && call.parts.size() > 2) {
      use_.is_tensor = true;
      const Expression& index = *call.parts[2];
      return SetExact(index.kind == Kind::kSequence ? index.parts.size() : 1);
    }
    if (function == "size") {
      const Expression* const mode = python::FindArgument(call, "mode", 1);
      if (mode == nullptr || mode->kind != Kind::kSequence) return;
      for (const Expression* part : mode->parts) SetAtLeast(AfterNumber(*part));
    }
    if (function == "group_modes") {
      const Expression* const end = python::FindArgument(call, "end", 2);
      if (end != nullptr) SetAtLeast(AfterNumber(*end) - 1);
    }
  }

  void SetExact(size_t count) {
    if (use_.exact == 0 && count < 8) use_.exact = static_cast<int>(count);
  }
  void SetAtLeast(int count) { use_.at_least = std::max(use_.at_least, count); }

  const string_view name_;
  TensorUse use_;
};

}  // namespace

TensorUse FindUse(const Function& function, string_view name) {
  return UseFinder(name).Find(function);
}

}  // namespace kernelmill::compiler
