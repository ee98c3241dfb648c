#include "client/evaluate/honesty/stored_values.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/children.h"
#include "common/python/usage/triton_calls.h"

namespace kernelmill::client {
namespace {

using python::Children;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

constexpr int kMaxValueDepth = 40;      // expressions and helpers in one another
constexpr size_t kMaxTerms = 32;        // of a sum
constexpr size_t kMaxRendered = 2'000;  // bytes of a value's text
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A value: a sum of products, by their factors and exponents, with a coefficient each.
using Factors = std::map<std::string, int>;
using Sum = std::map<Factors, double>;

// Names in a value's text are between marks, so that the places of two tensors can be compared.
constexpr char kPointer = '\1';
constexpr char kStride = '\2';
constexpr char kMarkEnd = '\3';

Sum Constant(double value) { return value == 0 ? Sum() : Sum{{Factors(), value}}; }

Sum Atom(std::string name) { return {{{{std::move(name), 1}}, 1.0}}; }

std::optional<double> GetConstant(const Sum& sum) {
  if (sum.empty()) return 0;
  if (sum.size() == 1 && sum.begin()->first.empty()) return sum.begin()->second;
  return std::nullopt;
}

// Returns the name of a value that is one atom.
std::optional<std::string> GetAtom(const Sum& sum) {
  if (sum.size() != 1 || std::abs(sum.begin()->second - 1) > 1e-9) return std::nullopt;
  const Factors& factors = sum.begin()->first;
  if (factors.size() != 1 || factors.begin()->second != 1) return std::nullopt;
  return factors.begin()->first;
}

std::string Render(const Sum& sum) {
  std::string text;
  for (const auto& [factors, coefficient] : sum) {
    absl::StrAppend(&text, text.empty() ? "" : "+", absl::StrFormat("%.9g", coefficient));
    for (const auto& [factor, exponent] : factors) {
      absl::StrAppend(&text, "*", factor, exponent == 1 ? "" : absl::StrCat("^", exponent));
    }
  }
  return text.empty() ? "0" : text;
}

Sum Scale(Sum sum, double by) {
  if (by == 0) return {};
  for (auto& [factors, coefficient] : sum) coefficient *= by;
  return sum;
}

Sum Add(Sum a, const Sum& b, double sign) {
  for (const auto& [factors, coefficient] : b) {
    double& into = a[factors];
    const double size = std::abs(into) + std::abs(coefficient);
    into += sign * coefficient;
    // Rounding: a third less a third of a third and so on.
    if (std::abs(into) <= 1e-9 * size) a.erase(factors);
  }
  return a;
}

// Returns the text of a value in which the names of pointers and strides do not tell: equal for two
// tensors that are walked in the same way.
std::string WithoutNames(absl::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (text[i] != kPointer && text[i] != kStride) continue;
    while (i + 1 < text.size() && text[i + 1] != kMarkEnd) ++i;
  }
  return plain;
}

// Returns the function that undoes one; empty without one.
absl::string_view GetInverse(absl::string_view function) {
  static constexpr std::pair<absl::string_view, absl::string_view> kPairs[] = {
      {"exp", "log"},     {"log", "exp"},     {"exp2", "log2"},  {"log2", "exp2"},
      {"trans", "trans"}, {"flip", "flip"},   {"~", "~"},        {"not", "not"},
      {"tanh", "atanh"},  {"atanh", "tanh"},  {"sinh", "asinh"}, {"asinh", "sinh"},
      {"expm1", "log1p"}, {"log1p", "expm1"}, {"cbrt", "cube"},  {"brev", "brev"}};
  for (const auto& [name, inverse] : kPairs) {
    if (name == function) return inverse;
  }
  return "";
}

// Returns whether a function gives its first argument, in another type or shape.
bool KeepsValues(absl::string_view function) {
  static constexpr absl::string_view kFunctions[] = {"to",
                                                     "cast",
                                                     "reshape",
                                                     "view",
                                                     "ravel",
                                                     "expand_dims",
                                                     "squeeze",
                                                     "broadcast_to",
                                                     "max_contiguous",
                                                     "multiple_of",
                                                     "max_constancy",
                                                     "unsqueeze",
                                                     "assume_nonnegative"};
  return absl::c_linear_search(kFunctions, function);
}

// Follows one kernel.
class Follower {
 public:
  Follower(const python::ParsedText& text, const KernelFacts& kernel,
           const std::map<NodeId, KernelFacts>& kernels)
      : text_(text), tree_(text.tree()), kernel_(kernel), kernels_(kernels) {
    ReadModuleConstants();
    for (const KernelFacts::Parameter& parameter : kernel.parameters) {
      const char* const mark = parameter.pointer ? "\1" : parameter.stride ? "\2" : "";
      names_[parameter.name] =
          Atom(*mark == '\0' ? parameter.name : absl::StrCat(mark, parameter.name, "\3"));
    }
  }

