#include "common/python/syntax/functions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"

namespace kernelmill::python {

// A function is a flat list of statements: conditions, loops, assignments, returned values and
// other expressions, in the order of the text. Blocks are dissolved, because the rules that read
// these functions take all values that a name ever has, whatever runs first. A function within a
// function has a list of its own.

namespace {

// Returns whether its decorators make it a kernel or a helper of kernels: Triton's own decorators,
// or wrappers that are named for them.
bool IsJit(const Function& function) {
  return std::any_of(
      function.decorators.begin(), function.decorators.end(),
      [](const Expression* decorator) { return absl::StrContains(decorator->text, "jit"); });
}

// The parts of a statement up to its block: the condition of an if, what is returned, the targets
// of an expression statement. Comments and tokens are left out.
std::vector<NodeId> HeadNodes(const SyntaxTree& tree, NodeId statement) {
  std::vector<NodeId> nodes;
  for (NodeId child = tree.FirstChild(statement); child != kNoNode;
       child = tree.NextSibling(child)) {
    const Kind kind = tree.GetKind(child);
    if (kind == Kind::kBlock || kind == Kind::kElifClause || kind == Kind::kElseClause) break;
    if (!IsLayout(kind)) nodes.push_back(child);
  }
  return nodes;
}

// Returns the expressions that a with statement opens: a and c of `with a as b, c:`.
std::vector<NodeId> OpenedNodes(const SyntaxTree& tree, NodeId with) {
  std::vector<NodeId> opened;
  for (const NodeId clause : HeadNodes(tree, with)) {
    for (const NodeId item : HeadNodes(tree, clause)) {
      const std::vector<NodeId> values = HeadNodes(tree, item);
      if (!values.empty()) opened.push_back(values.front());
    }
  }
  return opened;
}

// The tree has no kind for assert statements.
bool IsAssert(const SyntaxTree& tree, NodeId node) {
  const NodeId first = tree.FirstChild(node);
  return first != kNoNode && tree.GetKind(first) == Kind::kToken && tree.GetText(first) == "assert";
}

}  // namespace

// Looks through annotations, defaults and stars.
NodeId ParameterName(const SyntaxTree& tree, NodeId parameter) {
  while (tree.GetKind(parameter) != Kind::kIdentifier) {
    NodeId inner = tree.Child(parameter, Field::kName);
    for (NodeId child = tree.FirstChild(parameter); inner == kNoNode && child != kNoNode;
         child = tree.NextSibling(child)) {
      const Kind kind = tree.GetKind(child);
      const bool holds_name = kind == Kind::kIdentifier || kind == Kind::kListSplatPattern ||
                              kind == Kind::kDictionarySplatPattern;
      if (holds_name && tree[child].field != Field::kType) inner = child;
    }
    if (inner == kNoNode) return kNoNode;
    parameter = inner;
  }
  return parameter;
}

int Function::Find(absl::string_view parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return static_cast<int>(i);
  }
  return -1;
}

// In pre-order the innermost open function is the last one whose subtree has not ended, as on a
// stack.
ModuleFunctions::ModuleFunctions(const SyntaxTree& tree) : tree_(tree), expressions_(tree, arena_) {
  // A function that the walk is in, and the end of its subtree.
  struct Open {
    NodeId end;
    Function* function;
  };
  std::vector<Open> open;
  for (NodeId node = 0; node < tree.size(); ++node) {
    while (!open.empty() && open.back().end <= node) open.pop_back();
    if (tree.GetKind(node) == Kind::kFunctionDefinition) {
      AddFunction(node);
      open.push_back({tree[node].subtree_end, &functions_.back()});
    } else {
      EnterNode(node, open.empty() ? module_ : *open.back().function);
    }
  }
}

