#include "client/evaluate/honesty/kernel_facts.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/evaluate/honesty/stored_values.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/children.h"
#include "common/python/syntax/functions.h"
#include "common/python/usage/triton_calls.h"

namespace kernelmill::client {
namespace {

using python::Children;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

constexpr int kMaxDepth = 40;  // names and operators in one another

bool IsNumber(absl::string_view text, double number) {
  double value = 0;
  return absl::SimpleAtod(text, &value) && value == number;
}

// Reads the body of one kernel.
class BodyReader {
 public:
  BodyReader(const python::ParsedText& text, KernelFacts& facts,
             const std::map<NodeId, KernelFacts>& kernels)
      : text_(text), tree_(text.tree()), facts_(facts), kernels_(kernels) {
    for (size_t i = 0; i < facts.parameters.size(); ++i) {
      places_[facts.parameters[i].name] = i;
      if (facts.parameters[i].constant) constexprs_.insert(facts.parameters[i].name);
    }
    body_ = tree_.Child(facts.definition, Field::kBody);
    if (body_ != kNoNode) ReadValues();
  }

  void Read() {
    if (body_ == kNoNode) return;
    values_of_stores_ = ReadStoredValues(text_, facts_, kernels_);
    for (const python::Call& call : text_.calls().In(body_)) ReadCall(call);
    // A write to memory that no parameter leads to: any pointer may be meant.
    if (unknown_write_ || (stores_ > 0 && facts_.written.empty())) WriteAll();
    if (stores_ == 0) return;
    if (real_stores_ == 0 && !other_writes_) facts_.constant = constant_;
    if (copies_ == stores_ && !other_writes_) facts_.copied = copied_;
  }

 private:
  void ReadValues() {
    for (const Kind kind : {Kind::kAssignment, Kind::kAugmentedAssignment, Kind::kForStatement}) {
      for (const NodeId node : tree_.Of(kind, body_)) {
        const NodeId left = tree_.Child(node, Field::kLeft);
        const NodeId right = tree_.Child(node, Field::kRight);
        if (left == kNoNode || right == kNoNode) continue;
        if (kind == Kind::kForStatement) loops_.insert(tree_.GetText(left));
        if (kind == Kind::kAugmentedAssignment) augmented_.insert(tree_.GetText(left));
        // A name whose parts are set, or that has several values, is told by conditions.
        if (tree_.GetKind(left) == Kind::kSubscript) {
          varied_.insert(tree_.GetText(tree_.Child(left, Field::kValue)));
        }
        AddValue(left, right);
      }
    }
  }

  void AddValue(NodeId left, NodeId right) {
    if (tree_.GetKind(left) == Kind::kIdentifier) {
      values_[tree_.GetText(left)].push_back(right);
      return;
    }
    const std::vector<NodeId> names = Children(tree_, left);
    const NodeId list = tree_.StripParentheses(right);
    const std::vector<NodeId> values = Children(tree_, list);
    const bool pairs = names.size() == values.size() && tree_.GetKind(list) != Kind::kCall &&
                       tree_.GetKind(list) != Kind::kBinaryOperator;
    for (size_t i = 0; i < names.size(); ++i) {
      if (tree_.GetKind(names[i]) == Kind::kIdentifier) {
        values_[tree_.GetText(names[i])].push_back(pairs ? values[i] : right);
      }
    }
  }

  void ReadCall(const python::Call& call) {
    const python::Arguments arguments = python::GetArguments(tree_, call.node);
    if (ReadHelper(call, arguments)) return;
    const absl::string_view function = MethodName(call);
    const python::MemoryAccess access = python::GetMemoryAccess(function);
    if (access == python::MemoryAccess::kLoad || access == python::MemoryAccess::kNone) {
      if (absl::StrContains(function, "store") || absl::StrContains(function, "atomic") ||
          absl::StrContains(function, "to_global") || absl::StrContains(function, "scatter") ||
          absl::StartsWith(function, "st_") || absl::StrContains(function, "inline_asm") ||
          absl::StrContains(function, "reduce_add") || absl::StrContains(function, "extern_")) {
        unknown_write_ = other_writes_ = true;
      }
      return;
    }
    ReadStore(call, arguments, access);
  }