  StoredValues Run() {
    const NodeId body = tree_.Child(kernel_.definition, Field::kBody);
    if (body != kNoNode) RunBlock(body, 0);
    return std::move(stores_);
  }

 private:
  using Names = std::map<std::string, Sum, std::less<>>;

  // The place that a call loads from or stores to.
  struct Place {
    NodeId address = kNoNode;
    std::string text;  // the address's, with a descriptor's offsets
  };

  // Numbers by names at the top of the file, which have one value each.
  void ReadModuleConstants() {
    absl::flat_hash_set<std::string> twice;
    for (const NodeId node : tree_.Of(Kind::kAssignment)) {
      const NodeId left = tree_.Child(node, Field::kLeft);
      const NodeId right = tree_.Child(node, Field::kRight);
      const NodeId around = tree_[tree_[node].parent].parent;
      if (left == kNoNode || right == kNoNode || around == kNoNode) continue;
      if (tree_.GetKind(around) != Kind::kModule) continue;
      const std::string name(tree_.GetText(left));
      absl::string_view value = tree_.GetText(right);
      if (absl::ConsumePrefix(&value, "tl.constexpr(")) absl::ConsumeSuffix(&value, ")");
      double number = 0;
      if (!twice.insert(name).second || !absl::SimpleAtod(value, &number)) {
        constants_.erase(name);
      } else {
        constants_[name] = number;
      }
    }
  }

  // ------------------------------------------------------------ statements

  void RunBlock(NodeId block, int depth) {
    for (const NodeId statement : Children(tree_, block)) RunStatement(statement, depth);
  }

  void RunStatement(NodeId node, int depth) {
    if (!Step(depth)) return;
    switch (tree_.GetKind(node)) {
      case Kind::kExpressionStatement:
        for (const NodeId part : Children(tree_, node)) RunExpression(part, depth);
        return;
      case Kind::kForStatement:
      case Kind::kWhileStatement:
        return RunLoop(node, depth);
      case Kind::kIfStatement:
        return RunCondition(node, depth);
      case Kind::kReturnStatement:
        return RunReturn(node, depth);
      case Kind::kFunctionDefinition:
      case Kind::kClassDefinition:
      case Kind::kDecoratedDefinition:
        return;
      default:
        for (const NodeId part : Children(tree_, node)) {
          if (tree_.GetKind(part) == Kind::kBlock) RunBlock(part, depth + 1);
        }
    }
  }

