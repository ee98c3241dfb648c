#include "common/python/usage/parameter_places.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "common/python/usage/triton_calls.h"

namespace kernelmill::python {

// How the names are found:
//
// 1. Assignments give each local name its values, and the places at which it gets a new one.
//    Operators tell which names are numbers.
// 2. Calls that access memory give addresses. Calls that take sizes, masks and divisions by an
//    index give regions: subtrees in which every name counts.
// 3. Addresses are followed to their pointers, through the values of local names. Regions are read
//    once for each rule.

namespace {

bool Matters(Kind kind) {
  return kind == Kind::kIdentifier || kind == Kind::kCall || kind == Kind::kAssignment ||
         kind == Kind::kAugmentedAssignment || kind == Kind::kForStatement;
}

// The expressions of a subtree that are indices: those that contain program_id, arange or the
// variable of a loop over a range, directly or through names assigned above. A value that is loaded
// or drawn at random by an index is not one; the address of the load is. Immutable; refers to the
// tree.
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

  // A node that is an index by itself.
  struct Source {
    NodeId node;
    uint32_t outside_loads;  // so many are in no load, up to this one
  };

  // A load and the end of its subtree.
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
  std::vector<Assignment> open_;  // the assignments whose value the walk is in
};

// An assignment makes its target an index once the walk has left the value, so that x = x + 1 reads
// the old x.
IndexNames::IndexNames(const SyntaxTree& tree, const Calls& calls, NodeId root)
    : tree_(tree), calls_(calls) {
  auto call = calls.In(root).begin();
  for (NodeId node = root; node < tree[root].subtree_end; ++node) {
    if (!Matters(tree.GetKind(node))) continue;
    while (!open_.empty() && tree[open_.back().value].subtree_end <= node) {
      if (IsIndex(open_.back().value)) AddNames(open_.back().target);
      open_.pop_back();
    }
    if (tree.GetKind(node) == Kind::kCall) {
      EnterCall(*call++);
    } else {
      Enter(node);
    }
  }
}

// Sources inside a load do not count, unless `node` itself is inside it: there it is part of an
// address. Both are counts up to a place, so that no subtree is walked twice.
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
  // Random numbers are drawn by an index as well.
  const bool reads = absl::EndsWith(called, "load") || absl::StartsWith(called, "rand");
  if (outermost && reads) {
    loads_.push_back({call.node, tree_[call.node].subtree_end});
  }
}

void IndexNames::AddSource(NodeId node) {
  sources_.push_back({node, OutsideLoads(sources_) + (IsInLoad(node) ? 0 : 1)});
}

// An identifier that is an index name is a source. An assignment is kept open until the walk leaves
// its value. A loop over a range makes its variables index names at once.
void IndexNames::Enter(NodeId node) {
  switch (tree_.GetKind(node)) {
    case Kind::kIdentifier:
      if (names_.contains(tree_.GetText(node))) AddSource(node);
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
      if (left == kNoNode || right == kNoNode || tree_.GetKind(right) != Kind::kCall) return;
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
    const Kind kind = tree_.GetKind(node);
    if (kind == Kind::kIdentifier) names_.insert(tree_.GetText(node));
    // x[i] = v and x.a = v assign to no name.
    const bool is_place = kind == Kind::kSubscript || kind == Kind::kAttribute;
    node = is_place ? tree_[node].subtree_end : node + 1;
  }
}

// Longer addresses are not searched to their end: a hostile file could nest each in the next.
constexpr int kMaxParts = 256;

uint32_t Bit(UsageRule rule) { return 1u << static_cast<uint32_t>(rule); }

// Returns the name that an expression is, without parentheses and subscripts: x, (x), x[:, None];
// kNoNode for any other.
NodeId BareName(const SyntaxTree& tree, NodeId node) {
  node = tree.StripParentheses(node);
  while (tree.GetKind(node) == Kind::kSubscript) {
    const NodeId value = tree.Child(node, Field::kValue);
    if (value == kNoNode) return kNoNode;
    node = tree.StripParentheses(value);
  }
  return tree.GetKind(node) == Kind::kIdentifier ? node : kNoNode;
}

using Nodes = absl::InlinedVector<NodeId, 8>;

Nodes Operands(const SyntaxTree& tree, NodeId node) {
  Nodes operands;
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (!IsLayout(tree.GetKind(child))) operands.push_back(child);
  }
  return operands;
}