const Function* ModuleFunctions::Find(absl::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

// Blocks are entered by the walk: only the head of a compound statement is read here.
void ModuleFunctions::EnterNode(NodeId node, Function& into) {
  switch (tree_.GetKind(node)) {
    case Kind::kIfStatement:
    case Kind::kElifClause:
    case Kind::kWhileStatement:
      return AddStatement(Statement::kCondition, HeadNodes(tree_, node), into);
    case Kind::kWithStatement:
      return AddStatement(Statement::kCondition, OpenedNodes(tree_, node), into);
    case Kind::kReturnStatement:
      return AddStatement(Statement::kReturn, HeadNodes(tree_, node), into);
    case Kind::kForStatement:
      return AddLoop(node, into);
    case Kind::kExpressionStatement:
      return AddExpressionStatement(node, into);
    case Kind::kOther:
      if (IsAssert(tree_, node)) AddStatement(Statement::kCondition, HeadNodes(tree_, node), into);
      return;
    default:
      return;
  }
}

// Methods and functions in functions are in the same table, by their bare names.
void ModuleFunctions::AddFunction(NodeId node) {
  Function& function = functions_.emplace_back();
  if (const NodeId name = tree_.Child(node, Field::kName); name != kNoNode)
    function.name = tree_.GetText(name);
  if (const NodeId parameters = tree_.Child(node, Field::kParameters); parameters != kNoNode)
    AddParameters(parameters, function);
  // The decorators are the children before the definition.
  const NodeId decorated = tree_[node].parent;
  if (decorated != kNoNode && tree_.GetKind(decorated) == Kind::kDecoratedDefinition) {
    for (NodeId child = tree_.FirstChild(decorated); child != node;
         child = tree_.NextSibling(child)) {
      if (tree_.GetKind(child) != Kind::kDecorator) continue;
      function.decorators.push_back(expressions_.MakeList(HeadNodes(tree_, child)));
    }
  }
  // The last function of a name counts, except that one without jit does not replace one with jit.
  const Function*& named = by_name_[function.name];
  // `else: def f(*args): raise` replaces a device function where Triton is missing.
  if (named == nullptr || IsJit(function) || !IsJit(*named)) named = &function;
}

// The separators * and / have no name and are left out.
void ModuleFunctions::AddParameters(NodeId parameters, Function& function) {
  for (NodeId child = tree_.FirstChild(parameters); child != kNoNode;
       child = tree_.NextSibling(child)) {
    const NodeId name = IsLayout(tree_.GetKind(child)) ? kNoNode : ParameterName(tree_, child);
    if (name == kNoNode) continue;
    FunctionParameter& parameter = function.parameters.emplace_back();
    parameter.name = tree_.GetText(name);
    if (const NodeId type = tree_.Child(child, Field::kType); type != kNoNode)
      parameter.annotation = tree_.GetText(type);
    if (const NodeId value = tree_.Child(child, Field::kValue); value != kNoNode)
      parameter.default_value = expressions_.Make(value);
  }
}

void ModuleFunctions::AddStatement(Statement::Kind kind, const std::vector<NodeId>& values,
                                   Function& into) {
  if (values.empty()) return;
  into.statements.push_back({kind, nullptr, expressions_.MakeList(values)});
}

// The variable of `for x in y` has y as a value; loop_names tells that it is an item of y.
void ModuleFunctions::AddLoop(NodeId node, Function& into) {
  const NodeId left = tree_.Child(node, Field::kLeft);
  const NodeId right = tree_.Child(node, Field::kRight);
  if (left == kNoNode || right == kNoNode) return;
  const Expression* target = expressions_.Make(left);
  const Expression* value = expressions_.Make(right);
  into.statements.push_back({Statement::kFor, target, value});
  if (target->kind != Expression::kName) return;
  into.loop_names.insert(target->name);
  into.values[target->name].push_back(value);
}

// x += y is read as x = x + y.
void ModuleFunctions::AddExpressionStatement(NodeId node, Function& into) {
  const std::vector<NodeId> nodes = HeadNodes(tree_, node);
  if (nodes.empty()) return;
  const Kind kind = tree_.GetKind(nodes.front());
  if (kind == Kind::kAssignment) return AddAssignment(nodes.front(), into);
  if (kind != Kind::kAugmentedAssignment) return AddStatement(Statement::kExpression, nodes, into);
  const NodeId left = tree_.Child(nodes.front(), Field::kLeft);
  const NodeId right = tree_.Child(nodes.front(), Field::kRight);
  const NodeId sign = tree_.Child(nodes.front(), Field::kOperator);
  if (left == kNoNode || right == kNoNode || sign == kNoNode) return;
  const absl::string_view name = tree_.GetText(sign);
  const Expression* target = expressions_.Make(left);
  const Expression* value =
      expressions_.MakeBinary(*target, name.substr(0, name.size() - 1), *expressions_.Make(right));
  into.statements.push_back({Statement::kAssign, target, value});
  Bind(*target, *value, into);
}

// a = b = value: the right side of the first assignment is the second.
void ModuleFunctions::AddAssignment(NodeId node, Function& into) {
  std::vector<NodeId> targets;
  NodeId value = node;
  while (value != kNoNode && tree_.GetKind(value) == Kind::kAssignment) {
    const NodeId left = tree_.Child(value, Field::kLeft);
    if (left == kNoNode) return;
    targets.push_back(left);
    value = tree_.Child(value, Field::kRight);
  }
  if (value == kNoNode) return AddStatement(Statement::kExpression, targets, into);  // x: int
  std::vector<const Expression*> made;
  for (const NodeId target : targets) made.push_back(expressions_.Make(target));
  const Expression* given = expressions_.Make(value);
  for (const Expression* target : made) {
    into.statements.push_back({Statement::kAssign, target, given});
    Bind(*target, *given, into);
  }
}

// a, b = x, y binds one by one; if the value is not a list of the same length, each target gets a
// value that is not known.
void ModuleFunctions::Bind(const Expression& target, const Expression& value, Function& into) {
  if (target.kind == Expression::kName) {
    into.values[target.name].push_back(&value);
  } else if (target.kind == Expression::kSequence) {
    const bool pairs =
        value.kind == Expression::kSequence && value.parts.size() == target.parts.size();
    for (size_t i = 0; i < target.parts.size(); ++i) {
      if (target.parts[i]->kind != Expression::kName) continue;
      into.values[target.parts[i]->name].push_back(pairs ? value.parts[i]
                                                         : expressions_.MakeOther(value.text));
    }
  }
}

}  // namespace kernelmill::python
