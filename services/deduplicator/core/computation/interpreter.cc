#include "services/deduplicator/core/computation/interpreter.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/base/word_list.h"

namespace kernelmill::deduplicator {
namespace {

using absl::string_view;
using python::Expression;

// Calls that hand their first operand on: they say something about its shape or alignment.
constexpr string_view kPassing[] = {"assume",
                                    "broadcast_to",
                                    "constexpr",
                                    "contiguous",
                                    "forward",
                                    "make_tensor_descriptor",
                                    "max_constancy",
                                    "max_contiguous",
                                    "move",
                                    "multiple_of",
                                    "ravel",
                                    "reshape",
                                    "view",
                                    "make_block_ptr",
                                    "advance",
                                    "__builtin_assume_aligned",
                                    "_experimental_make_tensor_descriptor",
                                    "unwrap_if_constexpr"};

// Calls that tell where a program is, or count.
constexpr string_view kPlaces[] = {"program_id",       "arange",      "iota",
                                   "broadcasted_iota", "thread_rank", "block_rank"};

// Functions whose result is data, also of a position; kMathOfC has more.
constexpr string_view kNumeric[] = {"rand", "randn",   "randint", "randint4x",
                                    "abs",  "sigmoid", "softmax", "float"};

// Loads of C that are written as calls: how they use the caches does not count.
constexpr string_view kLoadsOfC[] = {"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldcv", "__ldlu"};

// Conversions of C that are written as calls, with the type that they make.
struct Conversion {
  string_view name;
  string_view type;
};
constexpr Conversion kConversionsOfC[] = {{"__half2float", "float"},
                                          {"__bfloat162float", "float"},
                                          {"__float2half", "half"},
                                          {"__float2half_rn", "half"},
                                          {"__float22half2_rn", "half2"},
                                          {"__float2bfloat16", "__nv_bfloat16"},
                                          {"__float2bfloat16_rn", "__nv_bfloat16"},
                                          {"__float22bfloat162_rn", "__nv_bfloat162"}};

// Statements that compute nothing.
constexpr string_view kSilent[] = {
    "enter_scope",   "exit_scope",   "__syncthreads", "__syncwarp",
    "__threadfence", "assert",       "assume",        "debug_barrier",
    "device_assert", "device_print", "print",         "printf",
    "static_assert", "static_print", "sync",          "__threadfence_block",
    "multiple_of"};

constexpr string_view kReductions[] = {
    "sum",  "max", "min", "argmax", "argmin",           "cumsum", "cumprod", "xor_sum", "mean",
    "prod", "any", "all", "reduce", "associative_scan", "flip",   "sort",    "softmax"};

// Hints of calls: how to do something, not what.
constexpr string_view kHints[] = {"cache_modifier", "eviction_policy",
                                  "volatile",       "boundary_check",
                                  "padding_option", "input_precision",
                                  "allow_tf32",     "max_num_imprecise_acc",
                                  "keep_dims",      "sem",
                                  "scope",          "can_reorder"};

// Types of C that keep more or less of a number than float does.
constexpr string_view kOtherFloats[] = {"double", "half", "__half", "__nv_bfloat16", "nv_bfloat16"};

constexpr string_view kMathOfC[] = {"exp",   "exp2",  "exp10", "log",   "log2",  "log10", "sqrt",
                                    "rsqrt", "pow",   "tanh",  "sin",   "cos",   "tan",   "erf",
                                    "fabs",  "floor", "ceil",  "round", "trunc", "fmax",  "fmin",
                                    "fma",   "rint",  "log1p", "expm1", "cosh",  "sinh",  "atan"};

// Returns the type that a conversion of C makes; empty for another function.
string_view GetConverted(string_view function) {
  for (const Conversion& conversion : kConversionsOfC) {
    if (conversion.name == function) return conversion.type;
  }
  return "";
}

// Returns true for an integer that StrCat formats the same as a double.
bool IsShortInteger(string_view text) {
  return !text.empty() && text.size() <= 6 && (text[0] != '0' || text.size() == 1) &&
         std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// Returns one name for the ways to write a function: exp for __expf, maximum for fmaxf.
string_view PlainName(string_view name, bool is_c) {
  if (is_c) {
    string_view bare = name;
    while (absl::ConsumePrefix(&bare, "_")) continue;
    string_view without = bare;
    absl::ConsumeSuffix(&without, "f");
    if (IsAmong<kMathOfC>(bare)) {
      name = bare;
    } else if (IsAmong<kMathOfC>(without)) {
      name = without;
    }
  }
  if (name == "fmax") return "maximum";
  if (name == "fmin") return "minimum";
  if (name == "fabs") return "abs";
  return name;
}

// Returns the operator as a value's name: one for each of its spellings.
string_view PlainOperator(string_view op) {
  if (op == "&&" || op == "and") return "&";
  if (op == "||" || op == "or") return "|";
  if (op == "!") return "not";
  return op;
}

bool IsChain(string_view op) {
  return op == "+" || op == "*" || op == "&" || op == "|" || op == "^";
}

// The arithmetic of positions: what an address is made with.
bool IsArithmetic(string_view op) {
  return op == "+" || op == "-" || op == "*" || op == "/" || op == "//" || op == "%" ||
         op == "<<" || op == ">>";
}

}  // namespace

void Interpreter::AddParameter(string_view name) {
  const Id node = graph_.Add(Kind::kParameter, "parameter", Class::kUniform, {}, parameters_++);
  variables_.Set(name, {node, node, node});
}

void Interpreter::AddArgument(string_view name) {
  variables_.Set(name, MakeLeaf(absl::StrCat("argument ", arguments_++), Class::kData));
}

void Interpreter::Declare(string_view name, string_view type) {
  variables_.Set(name, MakeLeaf("array", Class::kData));
  types_[name] = type;
}

// An address in the kernel's memory is followed as such, and refers to nothing.
void Interpreter::Refer(string_view name, const Expression& object, bool is_pointer) {
  Hide(name);
  variables_.Set(name, is_pointer ? EvaluateAddress(object) : Evaluate(object));
  const Value* root = variables_.Find(FindRoot(object).name);
  if (root == nullptr || (is_pointer && root->base != 0)) return;
  references_[name] = {&object, is_pointer};
}

// Returns what the name refers to; null for a name of its own.
const Interpreter::Reference* Interpreter::FindReference(string_view name) const {
  const auto found = references_.find(name);
  const bool is_followed = found != references_.end() && followed_ < kMaxReferences;
  return is_followed ? &found->second : nullptr;
}

Interpreter::Value Interpreter::MakeLeaf(string_view op, Class value_class) {
  const Id node = graph_.AddLeaf(op, value_class);
  return {node, node, 0};
}

// Makes a value of operands. Its class is the highest of theirs.
Interpreter::Value Interpreter::Make(Kind kind, string_view op, absl::Span<const Value> operands,
                                     Class at_least, uint32_t number) {
  absl::InlinedVector<Id, 8> nodes;
  absl::InlinedVector<Id, 8> exact;
  Class value_class = at_least;
  for (const Value& operand : operands) {
    nodes.push_back(operand.node);
    exact.push_back(operand.exact);
    value_class = std::max(value_class, GetClass(operand));
  }
  Value value;
  value.node = graph_.Add(kind, op, value_class, nodes, number);
  value.exact = nodes == exact ? value.node : graph_.Add(kind, op, value_class, exact, number);
  return value;
}

// A dotted name that begins with no name of the kernel is a module's.
bool Interpreter::IsValue(const Expression& expression) const {
  const Expression* root = &expression;
  while (root->kind == Expression::kAttribute) root = root->parts[0];
  return root->kind != Expression::kName || variables_.Find(root->name) != nullptr;
}

// Returns x of x.y[z](w), or what that refers to.
const Expression& Interpreter::FindRoot(const Expression& expression) const {
  const Expression* root = &expression;
  for (int followed = 0; followed < kMaxReferences; ++followed) {
    while (!root->parts.empty() &&
           (root->kind == Expression::kAttribute || root->kind == Expression::kSubscript ||
            root->kind == Expression::kCall || root->kind == Expression::kUnary)) {
      root = root->parts[0];
    }
    const Reference* reference =
        root->kind == Expression::kName ? FindReference(root->name) : nullptr;
    if (reference == nullptr) break;
    root = reference->object;
  }
  return *root;
}

Interpreter::Value Interpreter::Evaluate(const Expression& expression) {
  if (++steps_ > kMaxSteps) return {};
  switch (expression.kind) {
    case Expression::kName:
      return EvaluateName(expression.name);
    case Expression::kNumber:
      return EvaluateNumber(expression.text);
    case Expression::kString:
      return MakeLeaf(absl::StrCat("string ", expression.text), Class::kUniform);
    case Expression::kConstant:
      return MakeLeaf(absl::StrCat("name ", expression.name), Class::kUniform);
    case Expression::kAttribute:
      return EvaluateAttribute(expression);
    case Expression::kCall:
      return EvaluateCall(expression);
    case Expression::kKeyword:
      return Evaluate(*expression.parts[0]);
    case Expression::kSubscript:
      return EvaluateSubscript(expression);
    case Expression::kBinary:
    case Expression::kBoolean:
      return Combine(PlainOperator(expression.name), Evaluate(*expression.parts[0]),
                     Evaluate(*expression.parts[1]));
    case Expression::kUnary:
      return EvaluateUnary(expression);
    case Expression::kCompare:
      return Compare(expression.name, Evaluate(*expression.parts[0]),
                     Evaluate(*expression.parts[1]));
    case Expression::kConditional: {
      const Value then = Evaluate(*expression.parts[0]);
      const Value condition = Evaluate(*expression.parts[1]);
      return Select(condition, then, Evaluate(*expression.parts[2]));
    }
    case Expression::kSequence:
    case Expression::kDictionary:
    case Expression::kLambda:
    case Expression::kOther:
      break;
  }
  if (expression.parts.empty()) {
    return MakeLeaf(absl::StrCat("text ", expression.text), Class::kUniform);
  }
  std::vector<Value> parts;
  for (const Expression* part : expression.parts) parts.push_back(Evaluate(*part));
  return Make(Kind::kOrdered, "tuple", parts);
}

Interpreter::Value Interpreter::EvaluateName(string_view name) {
  if (const Reference* reference = FindReference(name); reference != nullptr) {
    ++followed_;
    const Value value =
        reference->is_pointer ? EvaluateAddress(*reference->object) : Evaluate(*reference->object);
    --followed_;
    return value;
  }
  if (const Value* value = variables_.Find(name); value != nullptr) return *value;
  return MakeLeaf(absl::StrCat("name ", name), Class::kUniform);
}

// 1, 1.0 and 1.0f are one number.
Interpreter::Value Interpreter::EvaluateNumber(string_view text) {
  if (IsShortInteger(text)) return MakeLeaf(absl::StrCat("number ", text), Class::kUniform);
  std::string digits = absl::StrReplaceAll(text, {{"_", ""}, {"'", ""}});
  const bool is_hex = absl::StartsWithIgnoreCase(digits, "0x");
  while (!digits.empty() &&
         string_view(is_hex ? "lLuU" : "fFlLuU").find(digits.back()) != string_view::npos) {
    digits.pop_back();
  }
  double value;
  if (!absl::SimpleAtod(digits, &value)) {
    return MakeLeaf(absl::StrCat("number ", text), Class::kUniform);
  }
  return MakeLeaf(absl::StrCat("number ", value), Class::kUniform);
}

Interpreter::Value Interpreter::EvaluateAttribute(const Expression& expression) {
  const string_view name = expression.name;
  const Expression& object = *expression.parts[0];
  if (!IsValue(object)) {
    const string_view root = object.name;
    if (root == "threadIdx" || root == "blockIdx") {
      return MakeLeaf(absl::StrCat(root, ".", name), Class::kPosition);
    }
    const bool is_grid = root == "blockDim" || root == "gridDim";
    return MakeLeaf(absl::StrCat("name ", is_grid ? root : "", name), Class::kUniform);
  }
  Value value = Evaluate(object);
  if (name == "at") return value;
  // The type and the shape of something say nothing of its values.
  if (name == "dtype" || name == "shape" || name == "element_ty" || name == "type") {
    return MakeLeaf(absl::StrCat("name ", name), Class::kUniform);
  }
  const Value base = value;
  value = Make(Kind::kOrdered, absl::StrCat("attribute ", name), {value});
  // The fields of a structure of parameters are parameters.
  if (base.base == base.node && base.base != 0) value.base = value.node;
  return value;
}

Interpreter::Value Interpreter::EvaluateSubscript(const Expression& expression) {
  const Value object = Evaluate(*expression.parts[0]);
  const Expression& index = *expression.parts[1];
  const bool is_memory = object.base != 0 && GetClass(object) != Class::kData;
  if (is_memory && (IsC() || !absl::StrContains(index.text, "None"))) {
    Value address = Make(Kind::kOrdered, "address", {object, Evaluate(index)});
    address.base = object.base;
    return Load(address, {}, {});
  }
  if (IsC()) return LoadElement(object, Evaluate(index));
  // x[:, None] says which axis is new.
  std::string places(index.text);
  std::erase(places, ' ');
  const bool is_pattern = absl::StrContains(places, "None") || absl::StrContains(places, ":");
  Value value = is_pattern ? Make(Kind::kOrdered, absl::StrCat("axes ", places), {object})
                           : Make(Kind::kOrdered, "item", {object, Evaluate(index)});
  value.base = object.base;
  return value;
}

Interpreter::Value Interpreter::EvaluateUnary(const Expression& expression) {
  const string_view op = PlainOperator(expression.name);
  const Expression& operand = *expression.parts[0];
  if (IsC() && op == "&") return EvaluateAddress(operand);
  const Value value = Evaluate(operand);
  if (op == "+" || op == "await") return value;
  if (op == "*" || op == "**") return IsC() ? Load(value, {}, {}) : value;
  if (op == "-" && operand.kind == Expression::kNumber) {
    return EvaluateNumber(absl::StrCat("-", operand.text));
  }
  return Make(Kind::kOrdered, absl::StrCat("unary ", op), {value});
}

// Returns the address of x[i] for &x[i], and x itself for &x.
Interpreter::Value Interpreter::EvaluateAddress(const Expression& expression) {
  if (expression.kind != Expression::kSubscript) return Evaluate(expression);
  const Value object = EvaluateAddress(*expression.parts[0]);
  Value address = Make(Kind::kOrdered, "address", {object, Evaluate(*expression.parts[1])});
  address.base = object.base;
  if (GetClass(object) == Class::kData) return object;
  return address;
}

Interpreter::Value Interpreter::Combine(string_view op, const Value& a, const Value& b) {
  const Kind kind = IsChain(op) ? Kind::kChain : Kind::kOrdered;
  Value value;
  const Class value_class = std::max(GetClass(a), GetClass(b));
  if (value_class == Class::kPosition && IsArithmetic(op)) {
    const Id exact = graph_.Add(kind, op, value_class, {a.exact, b.exact});
    value = AddPositions(a, b, exact);
    const bool both = GetClass(a) == Class::kPosition && GetClass(b) == Class::kPosition;
    if (op == "-" && both) value.node = graph_.Add(kind, op, value_class, {a.node, b.node});
  } else {
    // A position that data is multiplied with is data. One that is added may be an index that was
    // loaded in part.
    Value left = a;
    Value right = b;
    if (value_class == Class::kData && op != "+") {
      if (GetClass(a) == Class::kPosition) left.node = a.exact;
      if (GetClass(b) == Class::kPosition) right.node = b.exact;
    }
    value = Make(kind, op, {left, right});
  }
  if (op == "+" || op == "-") value.base = a.base != 0 ? a.base : b.base;
  return value;
}

// A position is the set of what it is made of, whatever the arithmetic.
Interpreter::Value Interpreter::AddPositions(const Value& a, const Value& b, Id exact) {
  std::vector<Id> sources;
  for (const Value* value : {&a, &b}) {
    if (GetClass(*value) != Class::kPosition) continue;
    if (graph_.Is(value->node, "position")) {
      const auto operands = graph_.Operands(value->node);
      sources.insert(sources.end(), operands.begin(), operands.end());
    } else {
      sources.push_back(value->node);
    }
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  Value value;
  value.exact = exact;
  value.node = sources.size() == 1
                   ? sources[0]
                   : graph_.Add(Kind::kSorted, "position", Class::kPosition, sources);
  return value;
}

Interpreter::Value Interpreter::Compare(string_view op, const Value& a, const Value& b) {
  Value value;
  if (op == "<" || op == "<=") {
    value = Make(Kind::kLess, op, {a, b}, Class::kUniform, op.size() - 1);
  } else if (op == ">" || op == ">=") {
    value = Make(Kind::kLess, op, {b, a}, Class::kUniform, op.size() - 1);
  } else {
    value = Make(op == "==" || op == "!=" ? Kind::kSorted : Kind::kOrdered, op, {a, b});
  }
  const bool decides = GetClass(value) == Class::kData ||
                       (GetClass(a) == Class::kPosition && GetClass(b) == Class::kPosition);
  if (decides) graph_.Mark(value.node);
  return value;
}

Interpreter::Value Interpreter::Select(const Value& condition, const Value& a, const Value& b) {
  if (a.node == b.node) return a;
  Value value = Make(Kind::kOrdered, "select", {condition, a, b});
  value.base = a.base != 0 ? a.base : b.base;
  return value;
}

// A cast to the type of something in memory is made by the store anyway, and one of what is loaded
// to float32, or of an integer to int64, loses nothing.
Interpreter::Value Interpreter::Cast(const Value& value, const Value& type) {
  const bool to_float = graph_.Is(type.node, "name float32") || graph_.Is(type.node, "name float");
  const bool widens = graph_.Is(type.node, "name int64") || (to_float && graph_.IsLoad(value.node));
  const bool is_implied = graph_.Is(type.node, "name dtype") || widens ||
                          graph_.Is(type.node, "name element_ty") ||
                          graph_.Is(type.node, "name type");
  if (is_implied || GetClass(value) == Class::kPosition) return value;
  Value cast = Make(Kind::kOrdered, "cast", {value, type});
  cast.base = value.base;
  return cast;
}

// Returns a value as a variable of that type of C has it. A number takes the type. A loaded value
// does only if that is not the usual one, float.
Interpreter::Value Interpreter::Convert(const Value& value, string_view type) {
  const bool is_made = GetClass(value) == Class::kUniform && value.base == 0;
  const bool changes = GetClass(value) == Class::kData && IsAmong<kOtherFloats>(type);
  if (type.empty() || !(is_made || changes)) return value;
  return Cast(value, MakeLeaf(absl::StrCat("name ", type), Class::kUniform));
}

// Returns what a call calls: x.f(y) of a value x, or m.f(y) of a module m.
Interpreter::CallParts Interpreter::SplitCall(const Expression& call) const {
  CallParts parts;
  const Expression* function = call.parts[0];
  if (function->kind == Expression::kSubscript) function = function->parts[0];
  parts.name = python::LastName(*function);
  if (parts.name.empty()) parts.name = function->text;
  if (function->kind == Expression::kAttribute && IsValue(*function->parts[0])) {
    parts.receiver = function->parts[0];
    parts.arguments.push_back(parts.receiver);
  }
  parts.arguments.insert(parts.arguments.end(), call.parts.begin() + 1, call.parts.end());
  parts.name = PlainName(parts.name, IsC());
  return parts;
}

const Expression* Interpreter::GetArgument(const CallParts& call, string_view keyword,
                                           size_t place) const {
  for (const Expression* argument : call.arguments) {
    if (argument->kind == Expression::kKeyword && argument->name == keyword) {
      return argument->parts[0];
    }
  }
  if (place >= call.arguments.size()) return nullptr;
  const Expression* argument = call.arguments[place];
  return argument->kind == Expression::kKeyword ? nullptr : argument;
}

Interpreter::Value Interpreter::EvaluateArgument(const CallParts& call, string_view keyword,
                                                 size_t place) {
  const Expression* argument = GetArgument(call, keyword, place);
  return argument == nullptr ? Value{} : Evaluate(*argument);
}

Interpreter::Value Interpreter::EvaluateCall(const Expression& call) {
  const CallParts parts = SplitCall(call);
  const bool is_function = !parts.arguments.empty() && !parts.name.empty();
  if (!is_function) {
    const bool is_place = IsAmong<kPlaces>(parts.name);
    return MakeLeaf(absl::StrCat("call ", parts.name),
                    is_place ? Class::kPosition : Class::kUniform);
  }
  if (IsAmong<kPlaces>(parts.name)) return CallPosition(parts);
  if (IsAmong<kReductions>(parts.name) && !IsC()) {
    const bool is_builtin = call.parts[0]->kind == Expression::kName && parts.arguments.size() > 1;
    if (!is_builtin) return CallReduction(parts);
  }
  return CallByName(parts);
}

Interpreter::Value Interpreter::CallByName(const CallParts& call) {
  const string_view name = call.name;
  if (name == "load" || absl::EndsWith(name, "descriptor_load")) {
    const bool in_memory = call.receiver != nullptr;
    return Load(EvaluateArgument(call, "pointer", 0),
                EvaluateArgument(call, "mask", in_memory ? call.arguments.size() : 1),
                EvaluateArgument(call, "other", in_memory ? call.arguments.size() : 2));
  }
  if (IsC() && IsAmong<kLoadsOfC>(name)) return Load(EvaluateArgument(call, "", 0), {}, {});
  if (const string_view type = GetConverted(name); IsC() && !type.empty()) {
    return Cast(EvaluateArgument(call, "", 0),
                MakeLeaf(absl::StrCat("name ", type), Class::kUniform));
  }
  if (IsAmong<kPassing>(name)) {
    return CallPassing(call);
  }
  if (name == "to" || name == "cast" || name == "astype") {
    return Cast(EvaluateArgument(call, "input", 0), EvaluateArgument(call, "dtype", 1));
  }
  if (name == "where" || name == "select") {
    return Select(EvaluateArgument(call, "condition", 0), EvaluateArgument(call, "x", 1),
                  EvaluateArgument(call, "y", 2));
  }
  if (name == "zeros" || name == "full") {
    const size_t type = name == "full" ? 2 : 1;
    const Value filled = name == "full" ? EvaluateArgument(call, "value", 1) : EvaluateNumber("0");
    return Make(Kind::kOrdered, "full", {filled, EvaluateArgument(call, "dtype", type)},
                Class::kData);
  }
  if (name == "zeros_like") {
    return Make(Kind::kOrdered, "full", {EvaluateNumber("0"), Value{}}, Class::kData);
  }
  if (name == "dot" && !IsC()) return CallDot(call);
  if (name == "float" && call.arguments[0]->kind == Expression::kString) {
    string_view text = call.arguments[0]->text;
    text = text.substr(1, text.size() - 2);
    const Value infinity = MakeLeaf("string \"inf\"", Class::kUniform);
    if (text == "inf") return infinity;
    if (text == "-inf") return Make(Kind::kOrdered, "unary -", {infinity});
  }
  return CallUnknown(call);
}

// The further operands of a block's pointer tell it from others of one parameter.
Interpreter::Value Interpreter::CallPassing(const CallParts& call) {
  Value first = Evaluate(*call.arguments[0]);
  if (first.base == 0) return first;
  std::vector<Value> operands;
  for (const Expression* argument : call.arguments) operands.push_back(Evaluate(*argument));
  first.exact = Make(Kind::kOrdered, call.name, operands).exact;
  return first;
}

Interpreter::Value Interpreter::CallPosition(const CallParts& call) {
  const bool has_axis = call.name == "program_id";
  const Value axis = has_axis ? EvaluateArgument(call, "axis", 0) : Value{};
  return Make(Kind::kOrdered, call.name, {axis}, Class::kPosition);
}

// tl.sum(x, 0), tl.sum(x, axis=0) and x.sum(0) are one.
Interpreter::Value Interpreter::CallReduction(const CallParts& call) {
  std::vector<Value> operands = {EvaluateArgument(call, "input", 0),
                                 EvaluateArgument(call, "axis", 1)};
  for (size_t i = 2; i < call.arguments.size(); ++i) {
    const Expression& argument = *call.arguments[i];
    if (argument.kind == Expression::kKeyword &&
        (IsAmong<kHints>(argument.name) || argument.name == "axis")) {
      continue;
    }
    operands.push_back(Evaluate(argument));
  }
  return Make(Kind::kOrdered, absl::StrCat("call ", call.name), operands);
}

// dot(a, b, c) is dot(a, b) + c.
Interpreter::Value Interpreter::CallDot(const CallParts& call) {
  std::vector<Value> operands = {EvaluateArgument(call, "input", 0),
                                 EvaluateArgument(call, "other", 1)};
  const Expression* type = GetArgument(call, "out_dtype", call.arguments.size());
  if (type != nullptr) operands.push_back(Evaluate(*type));
  const Value product = Make(Kind::kOrdered, "call dot", operands, Class::kData);
  const Expression* sum = GetArgument(call, "acc", 2);
  if (sum == nullptr || sum->kind == Expression::kConstant) return product;
  return Combine("+", Evaluate(*sum), product);
}

Interpreter::Value Interpreter::CallUnknown(const CallParts& call) {
  std::vector<Value> operands;
  std::vector<std::pair<string_view, Value>> named;
  for (const Expression* argument : call.arguments) {
    if (argument->kind != Expression::kKeyword) {
      operands.push_back(Evaluate(*argument));
    } else if (!IsAmong<kHints>(argument->name)) {
      named.emplace_back(argument->name, Evaluate(*argument));
    }
  }
  std::sort(named.begin(), named.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, value] : named) {
    operands.push_back(Make(Kind::kOrdered, absl::StrCat("keyword ", name), {value}));
  }
  const string_view name = call.name;
  const bool is_extreme = name == "maximum" || name == "minimum" || name == "max" || name == "min";
  string_view plain = name == name_ ? "itself" : name;
  if (is_extreme && operands.size() > 1) plain = name.substr(0, 3) == "max" ? "maximum" : "minimum";
  Value value =
      Make(is_extreme ? Kind::kChain : Kind::kOrdered, absl::StrCat("call ", plain), operands);
  // A function of positions gives another position, unless it is one of numbers.
  const bool is_numeric = IsAmong<kMathOfC>(name) || IsAmong<kNumeric>(name);
  if (GetClass(value) == Class::kPosition && is_numeric) {
    value = Make(Kind::kOrdered, absl::StrCat("call ", plain), operands, Class::kData);
  }
  return value;
}

// Returns the comparisons of a mask that decide about data; 0 if none do.
Interpreter::Id Interpreter::FindCondition(Id mask) {
  if (!graph_.IsMarked(mask)) return 0;
  if (!graph_.Is(mask, "&")) return mask;
  std::vector<Id> deciding;
  for (const Id operand : graph_.Operands(mask)) {
    if (graph_.IsMarked(operand)) deciding.push_back(operand);
  }
  if (deciding.size() == 1) return deciding[0];
  return graph_.Add(Kind::kSorted, "&", Class::kData, deciding);
}

Interpreter::Value Interpreter::Load(const Value& address, const Value& mask, const Value& other) {
  const bool indirect = GetClass(address) == Class::kData;
  std::vector<Id> operands = {address.base != 0 ? address.base : address.node, address.exact};
  const Id condition = FindCondition(mask.node);
  if (condition != 0) operands.push_back(condition);
  const bool is_zero = graph_.Is(other.node, "number 0") || graph_.Is(other.node, "");
  if (!is_zero) operands.push_back(other.node);
  const Id node =
      graph_.Add(Kind::kLoad, indirect ? "load indirect" : "load", Class::kData, operands);
  return {node, node, 0};
}

Interpreter::Value Interpreter::LoadElement(const Value& array, const Value& index) {
  const Id node = graph_.Add(Kind::kLoad, "element", GetClass(array), {array.node, index.exact});
  return {node, node, 0};
}

// The memory's type is the type that is stored.
void Interpreter::Store(string_view op, const Value& address, Value value, const Value& mask) {
  if (graph_.Is(value.exact, "cast")) value.exact = graph_.Operands(value.exact)[0];
  std::vector<Id> operands = {address.base != 0 ? address.base : address.node, value.exact};
  const Id condition = FindCondition(mask.node);
  if (condition != 0) operands.push_back(condition);
  AddSink(op, std::move(operands));
}

void Interpreter::AddSink(string_view op, std::vector<Id> operands) {
  operands.insert(operands.end(), guards_.begin(), guards_.end());
  graph_.AddSink(graph_.Add(Kind::kOrdered, op, Class::kData, operands));
}

void Interpreter::Execute(const Expression& expression) {
  if (expression.kind == Expression::kCall) return CallStatement(expression);
  if (expression.kind != Expression::kString) Evaluate(expression);
}

void Interpreter::CallStatement(const Expression& expression) {
  const CallParts call = SplitCall(expression);
  if (IsAmong<kSilent>(call.name)) return;
  if (call.name == "store" || absl::EndsWith(call.name, "descriptor_store")) {
    // x.store(place, value), tl.store(pointer, value, mask), pl.store(x, place, value).
    const bool has_place = call.receiver != nullptr || absl::StartsWith(expression.text, "pl.");
    return Store("store", EvaluateArgument(call, "pointer", 0),
                 EvaluateArgument(call, "value", has_place ? 2 : 1),
                 EvaluateArgument(call, "mask", has_place ? call.arguments.size() : 2));
  }
  const bool is_atomic = absl::StartsWith(call.name, "atomic");
  if (is_atomic && call.arguments.size() > 1) {
    return Store(call.name, EvaluateArgument(call, "pointer", 0), EvaluateArgument(call, "val", 1),
                 IsC() ? Value{} : EvaluateArgument(call, "mask", 2));
  }
  const Value value = EvaluateCall(expression);
  AddSink("call", {value.node});
  if (!IsC()) return;
  // A function of C may change what it is given.
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Expression& root = FindRoot(*call.arguments[i]);
    Value* variable = variables_.Find(root.name);
    if (root.kind != Expression::kName || variable == nullptr || variable->base != 0) continue;
    *variable = Make(Kind::kOrdered, absl::StrCat("output ", i), {value}, Class::kData);
  }
}

void Interpreter::Assign(const Expression& target, const Expression& value) {
  Assign(target, value, "");
}

void Interpreter::Assign(const Expression& target, const Expression& value, string_view type) {
  const bool unpacks = target.kind == Expression::kSequence &&
                       value.kind == Expression::kSequence &&
                       target.parts.size() == value.parts.size();
  if (!unpacks) {
    return AssignValue(target, Convert(Evaluate(value), type));
  }
  std::vector<Value> values;
  for (const Expression* part : value.parts) values.push_back(Evaluate(*part));
  for (size_t i = 0; i < values.size(); ++i) AssignValue(*target.parts[i], values[i]);
}

void Interpreter::AssignValue(const Expression& target, const Value& value) {
  if (target.kind == Expression::kName) {
    AssignName(target.name, value);
  } else if (target.kind == Expression::kSequence) {
    for (size_t i = 0; i < target.parts.size(); ++i) {
      AssignValue(*target.parts[i], Make(Kind::kOrdered, absl::StrCat("part ", i), {value}));
    }
  } else {
    AssignElement(target, value);
  }
}

// A reference hands the value on; a pointer begins to point elsewhere.
void Interpreter::AssignName(string_view name, const Value& value) {
  const Reference* reference = FindReference(name);
  if (reference != nullptr && !reference->is_pointer) {
    ++followed_;
    AssignValue(*reference->object, value);
    --followed_;
    return;
  }
  if (reference != nullptr) Hide(name);
  variables_.Set(name, value);
}

// x[i] = value, *x = value, x.y = value: a store if x is memory, else a change of x.
void Interpreter::AssignElement(const Expression& target, const Value& value) {
  const Expression& root = FindRoot(target);
  if (root.kind != Expression::kName) return AddSink("store", {value.node});
  Value* variable = variables_.Find(root.name);
  if (variable == nullptr || variable->base != 0) {
    const Value address =
        EvaluateAddress(target.kind == Expression::kUnary ? *target.parts[0] : target);
    Value base = variable == nullptr ? address : *variable;
    if (address.base != 0) base = address;
    return Store("store", base, value, {});
  }
  const auto type = types_.find(root.name);
  const Value converted = type == types_.end() ? value : Convert(value, type->second);
  if (graph_.Is(variable->node, "array") || variable->node == converted.node) {
    *variable = converted;
  } else {
    *variable = Make(Kind::kOrdered, "changed", {*variable, converted});
  }
}

void Interpreter::Return(const Expression& value) {
  if (value.kind == Expression::kOther && value.text.empty()) return Leave();
  AddSink("return", {Evaluate(value).exact});
}

void Interpreter::Leave() {
  if (!guards_.empty()) AddSink("leave", {});
}

void Interpreter::Branch(const Expression& condition, Block then, Block otherwise) {
  steps_ += static_cast<int64_t>(variables_.size());
  const Value decision = Evaluate(condition);
  const Id guard = FindCondition(decision.node);
  const Variables::State before = variables_.state();
  if (guard != 0) guards_.push_back(guard);
  then();
  const Variables::State after = variables_.Exchange(before);
  if (guard != 0) guards_.back() = graph_.Add(Kind::kOrdered, "unary not", Class::kData, {guard});
  otherwise();
  if (guard != 0) guards_.pop_back();
  for (const string_view name : variables_.FindChanged(after)) {
    const Value& value = variables_.GetValue(after, name);
    const Value* other = variables_.Find(name);
    variables_.Set(name, other == nullptr ? value : Select(decision, value, *other));
  }
}

void Interpreter::Loop(Block body) { RunLoop("loop", body); }

void Interpreter::LoopWhile(const Expression& condition, Block body) {
  Loop([&] {
    if (FindCondition(Evaluate(condition).node) == 0) return body();
    Branch(condition, body, [] {});
  });
}

void Interpreter::LoopOver(const Expression& target, const Expression& range, Block body) {
  std::string op = "loop";
  for (size_t i = 1; range.kind == Expression::kCall && i < range.parts.size(); ++i) {
    if (GetClass(Evaluate(*range.parts[i])) != Class::kUniform) absl::StrAppend(&op, " ", i);
  }
  RunLoop(op, [&] {
    AssignValue(target, MakeLeaf("loop", Class::kPosition));
    body();
  });
}

// A name that the body changes has, within the loop, a value of its own: the value before the loop,
// and the one that the first round makes of it.
void Interpreter::RunLoop(string_view op, Block body) {
  steps_ += static_cast<int64_t>(variables_.size()) + 1;
  if (IsExhausted()) return;
  const Variables::State before = variables_.state();
  const size_t sinks = graph_.sinks();
  body();
  const std::vector<string_view> changed = variables_.FindChanged(before);
  const Variables::State after = variables_.Exchange(before);
  for (const string_view name : changed) {
    const Value& begun = variables_.GetValue(before, name);
    Value value =
        Make(Kind::kOrdered, op, {begun, variables_.GetValue(after, name)}, Class::kPosition);
    if (GetClass(value) == Class::kPosition) {
      value.node = graph_.AddLeaf("loop", Class::kPosition);
    }
    value.base = begun.base;
    variables_.Set(name, value);
  }
  graph_.DropSinks(sinks);
  body();
}

}  // namespace kernelmill::deduplicator