// Returns whether a comparison is by order.
bool Orders(const SyntaxTree& tree, NodeId comparison) {
  for (NodeId child = tree.FirstChild(comparison); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (tree.GetKind(child) != Kind::kToken) continue;
    const absl::string_view token = tree.GetText(child);
    if (token == "<" || token == ">" || token == "<=" || token == ">=") return true;
  }
  return false;
}

absl::string_view GetSign(const SyntaxTree& tree, NodeId node) {
  const NodeId sign = tree.Child(node, Field::kOperator);
  return sign == kNoNode ? "" : tree.GetText(sign);
}

bool IsSum(const SyntaxTree& tree, NodeId node) {
  const absl::string_view sign = GetSign(tree, node);
  return sign == "+" || sign == "-";
}

// Returns whether something in it gets more dimensions: x[:, None].
bool IsSpread(const SyntaxTree& tree, NodeId root) {
  const auto none = tree.Of(Kind::kNoneLiteral, root);
  return std::any_of(none.begin(), none.end(), [&](NodeId node) {
    return tree.GetKind(tree[node].parent) == Kind::kSubscript;
  });
}

bool IsList(Kind kind) {
  return kind == Kind::kPatternList || kind == Kind::kTuplePattern ||
         kind == Kind::kExpressionList || kind == Kind::kTuple;
}

}  // namespace

// Three passes over the nodes of the body: the values of local names and which names are numbers;
// the addresses and regions of calls; last the names that addresses begin with and those inside
// regions.
ParameterPlaces::ParameterPlaces(const Kernel& kernel)
    : tree_(kernel.tree),
      calls_(kernel.calls),
      body_(tree_.Child(kernel.definition, Field::kBody)) {
  parameters_.reserve(kernel.parameters.size());
  for (const absl::string_view parameter : kernel.parameters) parameters_[parameter] = 0;
  if (body_ == kNoNode) return;
  values_.reserve(tree_.Of(Kind::kAssignment, body_).size());
  // Names and numbers first: what a call is given is read by them.
  for (const Kind kind : {Kind::kAssignment, Kind::kNamedExpression}) {
    for (const NodeId node : tree_.Of(kind, body_)) VisitAssignment(node);
  }
  for (auto& [name, ends] : assigned_) std::sort(ends.begin(), ends.end());
  for (const Kind kind : {Kind::kBinaryOperator, Kind::kComparisonOperator}) {
    for (const NodeId node : tree_.Of(kind, body_)) VisitOperator(node);
  }
  for (const Call& call : calls_.In(body_)) VisitCall(call);
  if (kernel.is_pallas) VisitReferences();
  size_t steps = addresses_.size() + tree_.Of(Kind::kIdentifier, body_).size() + kMaxParts;
  const auto mark = [this](absl::string_view name) { Mark(name, UsageRule::kAddress); };
  FollowAddresses(addresses_, mark, steps);
  AddIndexRegions();
  MarkRegions();
}

bool ParameterPlaces::Has(absl::string_view parameter, UsageRule rule) const {
  const auto found = parameters_.find(parameter);
  return found != parameters_.end() && (found->second & Bit(rule)) != 0;
}

// a, b = x, y assigns one by one. If the value is no list, each name has a new value that is not
// known.
void ParameterPlaces::VisitAssignment(NodeId node) {
  const bool is_named = tree_.GetKind(node) == Kind::kNamedExpression;
  const NodeId target = tree_.Child(node, is_named ? Field::kName : Field::kLeft);
  const NodeId value = tree_.Child(node, is_named ? Field::kValue : Field::kRight);
  if (target == kNoNode || value == kNoNode) return;
  if (!IsList(tree_.GetKind(target))) return AddValue(target, value);
  if (!IsList(tree_.GetKind(value))) {
    // The values are not known.
    for (const NodeId name : tree_.Of(Kind::kIdentifier, target)) {
      assigned_[tree_.GetText(name)].push_back(tree_[value].subtree_end);
    }
    return;
  }
  const Nodes targets = Operands(tree_, target);
  const Nodes values = Operands(tree_, value);
  if (targets.size() != values.size()) return;
  for (size_t i = 0; i < targets.size(); ++i) AddValue(targets[i], values[i]);
}

