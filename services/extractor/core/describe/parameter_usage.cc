#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "common/base/text.h"
#include "services/extractor/core/describe/parameters.h"

namespace kernelmill::extractor {
namespace {

// Addresses of more parts are not searched to their end: a hostile file could have each stand in
// the next.
constexpr int kMaxParts = 256;

uint32_t Bit(Usage usage) { return 1u << static_cast<uint32_t>(usage); }

// The name that an expression is, but for parentheses and subscripts: x, (x), x[:, None].
absl::string_view BareName(const SyntaxTree& tree, NodeId node) {
  node = tree.StripParentheses(node);
  while (tree.KindOf(node) == Kind::kSubscript) {
    const NodeId value = tree.Child(node, Field::kValue);
    if (value == kNoNode) return "";
    node = tree.StripParentheses(value);
  }
  return tree.KindOf(node) == Kind::kIdentifier ? tree.TextOf(node) : "";
}

using Nodes = absl::InlinedVector<NodeId, 8>;

Nodes Operands(const SyntaxTree& tree, NodeId node) {
  Nodes operands;
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (!IsLayout(tree.KindOf(child))) operands.push_back(child);
  }
  return operands;
}

// Whether a comparison is one by order.
bool Orders(const SyntaxTree& tree, NodeId comparison) {
  for (NodeId child = tree.FirstChild(comparison); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (tree.KindOf(child) != Kind::kToken) continue;
    const absl::string_view token = tree.TextOf(child);
    if (token == "<" || token == ">" || token == "<=" || token == ">=") return true;
  }
  return false;
}

bool IsSum(const SyntaxTree& tree, NodeId node) {
  const NodeId sign = tree.Child(node, Field::kOperator);
  return sign != kNoNode && (tree.TextOf(sign) == "+" || tree.TextOf(sign) == "-");
}

bool Accesses(absl::string_view function) {
  return function == "load" || function == "store" || absl::EndsWith(function, "_load") ||
         absl::EndsWith(function, "_store") || absl::StrContains(function, "atomic_") ||
         absl::StartsWith(function, "async_copy") || absl::EndsWith(function, "load_to_shared");
}

bool MakesDescriptor(absl::string_view function) {
  return function == "make_block_ptr" || absl::EndsWith(function, "make_tensor_descriptor");
}

// Whether a function hands on its first argument, as an address where that is one.
bool HandsOn(absl::string_view function) {
  static constexpr absl::string_view kNames[] = {
      "advance",       "broadcast_to",   "cast",       "make_block_ptr",
      "max_constancy", "max_contiguous", "multiple_of"};
  return std::find(std::begin(kNames), std::end(kNames), function) != std::end(kNames);
}

bool IsList(Kind kind) {
  return kind == Kind::kPatternList || kind == Kind::kTuplePattern ||
         kind == Kind::kExpressionList || kind == Kind::kTuple;
}

bool IsRange(absl::string_view called) {
  return called == "range" || absl::EndsWith(called, "_range");
}

bool Matters(Kind kind) {
  return kind == Kind::kIdentifier || kind == Kind::kCall || kind == Kind::kAssignment ||
         kind == Kind::kAugmentedAssignment || kind == Kind::kForStatement;
}

// Which expressions of a subtree are indices: those that program_id, arange or the variable of a
// loop over a range is in, directly or through names assigned above; not what is loaded by one,
// but what a load is given.
class IndexNames {
 public:
  // One walk over the subtree.
  IndexNames(const SyntaxTree& tree, const Calls& calls, NodeId root);

  // `node` is in the subtree.
  bool IsIndex(NodeId node) const;

 private:
  struct Assignment {
    NodeId target;
    NodeId value;
  };

  // What is an index by itself.
  struct Source {
    NodeId node;
    uint32_t outside_loads;  // so many are in no load, up to this one
  };

  // From a load to the end of what stands below it.
  struct Load {
    NodeId node;
    NodeId end;
  };

  void Enter(NodeId node);
  void EnterCall(const Call& call);
  void AddSource(NodeId node);
  bool IsInLoad(NodeId node) const;
  uint32_t OutsideLoads(std::span<const Source> sources) const {
    return sources.empty() ? 0 : sources.back().outside_loads;
  }
  void AddNames(NodeId target);