  // A call of another function of the answer writes what that one writes; one of an unknown
  // function may write all that it is given.
  bool ReadHelper(const python::Call& call, const python::Arguments& arguments) {
    const KernelFacts* helper = nullptr;
    for (const auto& [node, facts] : kernels_) {
      if (facts.name == call.name) helper = &facts;
    }
    if (helper == nullptr) {
      const bool known = call.name.empty() || absl::StrContains(call.name, ".") ||
                         call.resolved != call.name || python::IsRange(call.name);
      if (known) return false;
      for (const python::Argument& argument : arguments) {
        for (const size_t place : PointersAt(argument.value)) {
          if (facts_.parameters[place].pointer) facts_.written.insert(place);
        }
      }
      return false;
    }
    for (const size_t place : helper->written) {
      const NodeId given = python::FindArgument(arguments, helper->parameters[place].name, place);
      if (given == kNoNode) continue;
      for (const size_t at : PointersAt(given)) facts_.written.insert(at);
    }
    if (!helper->written.empty()) {
      ++stores_;
      ++real_stores_;
    }
    return true;
  }

  void ReadStore(const python::Call& call, const python::Arguments& arguments,
                 python::MemoryAccess access) {
    // A descriptor's own method has the offsets first.
    const bool method = IsMethod(call);
    const NodeId pointer = method ? tree_.Child(call.function, Field::kObject)
                                  : python::FindArgument(arguments, "pointer", 0);
    if (pointer == kNoNode) return;
    const std::set<size_t> written = PointersAt(pointer);
    facts_.written.insert(written.begin(), written.end());
    unknown_write_ |= written.empty();
    ++stores_;
    const NodeId value = python::FindArgument(arguments, "value", 1);
    const NodeId mask = python::FindArgument(arguments, "mask", method ? kByKeyword : 2);
    if (value == kNoNode) return void(++real_stores_);
    const bool plain = access == python::MemoryAccess::kStore;
    std::string why;
    if (IsUnreachable(call.node)) {
      why = "the store is never reached";
    } else if (mask != kNoNode && IsNever(mask, 0)) {
      why = absl::StrCat("the mask ", tree_.GetText(mask), " is never true");
    } else if (plain && IsConstant(value, 0) && !DependsOnData(pointer, mask)) {
      why = absl::StrCat("the stored value ", tree_.GetText(value), " is a constant");
    }
    if (why.empty()) {
      ++real_stores_;
    } else if (constant_.empty()) {
      constant_ = why;
      facts_.store_line = text_.lines().LineAt(tree_[call.node].start);
    }
    if (values_of_stores_.races.contains(call.node) && facts_.race_line == 0) {
      facts_.race_line = text_.lines().LineAt(tree_[call.node].start);
    }
    const auto copy = values_of_stores_.copies.find(call.node);
    if (copy != values_of_stores_.copies.end()) {
      ++copies_;
      copied_.merge(PointersAt(copy->second));
    }
  }

  static constexpr size_t kByKeyword = 99;

  absl::string_view MethodName(const python::Call& call) const {
    if (!call.name.empty()) return LastPart(call.name);
    if (call.function == kNoNode || tree_.GetKind(call.function) != Kind::kAttribute) return "";
    const NodeId attribute = tree_.Child(call.function, Field::kAttribute);
    return attribute == kNoNode ? "" : tree_.GetText(attribute);
  }

  // Returns whether it calls a method of a value, and not a function of a module.
  bool IsMethod(const python::Call& call) const {
    if (call.function == kNoNode || tree_.GetKind(call.function) != Kind::kAttribute) return false;
    if (call.name.empty()) return true;
    const absl::string_view first = call.name.substr(0, call.name.find('.'));
    return values_.contains(first) || places_.contains(first);
  }

  void WriteAll() {
    for (size_t i = 0; i < facts_.parameters.size(); ++i) {
      if (facts_.parameters[i].pointer) facts_.written.insert(i);
    }
  }

  // Returns the parameters that an address leads to: those that are pointers if any is.
  std::set<size_t> PointersAt(NodeId address) const {
    std::set<size_t> found;
    absl::flat_hash_set<absl::string_view> seen;
    CollectPointers(address, seen, found, 0);
    std::set<size_t> pointers;
    for (const size_t place : found) {
      if (facts_.parameters[place].pointer) pointers.insert(place);
    }
    const bool told = absl::c_any_of(facts_.parameters, [](const auto& p) { return p.pointer; });
    return told ? pointers : found;
  }