  void RunExpression(NodeId node, int depth) {
    const Kind kind = tree_.GetKind(node);
    if (kind == Kind::kCall) return RunCall(node, depth);
    if (kind != Kind::kAssignment && kind != Kind::kAugmentedAssignment) return;
    const NodeId left = tree_.Child(node, Field::kLeft);
    const NodeId right = tree_.Child(node, Field::kRight);
    if (left == kNoNode || right == kNoNode) return;
    if (kind == Kind::kAugmentedAssignment) {
      const NodeId sign = tree_.Child(node, Field::kOperator);
      if (tree_.GetKind(left) != Kind::kIdentifier || sign == kNoNode) return;
      const absl::string_view by = absl::StripSuffix(tree_.GetText(sign), "=");
      names_[std::string(tree_.GetText(left))] =
          Combine(by, Evaluate(left, depth + 1), Evaluate(right, depth + 1));
      return;
    }
    Assign(left, right, depth);
  }

  void Assign(NodeId left, NodeId right, int depth) {
    if (tree_.GetKind(left) == Kind::kIdentifier) {
      names_[std::string(tree_.GetText(left))] = Evaluate(right, depth + 1);
      return;
    }
    const std::vector<NodeId> names = Children(tree_, left);
    const NodeId list = tree_.StripParentheses(right);
    const Kind kind = tree_.GetKind(list);
    const std::vector<NodeId> values = Children(tree_, list);
    const bool pairs =
        names.size() == values.size() &&
        (kind == Kind::kTuple || kind == Kind::kExpressionList || kind == Kind::kList);
    std::vector<Sum> found;
    for (size_t i = 0; i < names.size(); ++i) {
      found.push_back(pairs ? Evaluate(values[i], depth + 1) : Unknown(tree_.GetText(names[i])));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      names_[std::string(tree_.GetText(names[i]))] = std::move(found[i]);
    }
  }

  // The values of the first round are not those of the second.
  void RunLoop(NodeId node, int depth) {
    Forget(node);
    for (const NodeId part : Children(tree_, node)) {
      if (tree_.GetKind(part) == Kind::kBlock) RunBlock(part, depth + 1);
    }
    Forget(node);
  }

  // Makes the values unknown of all names that a statement may set.
  void Forget(NodeId node) {
    for (const Kind kind : {Kind::kAssignment, Kind::kAugmentedAssignment, Kind::kForStatement}) {
      for (const NodeId set : tree_.Of(kind, node)) {
        const NodeId left = tree_.Child(set, Field::kLeft);
        if (left == kNoNode) continue;
        for (NodeId at = left; at < tree_[left].subtree_end; ++at) {
          if (tree_.GetKind(at) != Kind::kIdentifier) continue;
          names_[std::string(tree_.GetText(at))] = Unknown(tree_.GetText(at));
        }
      }
    }
  }

  void RunCondition(NodeId node, int depth) {
    const Names before = names_;
    std::vector<Names> ends;
    bool otherwise = false;
    for (const NodeId part : Children(tree_, node)) {
      NodeId block = kNoNode;
      const Kind kind = tree_.GetKind(part);
      if (kind == Kind::kBlock) block = part;
      if (kind == Kind::kElifClause || kind == Kind::kElseClause) {
        block = tree_.Child(part, Kind::kBlock);
        otherwise |= kind == Kind::kElseClause;
      }
      if (block == kNoNode) continue;
      names_ = before;
      RunBlock(block, depth + 1);
      ends.push_back(std::move(names_));
    }
    if (!otherwise) ends.push_back(before);
    names_ = ends[0];
    for (const Names& end : ends) {
      for (const auto& [name, value] : end) {
        const auto at = names_.find(name);
        if (at == names_.end() || at->second != value) names_[name] = Unknown(name);
      }
    }
  }

  void RunReturn(NodeId node, int depth) {
    const std::vector<NodeId> parts = Children(tree_, node);
    Sum value = parts.size() == 1 ? Evaluate(parts[0], depth + 1) : Unknown("return");
    if (returned_.has_value() && *returned_ != value) value = Unknown("return");
    returned_ = std::move(value);
  }