  const SyntaxTree& tree_;
  const Calls& calls_;
  std::vector<Source> sources_;  // by node
  std::vector<Load> loads_;      // by node; those in others left out
  absl::flat_hash_set<absl::string_view> names_;
  std::vector<Assignment> open_;  // whose value the walk is in
};

IndexNames::IndexNames(const SyntaxTree& tree, const Calls& calls, NodeId root)
    : tree_(tree), calls_(calls) {
  auto call = calls.In(root).begin();
  for (NodeId node = root; node < tree[root].subtree_end; ++node) {
    if (!Matters(tree.KindOf(node))) continue;
    while (!open_.empty() && tree[open_.back().value].subtree_end <= node) {
      if (IsIndex(open_.back().value)) AddNames(open_.back().target);
      open_.pop_back();
    }
    if (tree.KindOf(node) == Kind::kCall) {
      EnterCall(*call++);
    } else {
      Enter(node);
    }
  }
}

bool IndexNames::IsIndex(NodeId node) const {
  const auto before = [](const Source& source, NodeId at) { return source.node < at; };
  const auto first = std::lower_bound(sources_.begin(), sources_.end(), node, before);
  const auto last = std::lower_bound(first, sources_.end(), tree_[node].subtree_end, before);
  if (first == last) return false;
  return IsInLoad(node) ||
         OutsideLoads({sources_.begin(), last}) > OutsideLoads({sources_.begin(), first});
}

bool IndexNames::IsInLoad(NodeId node) const {
  const auto below = std::lower_bound(loads_.begin(), loads_.end(), node,
                                      [](const Load& load, NodeId at) { return load.node < at; });
  return below != loads_.begin() && node < std::prev(below)->end;
}

void IndexNames::EnterCall(const Call& call) {
  const absl::string_view called = LastPart(call.name);
  if (called == "program_id" || called == "arange") AddSource(call.node);
  const bool outermost = loads_.empty() || loads_.back().end <= call.node;
  if (outermost && absl::EndsWith(called, "load")) {
    loads_.push_back({call.node, tree_[call.node].subtree_end});
  }
}

void IndexNames::AddSource(NodeId node) {
  sources_.push_back({node, OutsideLoads(sources_) + (IsInLoad(node) ? 0 : 1)});
}

void IndexNames::Enter(NodeId node) {
  switch (tree_.KindOf(node)) {
    case Kind::kIdentifier:
      if (names_.contains(tree_.TextOf(node))) AddSource(node);
      return;
    case Kind::kAssignment:
    case Kind::kAugmentedAssignment: {
      const NodeId left = tree_.Child(node, Field::kLeft);
      const NodeId right = tree_.Child(node, Field::kRight);
      if (left != kNoNode && right != kNoNode) open_.push_back({left, right});
      return;
    }
    case Kind::kForStatement: {
      const NodeId left = tree_.Child(node, Field::kLeft);
      const NodeId right = tree_.Child(node, Field::kRight);
      if (left == kNoNode || right == kNoNode || tree_.KindOf(right) != Kind::kCall) return;
      if (IsRange(LastPart(calls_.At(right).name))) AddNames(left);
      return;
    }
    default:
      return;
  }
}

void IndexNames::AddNames(NodeId target) {
  NodeId node = target;
  while (node < tree_[target].subtree_end) {
    const Kind kind = tree_.KindOf(node);
    if (kind == Kind::kIdentifier) names_.insert(tree_.TextOf(node));
    const bool is_place = kind == Kind::kSubscript || kind == Kind::kAttribute;
    node = is_place ? tree_[node].subtree_end : node + 1;
  }
}

}  // namespace