  void CollectPointers(NodeId node, absl::flat_hash_set<absl::string_view>& seen,
                       std::set<size_t>& found, int depth) const {
    if (!Step(depth)) return;
    const Kind kind = tree_.GetKind(node);
    if (kind == Kind::kIdentifier) {
      const absl::string_view name = tree_.GetText(node);
      if (!seen.insert(name).second) return;
      if (const auto place = places_.find(name); place != places_.end())
        found.insert(place->second);
      const auto values = values_.find(name);
      if (values == values_.end()) return;
      for (const NodeId value : values->second) CollectPointers(value, seen, found, depth + 1);
      return;
    }
    if (kind == Kind::kCall) {
      const python::Call& call = text_.calls().At(node);
      // A loaded value is an index, not the address.
      if (python::GetMemoryAccess(MethodName(call)) == python::MemoryAccess::kLoad) return;
    }
    if (kind == Kind::kKeywordArgument || kind == Kind::kAttribute) {
      const NodeId inner =
          tree_.Child(node, kind == Kind::kAttribute ? Field::kObject : Field::kValue);
      if (inner != kNoNode) CollectPointers(inner, seen, found, depth + 1);
      return;
    }
    for (const NodeId part : Children(tree_, node)) CollectPointers(part, seen, found, depth + 1);
  }

  // Returns whether an address or a mask depends on what the kernel loads: a constant that is
  // stored there says something about that.
  bool DependsOnData(NodeId address, NodeId mask) const {
    absl::flat_hash_set<absl::string_view> seen;
    return LoadsData(address, seen, 0) || (mask != kNoNode && LoadsData(mask, seen, 0));
  }

  bool LoadsData(NodeId node, absl::flat_hash_set<absl::string_view>& seen, int depth) const {
    if (!Step(depth)) return false;
    const Kind kind = tree_.GetKind(node);
    if (kind == Kind::kCall && python::GetMemoryAccess(MethodName(text_.calls().At(node))) ==
                                   python::MemoryAccess::kLoad) {
      return true;
    }
    if (kind == Kind::kIdentifier) {
      const absl::string_view name = tree_.GetText(node);
      const auto values = values_.find(name);
      if (values == values_.end() || !seen.insert(name).second) return false;
      return absl::c_any_of(values->second,
                            [&](NodeId value) { return LoadsData(value, seen, depth + 1); });
    }
    return absl::c_any_of(Children(tree_, node),
                          [&](NodeId part) { return LoadsData(part, seen, depth + 1); });
  }

  // Returns whether the expression is the same whatever the kernel is given.
  bool IsConstant(NodeId node, int depth) const {
    if (!Step(depth)) return false;
    switch (tree_.GetKind(node)) {
      case Kind::kIdentifier:
        return IsConstantName(node, depth);
      case Kind::kCall:
        return IsConstantCall(node, depth);
      case Kind::kAttribute: {
        const NodeId object = tree_.Child(node, Field::kObject);
        return object != kNoNode && IsConstant(object, depth + 1);
      }
      case Kind::kBinaryOperator: {
        const NodeId left = tree_.Child(node, Field::kLeft);
        const NodeId right = tree_.Child(node, Field::kRight);
        const NodeId sign = tree_.Child(node, Field::kOperator);
        if (left == kNoNode || right == kNoNode || sign == kNoNode) return false;
        const absl::string_view by = tree_.GetText(sign);
        const bool zero = IsNumber(tree_.GetText(left), 0) || IsNumber(tree_.GetText(right), 0);
        if ((by == "*" || by == "&") && zero) return true;
        if ((by == "-" || by == "^") && tree_.GetText(left) == tree_.GetText(right)) return true;
        return IsConstant(left, depth + 1) && IsConstant(right, depth + 1);
      }
      default:
        return absl::c_all_of(Children(tree_, node),
                              [&](NodeId part) { return IsConstant(part, depth + 1); });
    }
  }

  // A name of the module is the same for every launch.
  bool IsConstantName(NodeId node, int depth) const {
    const absl::string_view name = tree_.GetText(node);
    if (pending_.contains(name)) return true;
    if (places_.contains(name) || loops_.contains(name) || varied_.contains(name)) return false;
    const auto values = values_.find(name);
    if (values == values_.end()) return true;
    const bool told =
        values->second.size() > 1 &&
        absl::c_any_of(values->second, [&](NodeId value) { return IsInCondition(value); });
    if (told) return false;
    pending_.insert(name);
    const bool constant =
        absl::c_all_of(values->second, [&](NodeId value) { return IsConstant(value, depth + 1); });
    pending_.erase(name);
    return constant;
  }

