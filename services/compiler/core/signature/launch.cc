#include "services/compiler/core/signature/launch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/python/usage/triton_calls.h"
#include "services/compiler/core/signature/names.h"

namespace kernelmill::compiler {

// The basic idea: first the call that launches is found, then each argument is evaluated backwards
// through the host function: a name to the values that are assigned to it and to the default and
// annotation of the host's own parameter, a method of a tensor to the tensor. Nothing is executed,
// and all values of a name count (Join). The result is partial: perhaps a literal, perhaps only a
// type. kMaxDepth bounds the recursion; a name takes four levels, so that x = f(x) ends soon.

using python::FunctionParameter;
using python::IsFloatLiteral;
using python::Statement;

namespace {

using Kind = Expression::Kind;

constexpr int kMaxDepth = 12;

HostValue MakeTyped(absl::string_view type) {
  HostValue value;
  value.type = std::string(type);
  return value;
}

// Returns whether the text is x.shape, x.size() or a part of these.
bool IsOfShape(absl::string_view text) {
  return absl::EndsWith(text, ".shape") || absl::StrContains(text, ".size(") ||
         absl::StrContains(text, ".stride(") || absl::StrContains(text, ".shape[");
}

// The type that an annotation of a host function tells. The first name of the table that the
// annotation contains counts.
HostValue ReadAnnotation(absl::string_view annotation) {
  HostValue value;
  value.optional =
      absl::StrContains(annotation, "Optional") || absl::StrContains(annotation, "None");
  static constexpr std::pair<absl::string_view, absl::string_view> kTypes[] = {
      {"LongTensor", "*i64"}, {"IntTensor", "*i32"}, {"BoolTensor", "*i1"},
      {"float", "fp32"},      {"bool", "i1"},        {"int", "i32"}};
  for (const auto& [name, type] : kTypes) {
    if (absl::StrContains(annotation, name)) {
      value.type = std::string(type);
      break;
    }
  }
  return value;
}

// Returns what both say; if they differ, the one that allows more. Literals that differ are
// cleared, and the first of them stays the likely one.
HostValue Join(HostValue one, const HostValue& two) {
  if (one.none) {
    HostValue joined = two;
    joined.optional = true;
    joined.none = two.none;
    return joined;
  }
  one.optional |= two.none || two.optional;
  if (one.likely.empty()) one.likely = one.literal;
  if (one.likely.empty()) one.likely = two.literal.empty() ? two.likely : two.literal;
  if (one.literal != two.literal) one.literal.clear();
  if (one.block == nullptr) one.block = two.block;
  if (one.type.empty()) {
    one.tensor_too = two.type == "tensordesc";
    one.type = two.type;
  }
  if (one.type == "i32" && two.type == "fp32") one.type = "fp32";
  if (one.dtype.empty()) one.dtype = two.dtype;
  one.power_of_2 &= two.power_of_2;
  one.not_none = "";
  return one;
}

absl::string_view Likely(const HostValue& value) {
  return value.literal.empty() ? value.likely : value.literal;
}

// Calculates with two literals of integers; empty for any others. The operands have a bound, so
// that products fit into 64 bits.
std::string Calculate(absl::string_view sign, absl::string_view left, absl::string_view right) {
  constexpr int64_t kMost = 1 << 24;
  int64_t a = 0;
  int64_t b = 0;
  if (!absl::SimpleAtoi(left, &a) || !absl::SimpleAtoi(right, &b)) return "";
  if (a < 0 || b < 0 || a > kMost || b > kMost) return "";
  if (sign == "*") return absl::StrCat(a * b);
  if (sign == "+") return absl::StrCat(a + b);
  if (sign == "-") return absl::StrCat(a - b);
  if (sign == "//" && b > 0) return absl::StrCat(a / b);
  if (sign == "%" && b > 0) return absl::StrCat(a % b);
  return "";
}

}  // namespace

// Looks for a launch by name in all functions before it takes one by its grid.
Launch::Launch(const ModuleFunctions& host, absl::string_view kernel,
               const std::vector<absl::string_view>& parameters)
    : host_(host) {
  for (const Match match : {Match::kName, Match::kGridOfAll, Match::kGrid}) {
    const Wanted wanted{match, kernel, parameters};
    for (const Function& function : host_.all()) FindLaunch(function, wanted);
    FindLaunch(host_.module_level(), wanted);
    if (call_ != nullptr) break;
  }
  if (call_ != nullptr) ReadArguments(parameters);
}

// Keeps the first call in the order of the statements; does nothing once there is one.
void Launch::FindLaunch(const Function& host, const Wanted& wanted) {
  if (call_ != nullptr) return;
  for (const Statement& statement : host.statements) {
    call_ = python::FindPart(*statement.value, [&wanted](const Expression& expression) {
      return Fits(expression, wanted);
    });
    if (call_ != nullptr) {
      function_ = &host;
      return;
    }
  }
}

bool Launch::Fits(const Expression& expression, const Wanted& wanted) {
  const bool has_grid =
      expression.kind == Kind::kCall && expression.parts[0]->kind == Kind::kSubscript;
  return (has_grid && IsWanted(expression, wanted)) ||
         (wanted.match == Match::kName && IsCallWith(expression, wanted.kernel));
}

// cuTile: ct.launch(stream, grid, kernel, (x, n)).
bool Launch::IsCallWith(const Expression& call, absl::string_view kernel) {
  return call.kind == Kind::kCall && call.parts.size() == 5 && LastName(call) == "launch" &&
         LastName(*call.parts[3]) == kernel && call.parts[4]->kind == Kind::kSequence;
}

// Launches through another name (a wrapper's parameter, a dictionary of kernels) are recognised by
// their grid and by the number of their arguments. With a grid, *args may give any number of
// arguments and always fits.
bool Launch::IsWanted(const Expression& call, const Wanted& wanted) {
  const Expression& launched = *call.parts[0];
  if (wanted.match == Match::kName) return LastName(*launched.parts[0]) == wanted.kernel;
  if (!absl::StrContains(launched.parts[1]->text, "grid")) return false;
  size_t given = 0;
  for (size_t i = 1; i < call.parts.size(); ++i) {
    const Expression& part = *call.parts[i];
    const bool keyword = part.kind == Kind::kKeyword;
    if (part.kind == Kind::kUnary && absl::StartsWith(part.name, "*")) return true;
    given += !keyword || std::find(wanted.parameters.begin(), wanted.parameters.end(), part.name) !=
                             wanted.parameters.end();
  }
  return wanted.match == Match::kGridOfAll ? given == wanted.parameters.size()
                                           : given <= wanted.parameters.size();
}

// Positional arguments after *args have no known place.
void Launch::ReadArguments(const std::vector<absl::string_view>& parameters) {
  size_t position = 0;
  // False once *args has given an unknown number of arguments.
  bool counted = true;  // the number of arguments before is known
  const bool in_sequence = call_->parts[0]->kind != Kind::kSubscript;
  const std::vector<const Expression*>& parts = in_sequence ? call_->parts[4]->parts : call_->parts;
  for (size_t i = in_sequence ? 0 : 1; i < parts.size(); ++i) {
    const Expression* part = parts[i];
    if (part->kind == Kind::kKeyword) {
      given_[std::string(part->name)] = part->parts[0];
      continue;
    }
    const bool starred = part->kind == Kind::kUnary && part->name == "*";
    if (starred || (part->kind == Kind::kUnary && part->name == "**")) {
      counted &= !starred;
      continue;
    }
    if (counted && position < parameters.size()) given_[std::string(parameters[position++])] = part;
  }
}

const Expression* Launch::Given(absl::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : found->second;
}

HostValue Launch::GetValue(absl::string_view name) const {
  const Expression* given = Given(name);
  return given == nullptr ? HostValue() : Evaluate(*given, 0);
}

absl::string_view Launch::GivenAs(absl::string_view text) const {
  absl::string_view least;  // the map has no order
  for (const auto& [parameter, given] : given_) {
    if (given->text == text && (least.empty() || parameter < least)) least = parameter;
  }
  return least;
}

// Tells what an expression is without running it: a literal where there is one, else a type as
// PyTorch and Python give it. Unknown operands are common, and what is known of the others still
// counts.
HostValue Launch::Evaluate(const Expression& expression, int depth) const {
  HostValue value;
  if (depth > kMaxDepth) return value;
  const auto& parts = expression.parts;
  switch (expression.kind) {
    case Kind::kNumber:
      value = MakeTyped(IsFloatLiteral(expression.text) ? "fp32" : "i32");
      value.literal = std::string(expression.text);
      return value;
    case Kind::kString:
      value.literal = std::string(expression.text);
      return value;
    case Kind::kConstant:
      value.none = value.optional = expression.name == "None";
      if (!value.none) value.type = "i1";
      value.literal = std::string(expression.name);
      return value;
    case Kind::kName:
      return EvaluateName(expression.name, depth);
    // torch.float16 is a type. x.T and x.data are tensors as x is.
    case Kind::kAttribute:
      value.dtype =
          TritonType(expression.name).empty() || !absl::StrContains(expression.text, "torch")
              ? ""
              : std::string(expression.name);
      if (expression.name == "T" || expression.name == "data")
        return Evaluate(*parts[0], depth + 1);
      if (expression.name == "ndim" || expression.name == "itemsize") value.type = "i32";
      return value;
    // x.shape[0] is an integer. A list's element is followed. Anything else has the type of what is
    // indexed.
    case Kind::kSubscript:
      if (IsOfShape(parts[0]->text)) return MakeTyped("i32");
      if (const Expression* element = FindElement(*parts[0], *parts[1])) {
        return Evaluate(*element, depth + 1);
      }
      return Evaluate(*parts[0], depth + 1);
    case Kind::kUnary:
      value = expression.name == "not" ? MakeTyped("i1") : Evaluate(*parts[0], depth + 1);
      if (!value.literal.empty()) value.literal = absl::StrCat(expression.name, value.literal);
      if (expression.name == "not") value.literal.clear();
      return value;
    // A flag. `x is not None` also says which argument decides it.
    case Kind::kCompare:
    case Kind::kBoolean:
      value = MakeTyped("i1");
      if (parts[1]->text == "None" && parts[0]->kind == Kind::kName) {
        value.not_none = parts[0]->name;
        value.is_none = expression.name == "is";
      }
      return value;
    case Kind::kConditional:
      return Join(Evaluate(*parts[0], depth + 1), Evaluate(*parts[2], depth + 1));
    case Kind::kBinary:
      return EvaluateBinary(expression, depth);
    case Kind::kCall:
      return EvaluateCall(expression, depth);
    default:
      if (IsOfShape(expression.text)) return MakeTyped("i32");
      return value;
  }
}

// order[0] of order = (1, 0); null: it is no such list. Only a name with one value is followed.
const Expression* Launch::FindElement(const Expression& of, const Expression& index) const {
  const auto values =
      of.kind == Kind::kName ? function_->values.find(of.name) : function_->values.end();
  if (values == function_->values.end() || values->second.size() != 1) return nullptr;
  const Expression& list = *values->second[0];
  size_t at = 0;
  if (list.kind != Kind::kSequence || !absl::SimpleAtoi(index.text, &at)) return nullptr;
  return at < list.parts.size() ? list.parts[at] : nullptr;
}

// Joins all values of a local name with what the host function's own parameter says. A default is
// only likely, since a caller may give another value; a constant or a string is taken, since it
// selects a mode.
HostValue Launch::EvaluateName(absl::string_view name, int depth) const {
  HostValue value;
  bool any = false;
  const auto values = function_->values.find(name);
  if (values != function_->values.end()) {
    for (const Expression* given : values->second) {
      // x = x.contiguous() says nothing new.
      const HostValue one = Evaluate(*given, depth + 4);
      value = any ? Join(value, one) : one;
      any = true;
    }
    if (function_->loop_names.contains(name)) value = MakeTyped("i32");
  }
  const int at = function_->Find(name);
  if (at < 0) return value;
  const FunctionParameter& parameter = function_->parameters[static_cast<size_t>(at)];
  HostValue own = ReadAnnotation(parameter.annotation);
  if (parameter.default_value != nullptr) {
    own = Join(std::move(own), Evaluate(*parameter.default_value, depth + 1));
    // The default is what it is called with where nothing else is said.
    own.literal.clear();
    own.likely.clear();
    if (parameter.default_value->kind == Kind::kConstant ||
        parameter.default_value->kind == Kind::kString) {
      own.literal = std::string(parameter.default_value->text);
    } else if (parameter.default_value->kind == Kind::kNumber) {
      own.likely = std::string(parameter.default_value->text);
    }
  }
  if (!any) return own;
  value.optional |= own.optional;
  if (value.type.empty()) value.type = own.type;
  if (value.likely.empty()) value.likely = own.likely;
  return value;
}

// An operation with a tensor gives a tensor of its type. Literals are calculated, so that 2 * SIZE
// is one.
HostValue Launch::EvaluateBinary(const Expression& expression, int depth) const {
  const HostValue left = Evaluate(*expression.parts[0], depth + 1);
  const HostValue right = Evaluate(*expression.parts[1], depth + 1);
  for (const HostValue* one : {&left, &right}) {
    if (absl::StartsWith(one->type, "*")) return MakeTyped(one->type);
  }
  if (expression.name == "/" || left.type == "fp32" || right.type == "fp32")
    return MakeTyped("fp32");
  if (expression.name == "**" && absl::StartsWith(right.literal, "-")) return MakeTyped("fp32");
  HostValue value;
  if (left.type == right.type) value.type = left.type;
  value.literal = Calculate(expression.name, left.literal, right.literal);
  value.likely = Calculate(expression.name, Likely(left), Likely(right));
  return value;
}

// A descriptor that the host makes: TensorDescriptor(x, shape, strides, block_shape), or
// from_tensor(x, block_shape).
HostValue Launch::EvaluateDescriptor(const Expression& call) const {
  HostValue value = MakeTyped("tensordesc");
  const size_t position = LastName(call) == "from_tensor" ? 1 : 3;
  const Expression* block = FindArgument(call, "block_shape", position);
  if (block != nullptr && block->kind == Kind::kName && function_ != nullptr) {
    const auto values = function_->values.find(block->name);
    const bool once = values != function_->values.end() && values->second.size() == 1;
    block = once ? values->second[0] : nullptr;
  }
  if (block != nullptr && block->kind == Kind::kSequence) value.block = block;
  return value;
}

// Constructors say their type by dtype=; conversions by their name; other methods of a tensor give
// a tensor of its type.
HostValue Launch::EvaluateCall(const Expression& call, int depth) const {
  const absl::string_view name = LastName(call);
  const Expression& callee = *call.parts[0];
  static constexpr std::pair<absl::string_view, absl::string_view> kGives[] = {
      {"stride", "i32"},       {"size", "i32"},     {"numel", "i32"},    {"len", "i32"},
      {"cdiv", "i32"},         {"int", "i32"},      {"dim", "i32"},      {"element_size", "i32"},
      {"round", "i32"},        {"float", "fp32"},   {"sqrt", "fp32"},    {"bool", "i1"},
      {"is_contiguous", "i1"}, {"data_ptr", "i64"}, {"argsort", "*i64"}, {"nonzero", "*i64"},
      {"randint", "i32"}};
  // Everything except the modules math and torch is taken for a tensor.
  const bool on_tensor = callee.kind == Kind::kAttribute && callee.parts[0]->text != "math" &&
                         callee.parts[0]->text != "torch";
  if (const Expression* type = FindArgument(call, "dtype", python::kByKeywordOnly)) {
    const HostValue given = Evaluate(*type, depth + 1);
    if (!given.dtype.empty()) return MakeTyped(absl::StrCat("*", TritonType(given.dtype)));
    return HostValue();
  }
  if (on_tensor && call.parts.size() == 1 && !TritonType(name).empty()) {
    return MakeTyped(absl::StrCat("*", TritonType(name)));  // x.float()
  }
  if (absl::StrContains(name, "next_power_of_2")) {
    HostValue value = MakeTyped("i32");
    value.power_of_2 = true;
    return value;
  }
  if (callee.text == "torch.randint") return MakeTyped("*i64");
  for (const auto& [function, type] : kGives) {
    if (name == function) return MakeTyped(type);
  }
  if (absl::StrContains(callee.text, "TensorDescriptor")) return EvaluateDescriptor(call);
  if ((name == "to" || name == "view" || name == "type") && call.parts.size() > 1) {
    for (size_t i = 1; i < call.parts.size(); ++i) {
      const HostValue given = Evaluate(*call.parts[i], depth + 1);
      if (!given.dtype.empty()) return MakeTyped(absl::StrCat("*", TritonType(given.dtype)));
    }
  }
  if (name == "min" || name == "max") {
    HostValue value;
    for (size_t i = 1; i < call.parts.size(); ++i) {
      const HostValue one = Evaluate(*call.parts[i], depth + 1);
      value = i == 1 ? one : Join(value, one);
      value.literal.clear();
    }
    if (value.likely == "1") value.likely.clear();  // max(1, n): no more than a bound
    return value;
  }
  if (absl::EndsWith(name, "_like") && call.parts.size() > 1)
    return Evaluate(*call.parts[1], depth + 1);
  if (on_tensor && name == "item") {
    const HostValue of = Evaluate(*callee.parts[0], depth + 1);
    return absl::StartsWith(of.type, "*") ? MakeTyped(of.type.substr(1)) : of;
  }
  // x.contiguous(), x.view(-1, n): what x is.
  if (on_tensor && callee.kind == Kind::kAttribute) {
    HostValue value = Evaluate(*callee.parts[0], depth + 1);
    if (!absl::StartsWith(value.type, "*")) value = HostValue();
    return value;
  }
  return HostValue();
}

}  // namespace kernelmill::compiler