// Values are listed for names only; an assignment to a part of a value changes no name.
void ParameterPlaces::AddValue(NodeId target, NodeId value) {
  if (tree_.GetKind(target) != Kind::kIdentifier) return;
  assigned_[tree_.GetText(target)].push_back(tree_[value].subtree_end);
  auto& values = values_[tree_.GetText(target)];
  // Both branches of a conditional expression.
  for (value = tree_.StripParentheses(value);
       tree_.GetKind(value) == Kind::kConditionalExpression;) {
    const Nodes parts = Operands(tree_, value);
    if (parts.size() != 3) return;
    values.push_back(parts.front());
    value = tree_.StripParentheses(parts.back());
  }
  values.push_back(value);
}

// A name that is multiplied or ordered is a number there, and no pointer.
void ParameterPlaces::VisitOperator(NodeId node) {
  const bool is_comparison = tree_.GetKind(node) == Kind::kComparisonOperator;
  if (is_comparison ? !Orders(tree_, node) : IsSum(tree_, node)) return;
  for (const NodeId operand : Operands(tree_, node)) {
    const NodeId name = BareName(tree_, operand);
    if (name != kNoNode) numbers_.insert(NameAt(name));
  }
}

// Memory calls give addresses; cdiv and loops give regions, in which every name counts.
void ParameterPlaces::VisitCall(const Call& call) {
  const absl::string_view function = LastPart(call.name);
  if (call.name.empty() && call.function != kNoNode) {
    // x.index(i).load(...)
    const NodeId method = tree_.Child(call.function, Field::kAttribute);
    if (method != kNoNode && Accesses(tree_.GetText(method))) {
      AddAddress(tree_.Child(call.function, Field::kObject));
    }
  } else if (function == "cdiv") {
    regions_.push_back({call.node, UsageRule::kCdiv});
  } else if (IsRange(function)) {
    regions_.push_back({call.node, UsageRule::kRange});
  } else if (Accesses(function) || MakesDescriptor(function)) {
    VisitMemoryCall(call);
  }
}

// x.load(...) of a parameter or local name is a method of it. tl.load(x, ...) is a function.
void ParameterPlaces::VisitMemoryCall(const Call& call) {
  const absl::string_view head = call.name.substr(0, call.name.find('.'));
  if (head != call.name && IsBound(head)) {
    // A method, as of a descriptor; not of a field of an object.
    const bool own = call.name.find('.', head.size() + 1) == absl::string_view::npos;
    if (!own) return;
    Mark(head, UsageRule::kDescriptor);
    AddAddress(tree_.Child(tree_.StripParentheses(call.function), Field::kObject));
    return;
  }
  const Arguments arguments = GetArguments(tree_, call.node);
  const bool makes = MakesDescriptor(LastPart(call.name));
  if (!makes) {
    AddAddresses(LastPart(call.name), arguments);
    return;
  }
  AddAddress(FindArgument(arguments, "base", 0));
  const NodeId shape = FindArgument(arguments, "shape", 1);
  const NodeId strides = FindArgument(arguments, "strides", 2);
  if (shape != kNoNode) regions_.push_back({shape, UsageRule::kShape});
  if (strides != kNoNode) regions_.push_back({strides, UsageRule::kStrides});
}

// Gluon's stores take the value first, and its copies the memory of either side.
void ParameterPlaces::AddAddresses(absl::string_view function, const Arguments& arguments) {
  const bool copies = absl::StrContains(function, "copy") || absl::EndsWith(function, "_to_shared");
  // buffer_store(value, pointer, ...)
  const bool is_second = function == "buffer_store" || absl::StartsWith(function, "buffer_atomic");
  for (const Argument& argument : arguments) {
    if (argument.keyword == "pointer" || argument.keyword == "ptr") AddAddress(argument.value);
  }
  if (!is_second) AddAddress(FindArgument(arguments, "", 0));
  if (is_second || copies) AddAddress(FindArgument(arguments, "", 1));
}

void ParameterPlaces::AddAddress(NodeId expression) {
  if (expression != kNoNode) addresses_.push_back(expression);
}

// Visits every name that one of the addresses begins with, and the names in the values of those.
template <typename Visit>
void ParameterPlaces::FollowAddresses(std::vector<NodeId> addresses, const Visit& visit,
                                      size_t& steps) const {
  absl::flat_hash_set<absl::string_view> followed;
  std::vector<absl::string_view> names;
  while (!addresses.empty() && steps > 0) {
    --steps;
    names.clear();
    PointersIn(addresses.back(), names);
    addresses.pop_back();
    for (const absl::string_view name : names) {
      if (!followed.insert(name).second) continue;
      visit(name);
      const auto values = values_.find(name);
      if (values == values_.end()) continue;
      addresses.insert(addresses.end(), values->second.begin(), values->second.end());
    }
  }
}