ParameterUsage::ParameterUsage(const SyntaxTree& tree, const Calls& calls, NodeId definition,
                               const std::vector<absl::string_view>& parameters)
    : tree_(tree), calls_(calls), body_(tree.Child(definition, Field::kBody)) {
  parameters_.reserve(parameters.size());
  for (const absl::string_view parameter : parameters) parameters_[parameter] = 0;
  if (body_ == kNoNode) return;
  values_.reserve(tree.Of(Kind::kAssignment, body_).size());
  // Names and numbers first: what a call is given is read by them.
  for (const Kind kind : {Kind::kAssignment, Kind::kNamedExpression}) {
    for (const NodeId node : tree.Of(kind, body_)) VisitAssignment(node);
  }
  for (const Kind kind : {Kind::kBinaryOperator, Kind::kComparisonOperator}) {
    for (const NodeId node : tree.Of(kind, body_)) VisitOperator(node);
  }
  for (const Call& call : calls.In(body_)) VisitCall(call);
  FollowAddresses();
  MarkRegions();
}

bool ParameterUsage::Has(absl::string_view parameter, Usage usage) const {
  const auto found = parameters_.find(parameter);
  return found != parameters_.end() && (found->second & Bit(usage)) != 0;
}

void ParameterUsage::VisitAssignment(NodeId node) {
  const bool is_named = tree_.KindOf(node) == Kind::kNamedExpression;
  const NodeId target = tree_.Child(node, is_named ? Field::kName : Field::kLeft);
  const NodeId value = tree_.Child(node, is_named ? Field::kValue : Field::kRight);
  if (target == kNoNode || value == kNoNode) return;
  if (!IsList(tree_.KindOf(target)) || !IsList(tree_.KindOf(value))) {
    AddValue(target, value);
    return;
  }
  const Nodes targets = Operands(tree_, target);
  const Nodes values = Operands(tree_, value);
  if (targets.size() != values.size()) return;
  for (size_t i = 0; i < targets.size(); ++i) AddValue(targets[i], values[i]);
}

void ParameterUsage::AddValue(NodeId target, NodeId value) {
  if (tree_.KindOf(target) != Kind::kIdentifier) return;
  auto& values = values_[tree_.TextOf(target)];
  // Of a conditional expression either branch.
  for (value = tree_.StripParentheses(value);
       tree_.KindOf(value) == Kind::kConditionalExpression;) {
    const Nodes parts = Operands(tree_, value);
    if (parts.size() != 3) return;
    values.push_back(parts.front());
    value = tree_.StripParentheses(parts.back());
  }
  values.push_back(value);
}

void ParameterUsage::VisitOperator(NodeId node) {
  const bool is_comparison = tree_.KindOf(node) == Kind::kComparisonOperator;
  if (is_comparison ? !Orders(tree_, node) : IsSum(tree_, node)) return;
  for (const NodeId operand : Operands(tree_, node)) {
    const absl::string_view name = BareName(tree_, operand);
    if (!name.empty()) numbers_.insert(name);
  }
}

void ParameterUsage::VisitCall(const Call& call) {
  const absl::string_view function = LastPart(call.name);
  if (function == "cdiv") {
    regions_.push_back({call.node, Usage::kCdiv});
  } else if (function == "range" || absl::EndsWith(function, "_range")) {
    regions_.push_back({call.node, Usage::kRange});
  } else if (Accesses(function) || MakesDescriptor(function)) {
    VisitMemoryCall(call);
  }
}

void ParameterUsage::VisitMemoryCall(const Call& call) {
  const absl::string_view head = call.name.substr(0, call.name.find('.'));
  if (head != call.name && IsBound(head)) {  // a method, as of a descriptor
    Mark(head, Usage::kDescriptor);
    addresses_.push_back(call.function);
    return;
  }
  const Arguments arguments = ArgumentsOf(tree_, call.node);
  const bool makes = MakesDescriptor(LastPart(call.name));
  if (!makes) {
    AddAddresses(LastPart(call.name), arguments);
    return;
  }
  AddAddress(FindArgument(arguments, "base", 0));
  const NodeId shape = FindArgument(arguments, "shape", 1);
  const NodeId strides = FindArgument(arguments, "strides", 2);
  if (shape != kNoNode) regions_.push_back({shape, Usage::kShape});
  if (strides != kNoNode) regions_.push_back({strides, Usage::kStrides});
}