  bool IsInCondition(NodeId node) const {
    for (NodeId at = node; at != body_ && at != kNoNode; at = tree_[at].parent) {
      if (tree_.GetKind(at) == Kind::kIfStatement) return true;
    }
    return false;
  }

  // tl.zeros and tl.full are constant whatever shape they have.
  bool IsConstantCall(NodeId node, int depth) const {
    const python::Call& call = text_.calls().At(node);
    const python::Arguments arguments = python::GetArguments(tree_, node);
    const absl::string_view function = MethodName(call);
    if (function == "zeros" || function == "zeros_like") return true;
    if (function == "full" || function == "full_like") {
      const NodeId value =
          python::FindArgument(arguments, function == "full" ? "value" : "fill_value", 1);
      return value != kNoNode && IsConstant(value, depth + 1);
    }
    if (function == "arange" || function == "program_id" || function == "num_programs" ||
        absl::StartsWith(function, "rand") || function == "philox" ||
        python::GetMemoryAccess(function) != python::MemoryAccess::kNone) {
      return false;
    }
    if (call.name.empty() || !absl::StrContains(call.name, ".")) {
      const bool helper = absl::c_any_of(
          kernels_, [&](const auto& entry) { return entry.second.name == call.name; });
      if (helper || call.name.empty()) return false;
    }
    if (IsMethod(call) && !IsConstant(tree_.Child(call.function, Field::kObject), depth + 1)) {
      return false;
    }
    const bool shapes = function == "to" || function == "cast" || function == "broadcast_to" ||
                        function == "reshape" || function == "view" || function == "expand_dims";
    if (shapes) {
      return IsMethod(call) || (!arguments.empty() && IsConstant(arguments[0].value, depth + 1));
    }
    return absl::c_all_of(arguments, [&](const python::Argument& argument) {
      return IsConstant(argument.value, depth + 1);
    });
  }

  // Returns whether a mask or a condition can never be true.
  bool IsNever(NodeId node, int depth) const {
    node = tree_.StripParentheses(node);
    if (!Step(depth)) return false;
    const absl::string_view text = tree_.GetText(node);
    if (text == "False" || IsNumber(text, 0)) return true;
    switch (tree_.GetKind(node)) {
      case Kind::kIdentifier: {
        const auto values = values_.find(text);
        return values != values_.end() && !loops_.contains(text) && !augmented_.contains(text) &&
               absl::c_all_of(values->second,
                              [&](NodeId value) { return IsNever(value, depth + 1); });
      }
      case Kind::kComparisonOperator:
        return IsNeverComparison(node);
      case Kind::kBinaryOperator:
      case Kind::kOther: {  // `and`
        const NodeId left = tree_.Child(node, Field::kLeft);
        const NodeId right = tree_.Child(node, Field::kRight);
        const NodeId sign = tree_.Child(node, Field::kOperator);
        if (left == kNoNode || right == kNoNode || sign == kNoNode) return false;
        const absl::string_view by = tree_.GetText(sign);
        if (by == "&" || by == "and") {
          return IsNever(left, depth + 1) || IsNever(right, depth + 1) || Exclude(left, right);
        }
        return (by == "|" || by == "or") && IsNever(left, depth + 1) && IsNever(right, depth + 1);
      }
      case Kind::kCall:
        return absl::EndsWith(MethodName(text_.calls().At(node)), "zeros");
      default:
        return false;
    }
  }

  struct Comparison {
    NodeId left = kNoNode;
    NodeId right = kNoNode;
    absl::string_view sign;
  };

  std::optional<Comparison> ReadComparison(NodeId node) const {
    node = tree_.StripParentheses(node);
    if (tree_.GetKind(node) != Kind::kComparisonOperator) return std::nullopt;
    const std::vector<NodeId> parts = Children(tree_, node);
    if (parts.size() != 2) return std::nullopt;
    for (NodeId at = tree_.NextSibling(parts[0]); at != parts[1]; at = tree_.NextSibling(at)) {
      if (tree_.GetKind(at) == Kind::kToken)
        return Comparison{parts[0], parts[1], tree_.GetText(at)};
    }
    return std::nullopt;
  }

  bool IsNeverComparison(NodeId node) const {
    const std::optional<Comparison> c = ReadComparison(node);
    if (!c.has_value()) return false;
    const bool same = tree_.GetText(c->left) == tree_.GetText(c->right);
    if (same && (c->sign == "<" || c->sign == ">" || c->sign == "!=")) return true;
    if (c->sign == "<" && IsNumber(tree_.GetText(c->right), 0)) return IsNatural(c->left, 0);
    return c->sign == ">" && IsNumber(tree_.GetText(c->left), 0) && IsNatural(c->right, 0);
  }

