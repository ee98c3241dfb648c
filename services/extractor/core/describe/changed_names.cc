#include "services/extractor/core/describe/changed_names.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "common/python/syntax/calls.h"

namespace kernelmill::extractor {

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// Targets within targets deeper than this are not looked at.
constexpr int kMaxDepth = 64;

bool Mutates(absl::string_view method) {
  static constexpr absl::string_view kMethods[] = {"add",    "append",     "extend",
                                                   "insert", "setdefault", "update"};
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

bool IsTargetList(Kind kind) {
  switch (kind) {
    case Kind::kPatternList:
    case Kind::kTuplePattern:
    case Kind::kListPattern:
    case Kind::kListSplatPattern:
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kExpressionList:
    case Kind::kParenthesizedExpression:
      return true;
    default:
      return false;
  }
}

class Finder {
 public:
  Finder(const SyntaxTree& tree, const Bindings& bindings) : tree_(tree), bindings_(bindings) {}

  // Of an expression statement.
  void Add(NodeId statement) {
    NodeId inner = tree_.FirstChild(statement);
    if (inner == kNoNode) return;
    if (tree_.KindOf(inner) == Kind::kCall) return AddCall(inner);
    // a = b = v is an assignment on the right of one.
    for (int depth = 0; depth < kMaxDepth && inner != kNoNode; ++depth) {
      const NodeId left = tree_.Child(inner, Field::kLeft);
      const NodeId right = tree_.Child(inner, Field::kRight);
      if (left == kNoNode || right == kNoNode) return;  // x.a: int
      AddTarget(left, 0);
      inner = right;
    }
  }

  const std::vector<absl::string_view>& names() const { return names_; }

 private:
  void AddTarget(NodeId target, int depth) {
    const Kind kind = tree_.KindOf(target);
    if (kind == Kind::kAttribute || kind == Kind::kSubscript) return AddChain(target);
    if (!IsTargetList(kind) || depth > kMaxDepth) return;
    for (NodeId child = tree_.FirstChild(target); child != kNoNode;
         child = tree_.NextSibling(child)) {
      AddTarget(child, depth + 1);
    }
  }

  void AddCall(NodeId call) {
    const NodeId function = tree_.Child(call, Field::kFunction);
    if (function == kNoNode) return;
    if (tree_.KindOf(function) == Kind::kAttribute) {
      const NodeId method = tree_.Child(function, Field::kAttribute);
      const NodeId object = tree_.Child(function, Field::kObject);
      if (method != kNoNode && object != kNoNode && Mutates(tree_.TextOf(method))) {
        AddChain(object);
      }
    } else if (tree_.KindOf(function) == Kind::kIdentifier && tree_.TextOf(function) == "setattr") {
      const NodeId object = FindArgument(ArgumentsOf(tree_, call), "", 0);
      if (object != kNoNode) AddChain(object, true);
    }
  }

  // The x of x.a[0].b.
  void AddChain(NodeId node, bool of_attribute = false) {
    for (int depth = 0; depth < kMaxDepth && node != kNoNode; ++depth) {
      const Kind kind = tree_.KindOf(node);
      if (kind == Kind::kIdentifier) {
        const absl::string_view name = tree_.TextOf(node);
        if (!of_attribute || bindings_.Defines(name)) names_.push_back(name);
        return;
      }
      if (kind != Kind::kAttribute && kind != Kind::kSubscript) return;
      of_attribute = of_attribute || kind == Kind::kAttribute;
      node = tree_.Child(node, kind == Kind::kAttribute ? Field::kObject : Field::kValue);
    }
  }

  const SyntaxTree& tree_;
  const Bindings& bindings_;
  std::vector<absl::string_view> names_;
};

bool IsOfMain(const SyntaxTree& tree, NodeId statement) {
  if (tree.KindOf(statement) != Kind::kIfStatement) return false;
  NodeId condition = tree.FirstChild(statement);
  while (condition != kNoNode && IsLayout(tree.KindOf(condition))) {
    condition = tree.NextSibling(condition);
  }
  return condition != kNoNode && absl::StartsWith(tree.TextOf(condition), "__name__");
}

}  // namespace

std::vector<absl::string_view> ChangedNames(const SyntaxTree& tree, const Bindings& bindings,
                                            NodeId statement) {
  Finder finder(tree, bindings);
  if (tree.KindOf(statement) == Kind::kExpressionStatement) {
    finder.Add(statement);
    return finder.names();
  }
  // Those of functions, of classes and of what only a program's own run does come one after
  // another.
  std::vector<NodeId> skipped;
  for (const Kind each : {Kind::kFunctionDefinition, Kind::kClassDefinition}) {
    const auto nodes = tree.Of(each, statement);
    skipped.insert(skipped.end(), nodes.begin(), nodes.end());
  }
  for (const NodeId node : tree.Of(Kind::kIfStatement, statement)) {
    if (IsOfMain(tree, node)) skipped.push_back(node);
  }
  std::sort(skipped.begin(), skipped.end());
  NodeId skipped_end = 0;
  auto next = skipped.begin();
  for (const NodeId node : tree.Of(Kind::kExpressionStatement, statement)) {
    for (; next != skipped.end() && *next < node; ++next) {
      skipped_end = std::max(skipped_end, tree[*next].subtree_end);
    }
    if (node >= skipped_end) finder.Add(node);
  }
  return finder.names();
}

}  // namespace kernelmill::extractor