// Finds the leftmost name of a sum that may be an address; for several branches, of each.
void ParameterPlaces::PointersIn(NodeId expression, std::vector<absl::string_view>& found) const {
  // A branch is a stack of nodes that are tried one after another. The first name that may be a
  // pointer ends it.
  std::vector<std::vector<NodeId>> branches = {{expression}};
  int parts = 0;
  while (!branches.empty()) {
    std::vector<NodeId> pending = std::move(branches.back());
    branches.pop_back();
    const auto look_at = [&](NodeId node) {
      if (node != kNoNode) pending.push_back(node);
    };
    // One branch goes on with what else there is, the other is looked at for itself.
    const auto branch = [&](NodeId first, NodeId second) {
      look_at(first);
      if (second != kNoNode) branches.push_back({second});
    };
    while (!pending.empty() && parts++ < kMaxParts) {
      const NodeId node = tree_.StripParentheses(pending.back());
      pending.pop_back();
      switch (tree_.GetKind(node)) {
        case Kind::kIdentifier:
          if (IsBound(tree_.GetText(node)) && !numbers_.contains(NameAt(node))) {
            found.push_back(tree_.GetText(node));
            pending.clear();
          }
          break;
        case Kind::kBinaryOperator:
          if (!IsSum(tree_, node)) break;
          look_at(tree_.Child(node, Field::kRight));
          look_at(tree_.Child(node, Field::kLeft));
          break;
        case Kind::kSubscript:
          look_at(tree_.Child(node, Field::kValue));
          break;
        case Kind::kConditionalExpression:
          if (const Nodes operands = Operands(tree_, node); operands.size() == 3) {
            branch(operands.front(), operands.back());
          }
          break;
        case Kind::kCall: {
          const Call& call = calls_.At(node);
          const absl::string_view called = LastPart(call.name);
          if (called == "where") {
            const Arguments arguments = GetArguments(tree_, node);
            branch(FindArgument(arguments, "x", 1), FindArgument(arguments, "y", 2));
          } else if (HandsOn(called)) {
            look_at(FindArgument(GetArguments(tree_, node), "base", 0));
          } else if (call.function != kNoNode) {
            const NodeId method = tree_.Child(call.function, Field::kAttribute);
            if (method != kNoNode && IsView(tree_.GetText(method))) {
              look_at(tree_.Child(call.function, Field::kObject));
            }
          }
          break;
        }
        default:
          break;
      }
    }
  }
}

// Returns the name and the number of assignments to it that end above. By it x is a number above x
// = p + i and may be a pointer below.
ParameterPlaces::Name ParameterPlaces::NameAt(NodeId identifier) const {
  const absl::string_view text = tree_.GetText(identifier);
  const auto assigned = assigned_.find(text);
  if (assigned == assigned_.end()) return {text, 0};
  const auto above = std::upper_bound(assigned->second.begin(), assigned->second.end(), identifier);
  return {text, static_cast<size_t>(above - assigned->second.begin())};
}

// References of Pallas: names that are subscripted, also through .at, and names that are copied.
void ParameterPlaces::VisitReferences() {
  for (const NodeId node : tree_.Of(Kind::kSubscript, body_)) {
    NodeId value = tree_.Child(node, Field::kValue);
    if (value != kNoNode && tree_.GetKind(value) == Kind::kAttribute) {
      const NodeId name = tree_.Child(value, Field::kAttribute);
      if (name == kNoNode || tree_.GetText(name) != "at") continue;
      value = tree_.Child(value, Field::kObject);
    }
    if (value != kNoNode && tree_.GetKind(value) == Kind::kIdentifier) {
      Mark(tree_.GetText(value), UsageRule::kReference);
    }
  }
  for (const Call& call : calls_.In(body_)) {
    const absl::string_view called = LastPart(call.name);
    const bool moves = absl::StrContains(called, "copy") || absl::StrContains(called, "load") ||
                       absl::StrContains(called, "store") || called == "swap" ||
                       called == "emit_pipeline";
    if (!moves) continue;
    for (const Argument& argument : GetArguments(tree_, call.node)) {
      const bool positional = argument.keyword.empty() || absl::EndsWith(argument.keyword, "_ref");
      if (positional && tree_.GetKind(argument.value) == Kind::kIdentifier) {
        Mark(tree_.GetText(argument.value), UsageRule::kReference);
      }
    }
  }
}