  // a < n and a >= n.
  bool Exclude(NodeId a, NodeId b) const {
    const std::optional<Comparison> first = ReadComparison(a);
    const std::optional<Comparison> second = ReadComparison(b);
    if (!first.has_value() || !second.has_value()) return false;
    if (tree_.GetText(first->left) != tree_.GetText(second->left) ||
        tree_.GetText(first->right) != tree_.GetText(second->right)) {
      return false;
    }
    const std::pair<absl::string_view, absl::string_view> signs(first->sign, second->sign);
    using Signs = std::pair<absl::string_view, absl::string_view>;
    return signs == Signs("<", ">=") || signs == Signs(">=", "<") || signs == Signs(">", "<=") ||
           signs == Signs("<=", ">") || signs == Signs("<", ">") || signs == Signs(">", "<");
  }

  // Returns whether a number is never below 0: an index.
  bool IsNatural(NodeId node, int depth) const {
    node = tree_.StripParentheses(node);
    if (!Step(depth)) return false;
    const absl::string_view text = tree_.GetText(node);
    double number = 0;
    if (absl::SimpleAtod(text, &number)) return number >= 0;
    if (tree_.GetKind(node) == Kind::kIdentifier) {
      // A constexpr in an index is a size.
      const auto place = places_.find(text);
      if (place != places_.end()) return constexprs_.contains(text);
      const auto values = values_.find(text);
      return values != values_.end() && !augmented_.contains(text) && !loops_.contains(text) &&
             absl::c_all_of(values->second,
                            [&](NodeId value) { return IsNatural(value, depth + 1); });
    }
    if (tree_.GetKind(node) == Kind::kCall) {
      const absl::string_view function = MethodName(text_.calls().At(node));
      return function == "arange" || function == "program_id" || function == "num_programs";
    }
    if (tree_.GetKind(node) == Kind::kSubscript) {
      return IsNatural(tree_.Child(node, Field::kValue), depth + 1);
    }
    if (tree_.GetKind(node) != Kind::kBinaryOperator) return false;
    const NodeId left = tree_.Child(node, Field::kLeft);
    const NodeId right = tree_.Child(node, Field::kRight);
    const NodeId sign = tree_.Child(node, Field::kOperator);
    if (left == kNoNode || right == kNoNode || sign == kNoNode || tree_.GetText(sign) == "-") {
      return false;
    }
    return IsNatural(left, depth + 1) && IsNatural(right, depth + 1);
  }

  // Returns whether a statement is in the body of an `if` whose condition is never true, or after a
  // return of the same block.
  bool IsUnreachable(NodeId node) const {
    for (NodeId at = node; at != body_ && at != kNoNode; at = tree_[at].parent) {
      const NodeId around = tree_[at].parent;
      if (around == kNoNode) return false;
      if (tree_.GetKind(around) == Kind::kBlock) {
        for (const NodeId before : Children(tree_, around)) {
          if (before == at) break;
          if (tree_.GetKind(before) == Kind::kReturnStatement) return true;
        }
      }
      const bool head = tree_.GetKind(around) == Kind::kIfStatement;
      if (!head || tree_.GetKind(at) != Kind::kBlock) continue;
      const std::vector<NodeId> parts = Children(tree_, around);
      if (!parts.empty() && parts[0] != at && IsNever(parts[0], 0)) return true;
    }
    return false;
  }

  // Bounds the depth of a search and the work of all: a name may be used twice by each of many.
  bool Step(int depth) const { return depth <= kMaxDepth && --steps_ > 0; }

