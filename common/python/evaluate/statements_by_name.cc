#include "common/python/evaluate/statements_by_name.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"

namespace kernelmill::python {
namespace {

// Deeper blocks are not looked through.
constexpr int kMaxDepth = 64;
// A name that more statements may change is not known.
constexpr size_t kMaxStatements = 256;

// Nodes that bind names, and by which edge; kNone: anywhere in the node.
constexpr std::pair<Kind, Field> kBindings[] = {
    {Kind::kAssignment, Field::kLeft},         {Kind::kAugmentedAssignment, Field::kLeft},
    {Kind::kForStatement, Field::kLeft},       {Kind::kNamedExpression, Field::kName},
    {Kind::kAsPatternTarget, Field::kNone},    {Kind::kFunctionDefinition, Field::kName},
    {Kind::kClassDefinition, Field::kName},    {Kind::kImportStatement, Field::kNone},
    {Kind::kImportFromStatement, Field::kNone}};

bool IsBlock(Kind kind) { return kind == Kind::kModule || kind == Kind::kBlock; }

bool OpensScope(Kind kind) {
  return kind == Kind::kFunctionDefinition || kind == Kind::kClassDefinition;
}

// The place of a definition's name, decorated or not; kNoNode for other statements.
NodeId DefinedName(const SyntaxTree& tree, NodeId statement) {
  if (tree.GetKind(statement) == Kind::kDecoratedDefinition) {
    statement = tree.Child(statement, Field::kDefinition);
    if (statement == kNoNode) return kNoNode;
  }
  return OpensScope(tree.GetKind(statement)) ? tree.Child(statement, Field::kName) : kNoNode;
}

}  // namespace

std::optional<std::vector<NodeId>> StatementsByName::Find(absl::string_view name, NodeId at) {
  std::vector<NodeId> found;
  bool in_function = false;  // below it: all of a block counts
  NodeId below = at;
  // The walk goes outwards: `block` is each node around the place, `below` the child of it that
  // holds the place.
  NodeId block = tree_[at].parent;
  for (int depth = 0; depth < kMaxDepth && block != kNoNode;
       below = block, block = tree_[block].parent) {
    const Kind kind = tree_.GetKind(block);
    // The variable of a loop around the place has another value in each turn.
    if (kind == Kind::kForStatement) {
      const NodeId left = tree_.Child(block, Field::kLeft);
      if (left == kNoNode) return std::nullopt;
      for (const NodeId node : tree_.Of(Kind::kIdentifier, left)) {
        if (tree_.GetText(node) == name) return std::nullopt;
      }
    }
    if (OpensScope(kind)) {
      // Decorators and defaults read the scope around.
      const NodeId body = tree_.Child(block, Field::kBody);
      if (body == kNoNode || at < body || at >= tree_[body].subtree_end) continue;
      if (!found.empty()) break;
      if (kind == Kind::kFunctionDefinition) in_function = true;
      // Only a caller knows the value of a parameter.
      const NodeId parameters = tree_.Child(block, Field::kParameters);
      if (parameters == kNoNode) continue;
      for (const NodeId node : tree_.Of(Kind::kIdentifier, parameters)) {
        if (tree_.GetText(node) == name) return std::nullopt;
      }
      continue;
    }
    if (!IsBlock(kind)) continue;
    const NodeId owner = tree_[block].parent;
    const bool of_class = owner != kNoNode && tree_.GetKind(owner) == Kind::kClassDefinition;
    if (of_class && in_function) continue;  // methods do not see them
    const ByName& names = In(block);
    const auto statements = names.find(name);
    if (statements == names.end()) continue;
    for (const NodeId statement : statements->second) {
      // A statement that holds the place has not ended there. The walk read the blocks in it
      // before.
      const bool around = statement <= at && at < tree_[statement].subtree_end;
      if (!around && (in_function || statement < below)) found.push_back(statement);
      if (found.size() > kMaxStatements) return std::nullopt;
    }
  }
  if (found.empty()) return std::nullopt;
  std::sort(found.begin(), found.end());
  return found;
}

// Returns the statements of the block by the names that they may change. The block is read when it
// is first asked for.
const StatementsByName::ByName& StatementsByName::In(NodeId block) {
  const auto [place, is_new] = blocks_.try_emplace(block);
  if (!is_new) return place->second;
  ByName names;
  for (NodeId child = tree_.FirstChild(block); child != kNoNode; child = tree_.NextSibling(child)) {
    if (!IsLayout(tree_.GetKind(child))) AddStatement(child, names);
  }
  return blocks_[block] = std::move(names);
}

// Every name that is bound there, called a method of or handed to a call that is a statement,
// however deep.
void StatementsByName::AddStatement(NodeId statement, ByName& names) const {
  const auto add = [&](NodeId node) {
    std::vector<NodeId>& statements = names[tree_.GetText(node)];
    if (statements.empty() || statements.back() != statement) statements.push_back(statement);
  };
  const auto add_all = [&](NodeId root) {
    if (root == kNoNode) return;
    for (const NodeId node : tree_.Of(Kind::kIdentifier, root)) {
      if (tree_[node].field != Field::kAttribute) add(node);
    }
  };
  const NodeId defined = DefinedName(tree_, statement);
  if (defined != kNoNode) return add(defined);
  const Kind kind = tree_.GetKind(statement);
  // ImportMap knows what imported names mean.
  if (kind == Kind::kImportStatement || kind == Kind::kImportFromStatement) return;
  for (const auto& [binding, field] : kBindings) {
    for (const NodeId node : tree_.Of(binding, statement)) {
      add_all(field == Field::kNone ? node : tree_.Child(node, field));
    }
  }
  // x.append(1) and f(x) may change x.
  for (const NodeId node : tree_.Of(Kind::kExpressionStatement, statement)) {
    const NodeId first = tree_.FirstChild(node);
    if (first != kNoNode && tree_.GetKind(first) == Kind::kCall) add_all(first);
  }
  if (kind == Kind::kOther && absl::StartsWith(tree_.GetText(statement), "del")) add_all(statement);
}

}  // namespace kernelmill::python