  void RunCall(NodeId node, int depth) {
    const python::Call& call = text_.calls().At(node);
    if (python::GetMemoryAccess(MethodName(call)) != python::MemoryAccess::kStore) return;
    const python::Arguments arguments = python::GetArguments(tree_, node);
    const NodeId value = python::FindArgument(arguments, "value", TakesDescriptor(call) ? 2 : 1);
    const Place to = GetPlace(call, arguments, depth);
    if (value == kNoNode || to.address == kNoNode) return;
    const Sum stored = Evaluate(value, depth + 1);
    std::optional<std::string> atom = GetAtom(stored);
    const NodeId mask = python::FindArgument(arguments, "mask", IsMethod(call) ? 99 : 2);
    if (atom.has_value() && mask != kNoNode) {
      // Under the mask of the store, where(mask, x, 0) is x.
      const auto selected = selected_.find(*atom);
      if (selected != selected_.end() &&
          selected->second.first == Render(Evaluate(mask, depth + 1))) {
        atom = GetAtom(selected->second.second);
      }
    }
    if (IsRace(node, to, stored, mask, depth)) stores_.races.insert(node);
    if (!atom.has_value()) return;
    const auto from = loads_.find(*atom);
    if (from != loads_.end() && WithoutNames(from->second.text) == WithoutNames(to.text)) {
      stores_.copies[node] = from->second.address;
    }
  }

  // Returns whether all programs store something of their own at one place. An address of unknown
  // parts may be another one for each program.
  bool IsRace(NodeId node, const Place& to, const Sum& stored, NodeId mask, int depth) {
    constexpr absl::string_view kProgram = "program_id(";
    if (!absl::StrContains(Render(stored), kProgram)) return false;
    for (const absl::string_view part :
         {kProgram, absl::string_view("load("), absl::string_view("@"), absl::string_view("[")}) {
      if (absl::StrContains(to.text, part)) return false;
    }
    // A mask may choose a program.
    if (mask != kNoNode) {
      const std::string chosen = Render(Evaluate(mask, depth + 1));
      if (absl::StrContains(chosen, kProgram) && absl::StrContains(chosen, "==")) return false;
    }
    for (NodeId at = node; at != kNoNode && at != kernel_.definition; at = tree_[at].parent) {
      if (tree_.GetKind(at) == Kind::kIfStatement) return false;
    }
    return true;
  }

  // ------------------------------------------------------------ expressions

  Sum Evaluate(NodeId node, int depth) {
    node = tree_.StripParentheses(node);
    if (!Step(depth)) return Unknown("deep");
    Sum value = EvaluateKind(node, depth);
    if (value.size() > kMaxTerms || Render(value).size() > kMaxRendered) return Unknown("large");
    return value;
  }

  Sum EvaluateKind(NodeId node, int depth) {
    const absl::string_view text = tree_.GetText(node);
    double number = 0;
    switch (tree_.GetKind(node)) {
      case Kind::kIdentifier: {
        const auto local = names_.find(text);
        if (local != names_.end()) return local->second;
        const auto constant = constants_.find(text);
        return constant == constants_.end() ? Atom(std::string(text)) : Constant(constant->second);
      }
      case Kind::kCall:
        return EvaluateCall(node, depth);
      case Kind::kBinaryOperator: {
        const NodeId left = tree_.Child(node, Field::kLeft);
        const NodeId right = tree_.Child(node, Field::kRight);
        const NodeId sign = tree_.Child(node, Field::kOperator);
        if (left == kNoNode || right == kNoNode || sign == kNoNode) return Unknown("broken");
        return Combine(tree_.GetText(sign), Evaluate(left, depth + 1), Evaluate(right, depth + 1));
      }
      case Kind::kConditionalExpression: {
        const std::vector<NodeId> parts = Children(tree_, node);
        if (parts.size() != 3) return Unknown("broken");
        return Select(Spell(parts[1], depth), Evaluate(parts[0], depth + 1),
                      Evaluate(parts[2], depth + 1));
      }
      case Kind::kSubscript:
        if (AddsAxesOnly(node)) return Evaluate(tree_.Child(node, Field::kValue), depth + 1);
        return Atom(Spell(node, depth));
      case Kind::kAttribute: {
        const NodeId name = tree_.Child(node, Field::kAttribute);
        const NodeId object = tree_.Child(node, Field::kObject);
        if (name != kNoNode && object != kNoNode && tree_.GetText(name) == "T") {
          return Apply("trans", Evaluate(object, depth + 1));
        }
        return Atom(Spell(node, depth));
      }
      default:
        break;
    }
    if (absl::SimpleAtod(text, &number)) return Constant(number);
    const std::vector<NodeId> parts = Children(tree_, node);
    if (parts.size() == 1 && (text[0] == '-' || text[0] == '+' || text[0] == '~')) {
      Sum inner = Evaluate(parts[0], depth + 1);
      return text[0] == '~' ? Apply("~", inner) : Scale(std::move(inner), text[0] == '-' ? -1 : 1);
    }
    return Atom(Spell(node, depth));
  }