  const python::ParsedText& text_;
  const SyntaxTree& tree_;
  KernelFacts& facts_;
  const std::map<NodeId, KernelFacts>& kernels_;
  NodeId body_ = kNoNode;
  absl::flat_hash_map<absl::string_view, size_t> places_;
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>> values_;
  absl::flat_hash_set<absl::string_view> augmented_;
  absl::flat_hash_set<absl::string_view> loops_;
  absl::flat_hash_set<absl::string_view> varied_;
  absl::flat_hash_set<absl::string_view> constexprs_;
  mutable absl::flat_hash_set<absl::string_view> pending_;
  mutable int steps_ = 100'000;
  int stores_ = 0;
  int real_stores_ = 0;
  int copies_ = 0;
  bool unknown_write_ = false;  // to memory that no parameter is seen to lead to
  bool other_writes_ = false;   // by functions that are not read here
  std::string constant_;
  StoredValues values_of_stores_;
  std::set<size_t> copied_;
};

// Returns the definition of a kernel: the function of its name whose first decorator, or which
// itself, is at its first line.
NodeId FindDefinition(const python::ParsedText& text, const v1::Kernel& kernel) {
  const SyntaxTree& tree = text.tree();
  for (const NodeId node : tree.Of(Kind::kFunctionDefinition)) {
    const NodeId name = tree.Child(node, Field::kName);
    if (name == kNoNode || tree.GetText(name) != kernel.name()) continue;
    const NodeId parent = tree[node].parent;
    const NodeId first = tree.GetKind(parent) == Kind::kDecoratedDefinition ? parent : node;
    if (text.lines().LineAt(tree[first].start) == kernel.first_line()) return node;
  }
  return kNoNode;
}

// Returns whether a decorator gives a kernel none of its arguments but those that the extractor
// lists.
bool IsKnownDecorator(absl::string_view decorator) {
  const absl::string_view name = LastPart(decorator.substr(0, decorator.find('(')));
  return name == "jit" || name == "autotune" || name == "heuristics" ||
         name == "constexpr_function";
}

void ReadParameters(const python::ParsedText& text, const v1::Kernel& kernel, KernelFacts* facts) {
  const SyntaxTree& tree = text.tree();
  const NodeId parameters = tree.Child(facts->definition, Field::kParameters);
  if (parameters == kNoNode) return;
  for (const NodeId node : Children(tree, parameters)) {
    const NodeId name = python::ParameterName(tree, node);
    if (name == kNoNode) continue;
    const absl::string_view written = tree.GetText(node);
    if (absl::StartsWith(written, "*")) {
      facts->takes_more = true;
      continue;
    }
    KernelFacts::Parameter& added = facts->parameters.emplace_back();
    added.name = std::string(tree.GetText(name));
    added.has_default = tree.Child(node, Field::kValue) != kNoNode;
    const auto role = absl::c_find_if(kernel.parameters(), [&](const v1::Parameter& parameter) {
      return parameter.name() == added.name;
    });
    if (role == kernel.parameters().end()) continue;
    added.pointer = role->role() == v1::PARAMETER_ROLE_POINTER;
    added.stride = role->role() == v1::PARAMETER_ROLE_STRIDE;
    added.constant = role->role() == v1::PARAMETER_ROLE_CONSTEXPR;
  }
}

void ReadGiven(const v1::Kernel& kernel, KernelFacts* facts) {
  for (const v1::Autotune::Config& config : kernel.autotune().configs()) {
    for (const v1::NamedText& entry : config.kwargs()) facts->configured.insert(entry.name());
    for (const v1::NamedText& entry : config.options()) facts->given.insert(entry.name());
  }
  facts->given.insert(facts->configured.begin(), facts->configured.end());
  for (const std::string& name : kernel.heuristics().names()) facts->given.insert(name);
  facts->wrapped = !absl::c_all_of(kernel.decorators(), IsKnownDecorator);
  facts->any_given = (kernel.has_autotune() && !kernel.autotune().resolved()) ||
                     kernel.heuristics().expressions_size() > 0 || facts->wrapped;
}

}  // namespace

// Helpers may be defined below their callers, so that a kernel is read again after those it calls.
std::map<NodeId, KernelFacts> ReadKernels(const python::ParsedText& text,
                                          const v1::KernelShard& kernels) {
  std::map<NodeId, KernelFacts> read;
  for (const v1::Kernel& kernel : kernels.kernels()) {
    if (!dsl::CompilesAsTriton(kernel.dsl()) || kernel.string_begin() != 0) continue;
    const NodeId definition = FindDefinition(text, kernel);
    if (definition == kNoNode) continue;
    KernelFacts& facts = read[definition];
    facts.name = kernel.name();
    facts.definition = definition;
    facts.device = kernel.role() == v1::KERNEL_ROLE_DEVICE;
    ReadParameters(text, kernel, &facts);
    ReadGiven(kernel, &facts);
  }
  constexpr int kRounds = 3;  // calls of helpers in one another that are followed
  for (int round = 0; round < kRounds; ++round) {
    for (auto& [definition, facts] : read) BodyReader(text, facts, read).Read();
  }
  return read;
}

}  // namespace kernelmill::client