// The places of arguments after *args are not known, so that the list ends there.
void ParameterPlaces::ListHandedOn(NodeId call) {
  size_t position = 0;
  for (const Argument& argument : GetArguments(tree_, call)) {
    const NodeId value = tree_.StripParentheses(argument.value);
    const bool splat = argument.keyword.empty() && absl::StartsWith(tree_.GetText(value), "*");
    if (splat || handed_on_.size() >= kMaxHandedOn) return;
    const size_t place = argument.keyword.empty() ? position++ : 0;
    const bool is_name = tree_.GetKind(value) == Kind::kIdentifier;
    const absl::string_view text = is_name ? tree_.GetText(value) : "";
    if (is_name && parameters_.contains(text) && !assigned_.contains(text)) {
      handed_on_.push_back({text, call, argument.keyword, place, true});
      continue;
    }
    const auto list = [&](absl::string_view name) {
      if (parameters_.contains(name) && handed_on_.size() < kMaxHandedOn) {
        handed_on_.push_back({name, call, argument.keyword, place, false});
      }
    };
    FollowAddresses({value}, list, steps_left_);
  }
}

// Expressions that an index is ordered against, divided or multiplied by.
void ParameterPlaces::AddIndexRegions() {
  const IndexNames indices(tree_, calls_, body_);
  for (const NodeId node : tree_.Of(Kind::kComparisonOperator, body_)) {
    if (!Orders(tree_, node)) continue;
    const Nodes operands = Operands(tree_, node);
    const bool any = std::any_of(operands.begin(), operands.end(),
                                 [&](NodeId operand) { return indices.IsIndex(operand); });
    if (!any) continue;
    for (const NodeId operand : operands) {
      // The index itself, and tensors that get more dimensions, are no sizes.
      if (indices.IsIndex(operand) || IsSpread(tree_, operand)) continue;
      regions_.push_back({operand, UsageRule::kCompared});
    }
  }
  for (const NodeId node : tree_.Of(Kind::kBinaryOperator, body_)) {
    const absl::string_view sign = GetSign(tree_, node);
    const NodeId left = tree_.Child(node, Field::kLeft);
    const NodeId right = tree_.Child(node, Field::kRight);
    if (left == kNoNode || right == kNoNode) continue;
    const bool divides = sign == "//" || sign == "%";
    if (!divides && sign != "*") continue;
    const bool of_left = indices.IsIndex(left);
    const bool of_right = indices.IsIndex(right);
    if (of_left && !of_right) {
      regions_.push_back({right, divides ? UsageRule::kDivides : UsageRule::kMultiplies});
    } else if (of_right && !of_left && !divides) {
      regions_.push_back({left, UsageRule::kMultiplies});
    }
  }
}

// Regions may overlap: each node is read once for each rule.
void ParameterPlaces::MarkRegions() {
  std::sort(regions_.begin(), regions_.end(),
            [](const Region& a, const Region& b) { return a.root < b.root; });
  // By rule the node up to which its regions are read; regions are sorted by their roots.
  std::array<NodeId, static_cast<size_t>(UsageRule::kMultiplies) + 1> done{};
  for (const Region& region : regions_) {
    NodeId& next = done[static_cast<size_t>(region.rule)];
    const NodeId end = tree_[region.root].subtree_end;
    for (next = std::max(next, region.root); next < end; ++next) {
      const Field field = tree_[next].field;
      // Neither part of config.N_CTX is a parameter that is a number.
      const bool is_name = tree_.GetKind(next) == Kind::kIdentifier && field != Field::kAttribute &&
                           field != Field::kObject && field != Field::kName;
      if (is_name) Mark(tree_.GetText(next), region.rule);
    }
  }
}

void ParameterPlaces::Mark(absl::string_view name, UsageRule rule) {
  const auto found = parameters_.find(name);
  if (found != parameters_.end()) found->second |= Bit(rule);
}

bool ParameterPlaces::IsBound(absl::string_view name) const {
  return parameters_.contains(name) || values_.contains(name);
}

}  // namespace kernelmill::python