  // Returns an expression's text with the values of its names.
  std::string Spell(NodeId node, int depth) {
    std::string text;
    for (NodeId at = node; at < tree_[node].subtree_end; ++at) {
      if (!tree_.IsLeaf(at) || tree_.GetKind(at) == Kind::kComment) continue;
      const bool attribute = tree_[at].field == Field::kAttribute;
      if (tree_.GetKind(at) == Kind::kIdentifier && !attribute) {
        absl::StrAppend(&text, "(", Render(Evaluate(at, depth + 1)), ")");
      } else {
        absl::StrAppend(&text, tree_.GetText(at), " ");
      }
      if (text.size() > kMaxRendered) return absl::StrCat("large@", ++unknowns_);
    }
    return text;
  }

  // Returns whether a subscript is x[:, None] and the like.
  bool AddsAxesOnly(NodeId node) const {
    const NodeId value = tree_.Child(node, Field::kValue);
    if (value == kNoNode) return false;
    for (NodeId at = tree_[value].subtree_end; at < tree_[node].subtree_end; ++at) {
      if (!tree_.IsLeaf(at)) continue;
      const absl::string_view text = tree_.GetText(at);
      if (text != ":" && text != "None" && text != "[" && text != "]" && text != ",") return false;
    }
    return true;
  }

  Sum Combine(absl::string_view sign, Sum a, const Sum& b) {
    const std::optional<double> by = GetConstant(b);
    if (sign == "+") return Add(std::move(a), b, 1);
    if (sign == "-") return Add(std::move(a), b, -1);
    if (sign == "*") return Multiply(a, b);
    if (sign == "/") return Divide(a, b);
    if (sign == "**" && by.has_value() && *by == 1) return a;
    if ((sign == "&" || sign == "|") && (a == b)) return a;
    if ((sign == "|" || sign == "^") && by.has_value() && *by == 0) return a;
    if (sign == "&" && by.has_value() && *by == -1) return a;
    if (sign == "^") return Exclude(a, b);
    if (sign == "//" && by.has_value() && *by != 0) return DivideWhole(a, *by);
    const bool shift = by.has_value() && *by >= 0 && *by < 64;
    if (sign == "<<" && shift) return Scale(std::move(a), std::exp2(*by));
    if (sign == ">>" && shift) return DivideWhole(a, std::exp2(*by));
    return Atom(absl::StrCat("(", Render(a), ")", sign, "(", Render(b), ")"));
  }

  // a ^ b ^ b is a.
  Sum Exclude(const Sum& a, const Sum& b) {
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      const std::optional<std::string> atom = GetAtom(*one);
      const auto parts = atom.has_value() ? excluded_.find(*atom) : excluded_.end();
      if (parts == excluded_.end()) continue;
      if (parts->second.first == *other) return parts->second.second;
      if (parts->second.second == *other) return parts->second.first;
    }
    if (a == b) return {};
    std::string name = absl::StrCat("(", Render(a), ")^^(", Render(b), ")");
    excluded_[name] = {a, b};
    return Atom(std::move(name));
  }