// Gluon's stores take the value first, and its copies the memory of either side.
void ParameterUsage::AddAddresses(absl::string_view function, const Arguments& arguments) {
  const bool copies = absl::StrContains(function, "copy") || absl::EndsWith(function, "_to_shared");
  const bool is_second = function == "buffer_store" || absl::StartsWith(function, "buffer_atomic");
  for (const Argument& argument : arguments) {
    if (argument.keyword == "pointer" || argument.keyword == "ptr") AddAddress(argument.value);
  }
  if (!is_second) AddAddress(FindArgument(arguments, "", 0));
  if (is_second || copies) AddAddress(FindArgument(arguments, "", 1));
}

void ParameterUsage::AddAddress(NodeId expression) {
  if (expression != kNoNode) addresses_.push_back(expression);
}

void ParameterUsage::FollowAddresses() {
  absl::flat_hash_set<absl::string_view> followed;
  while (!addresses_.empty()) {
    const absl::string_view name = PointerIn(addresses_.back());
    addresses_.pop_back();
    if (name.empty() || !followed.insert(name).second) continue;
    Mark(name, Usage::kAddress);
    const auto values = values_.find(name);
    if (values == values_.end()) continue;
    addresses_.insert(addresses_.end(), values->second.begin(), values->second.end());
  }
}

// The leftmost name of a sum that may be an address; empty if there is none.
absl::string_view ParameterUsage::PointerIn(NodeId expression) const {
  std::vector<NodeId> pending = {expression};
  const auto look_at = [&](NodeId node) {
    if (node != kNoNode) pending.push_back(node);
  };
  for (int parts = 0; !pending.empty() && parts < kMaxParts; ++parts) {
    const NodeId node = tree_.StripParentheses(pending.back());
    pending.pop_back();
    switch (tree_.KindOf(node)) {
      case Kind::kIdentifier: {
        const absl::string_view name = tree_.TextOf(node);
        if (IsBound(name) && !numbers_.contains(name)) return name;
        break;
      }
      case Kind::kBinaryOperator:
        if (!IsSum(tree_, node)) break;
        look_at(tree_.Child(node, Field::kRight));
        look_at(tree_.Child(node, Field::kLeft));
        break;
      case Kind::kSubscript:
        look_at(tree_.Child(node, Field::kValue));
        break;
      case Kind::kAttribute:
        look_at(tree_.Child(node, Field::kObject));
        break;
      case Kind::kCall:
        if (const Call& call = calls_.At(node); HandsOn(LastPart(call.name))) {
          look_at(FindArgument(ArgumentsOf(tree_, node), "base", 0));
        } else {
          look_at(call.function);  // x.to(...)
        }
        break;
      default:
        break;
    }
  }
  return "";
}

// Regions may lie in one another, or be the same: each node is looked at once for a usage.
void ParameterUsage::MarkRegions() {
  const IndexNames indices(tree_, calls_, body_);
  for (const NodeId node : tree_.Of(Kind::kComparisonOperator, body_)) {
    if (!Orders(tree_, node)) continue;
    const Nodes operands = Operands(tree_, node);
    const bool any = std::any_of(operands.begin(), operands.end(),
                                 [&](NodeId operand) { return indices.IsIndex(operand); });
    if (!any) continue;
    for (const NodeId operand : operands) {
      if (!indices.IsIndex(operand)) regions_.push_back({operand, Usage::kCompared});
    }
  }
  std::sort(regions_.begin(), regions_.end(),
            [](const Region& a, const Region& b) { return a.root < b.root; });
  std::array<NodeId, static_cast<size_t>(Usage::kCompared) + 1> done{};
  for (const Region& region : regions_) {
    NodeId& next = done[static_cast<size_t>(region.usage)];
    const NodeId end = tree_[region.root].subtree_end;
    for (next = std::max(next, region.root); next < end; ++next) {
      const Field field = tree_[next].field;
      const bool is_name = tree_.KindOf(next) == Kind::kIdentifier && field != Field::kAttribute &&
                           field != Field::kName;
      if (is_name) Mark(tree_.TextOf(next), region.usage);
    }
  }
}

void ParameterUsage::Mark(absl::string_view name, Usage usage) {
  const auto found = parameters_.find(name);
  if (found != parameters_.end()) found->second |= Bit(usage);
}

bool ParameterUsage::IsBound(absl::string_view name) const {
  return parameters_.contains(name) || values_.contains(name);
}

}  // namespace kernelmill::extractor