  // The quotient of integers, if every coefficient can be divided.
  Sum DivideWhole(const Sum& a, double by) {
    const bool whole = absl::c_all_of(a, [&](const auto& term) {
      return std::abs(term.second / by - std::round(term.second / by)) < 1e-9;
    });
    if (whole) return Scale(a, 1 / by);
    return Atom(absl::StrCat("(", Render(a), ")//", by));
  }

  Sum Multiply(const Sum& a, const Sum& b) {
    if (const auto by = GetConstant(a)) return Scale(b, *by);
    if (const auto by = GetConstant(b)) return Scale(a, *by);
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      if (other->size() < 2) continue;
      // x / (y + z) * (y + z).
      const std::string name = absl::StrCat("(", Render(*other), ")");
      const bool divided = absl::c_all_of(*one, [&](const auto& term) {
        const auto factor = term.first.find(name);
        return factor != term.first.end() && factor->second < 0;
      });
      if (divided) return MultiplyTerms(*one, Atom(name));
    }
    if (a.size() * b.size() > kMaxTerms) return Unknown("large");
    return MultiplyTerms(a, b);
  }

  Sum MultiplyTerms(const Sum& a, const Sum& b) {
    Sum product;
    for (const auto& [left, x] : a) {
      for (const auto& [right, y] : b) {
        Factors factors = left;
        for (const auto& [factor, exponent] : right) {
          if ((factors[factor] += exponent) == 0) factors.erase(factor);
        }
        product = Add(std::move(product), WithoutRoots(std::move(factors), x * y), 1);
      }
    }
    return product;
  }

  // sqrt(x) * sqrt(x) is x.
  Sum WithoutRoots(Factors factors, double coefficient) {
    for (const auto& [factor, exponent] : factors) {
      const auto root = applied_.find(factor);
      if (root == applied_.end() || root->second.first != "sqrt" || exponent != 2) continue;
      const Sum inner = root->second.second;
      factors.erase(factor);
      return Multiply({{std::move(factors), coefficient}}, inner);
    }
    return {{std::move(factors), coefficient}};
  }

  Sum Divide(const Sum& a, const Sum& b) {
    if (b.empty()) return Unknown("infinite");
    if (b.size() == 1) {
      Factors inverse;
      for (const auto& [factor, exponent] : b.begin()->first) inverse[factor] = -exponent;
      return Multiply(a, {{std::move(inverse), 1 / b.begin()->second}});
    }
    // (x + y) / (2x + 2y), (x * y + x) / (y + 1).
    if (a.empty()) return {};
    for (const auto& [factors, coefficient] : b) {
      Factors rest = a.begin()->first;
      for (const auto& [factor, exponent] : factors) {
        if ((rest[factor] -= exponent) == 0) rest.erase(factor);
      }
      const Sum quotient = {{std::move(rest), a.begin()->second / coefficient}};
      if (Add(MultiplyTerms(b, quotient), a, -1).empty()) return quotient;
    }
    return MultiplyTerms(a, {{{{absl::StrCat("(", Render(b), ")"), -1}}, 1.0}});
  }

  Sum Select(const std::string& condition, const Sum& a, const Sum& b) {
    if (a == b) return a;
    std::string name = absl::StrCat("where(", condition, ",", Render(a), ",", Render(b), ")");
    selected_[name] = {condition, a};
    return Atom(std::move(name));
  }

  Sum Apply(absl::string_view function, const Sum& inner) {
    const std::optional<std::string> atom = GetAtom(inner);
    const auto applied = atom.has_value() ? applied_.find(*atom) : applied_.end();
    if (applied != applied_.end() && applied->second.first == GetInverse(function)) {
      return applied->second.second;
    }
    std::string name = absl::StrCat(function, "(", Render(inner), ")");
    applied_[name] = {std::string(function), inner};
    return Atom(std::move(name));
  }

  Sum EvaluateCall(NodeId node, int depth) {
    const python::Call& call = text_.calls().At(node);
    const python::Arguments arguments = python::GetArguments(tree_, node);
    if (const KernelFacts* helper = FindHelper(call)) return Follow(*helper, arguments, depth);
    const absl::string_view function = MethodName(call);
    if (python::GetMemoryAccess(function) == python::MemoryAccess::kLoad) {
      const Place place = GetPlace(call, arguments, depth);
      if (place.address == kNoNode) return Unknown("load");
      std::string name = absl::StrCat("load(", place.text, ")");
      loads_.try_emplace(name, place);
      return Atom(std::move(name));
    }
    if (call.name == "float" && arguments.size() == 1) {
      const absl::string_view text = tree_.GetText(arguments[0].value);
      if (absl::StrContains(text, "inf")) {
        return Constant(absl::StrContains(text, "-") ? -kInfinity : kInfinity);
      }
    }
    std::vector<Sum> values;
    if (IsMethod(call))
      values.push_back(Evaluate(tree_.Child(call.function, Field::kObject), depth + 1));
    bool keywords = false;
    for (const python::Argument& argument : arguments) {
      keywords |= argument.keyword == "bitcast";
      values.push_back(Evaluate(argument.value, depth + 1));
    }
    if (values.empty() || keywords) return Atom(Spell(node, depth));
    return EvaluateFunction(node, function, values, depth);
  }

  Sum EvaluateFunction(NodeId node, absl::string_view function, std::vector<Sum>& values,
                       int depth) {
    if (KeepsValues(function)) return values[0];
    const size_t count = values.size();
    if (count >= 2) {
      const auto one = GetConstant(values[0]);
      const auto two = GetConstant(values[1]);
      const bool least = function == "minimum" || function == "min" || function == "fmin";
      const bool most = function == "maximum" || function == "max" || function == "fmax";
      if (least || most) {
        const double neutral = least ? kInfinity : -kInfinity;
        if (values[0] == values[1] || two == neutral) return values[0];
        if (one == neutral) return values[1];
      }
      if (function == "div_rn" || function == "fdiv") return Divide(values[0], values[1]);
      if (function == "add" || function == "sub") {
        return Add(values[0], values[1], function == "add" ? 1 : -1);
      }
      if (function == "mul") return Multiply(values[0], values[1]);
      if (function == "ldexp" && two.has_value()) return Scale(values[0], std::exp2(*two));
      if (function == "pow" && two == 1) return values[0];
    }
    if (count >= 3) {
      if (function == "where") return Select(Render(values[0]), values[1], values[2]);
      if (function == "fma") return Add(Multiply(values[0], values[1]), values[2], 1);
      const bool open = GetConstant(values[1]) == -kInfinity && GetConstant(values[2]) == kInfinity;
      if (function == "clamp" && open) return values[0];
    }
    const bool alone = count == 1 && !absl::StartsWith(function, "rand");
    if (alone || function == "flip") return Apply(function, values[0]);
    if (function == "trans" || function == "permute") {
      return count <= 3 ? Apply("trans", values[0]) : Atom(Spell(node, depth));
    }
    std::vector<std::string> texts;
    for (const Sum& value : values) texts.push_back(Render(value));
    return Atom(absl::StrCat(function, "(", absl::StrJoin(texts, ","), ")"));
  }

  const KernelFacts* FindHelper(const python::Call& call) const {
    for (const auto& [node, facts] : kernels_) {
      if (facts.name == call.name && node != kernel_.definition) return &facts;
    }
    return nullptr;
  }

  // Returns what a helper returns.
  Sum Follow(const KernelFacts& helper, const python::Arguments& arguments, int depth) {
    constexpr int kMaxHelpers = 6;
    const NodeId body = tree_.Child(helper.definition, Field::kBody);
    if (body == kNoNode || helpers_ >= kMaxHelpers) return Unknown(helper.name);
    Names inner;
    for (size_t i = 0; i < helper.parameters.size(); ++i) {
      const NodeId given = python::FindArgument(arguments, helper.parameters[i].name, i);
      const std::string& name = helper.parameters[i].name;
      inner[name] = given == kNoNode ? Unknown(name) : Evaluate(given, depth + 1);
    }
    std::swap(names_, inner);
    std::optional<Sum> returned = std::exchange(returned_, std::nullopt);
    StoredValues stores = stores_;  // a helper's store is one of the helper
    ++helpers_;
    RunBlock(body, depth + 1);
    --helpers_;
    stores_ = std::move(stores);
    std::swap(names_, inner);
    std::swap(returned_, returned);
    return returned.has_value() ? *std::move(returned) : Unknown(helper.name);
  }

  Place GetPlace(const python::Call& call, const python::Arguments& arguments, int depth) {
    Place place;
    const bool method = IsMethod(call);
    place.address = method ? tree_.Child(call.function, Field::kObject)
                           : python::FindArgument(arguments, "pointer", 0);
    if (place.address == kNoNode) return place;
    place.text = Render(Evaluate(place.address, depth + 1));
    // A descriptor's own method has the offsets first.
    const size_t offsets = TakesDescriptor(call) ? 1 : 0;
    if ((method || offsets > 0) && arguments.size() > offsets) {
      absl::StrAppend(&place.text, "[", Spell(arguments[offsets].value, depth), "]");
    }
    return place;
  }

  // tl.load_tensor_descriptor(x, offsets)
  bool TakesDescriptor(const python::Call& call) const {
    return !IsMethod(call) && absl::StrContains(MethodName(call), "descriptor");
  }

  absl::string_view MethodName(const python::Call& call) const {
    if (!call.name.empty()) return LastPart(call.name);
    if (call.function == kNoNode || tree_.GetKind(call.function) != Kind::kAttribute) return "";
    const NodeId attribute = tree_.Child(call.function, Field::kAttribute);
    return attribute == kNoNode ? "" : tree_.GetText(attribute);
  }

  // Returns whether it calls a method of a value, and not a function of a module.
  bool IsMethod(const python::Call& call) const {
    if (call.function == kNoNode || tree_.GetKind(call.function) != Kind::kAttribute) return false;
    return call.name.empty() || names_.contains(call.name.substr(0, call.name.find('.')));
  }

  // Returns a value that equals no other one.
  Sum Unknown(absl::string_view name) { return Atom(absl::StrCat(name, "@", ++unknowns_)); }

  // Bounds the depth and the work.
  bool Step(int depth) { return depth <= kMaxValueDepth && --steps_ > 0; }

  const python::ParsedText& text_;
  const SyntaxTree& tree_;
  const KernelFacts& kernel_;
  const std::map<NodeId, KernelFacts>& kernels_;
  absl::flat_hash_map<std::string, double> constants_;
  Names names_;
  std::optional<Sum> returned_;  // by the helper that is followed
  int helpers_ = 0;              // in one another
  // The parts of atoms, by their names.
  absl::flat_hash_map<std::string, Place> loads_;
  absl::flat_hash_map<std::string, std::pair<std::string, Sum>> applied_;
  absl::flat_hash_map<std::string, std::pair<std::string, Sum>> selected_;
  absl::flat_hash_map<std::string, std::pair<Sum, Sum>> excluded_;
  StoredValues stores_;
  int unknowns_ = 0;
  int steps_ = 50'000;
};

}  // namespace

StoredValues ReadStoredValues(const python::ParsedText& text, const KernelFacts& kernel,
                              const std::map<NodeId, KernelFacts>& kernels) {
  return Follower(text, kernel, kernels).Run();
}

}  // namespace kernelmill::client
