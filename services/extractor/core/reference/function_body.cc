#include "services/extractor/core/reference/function_body.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "common/python/syntax/children.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::extractor {

using python::Argument;
using python::Arguments;
using python::Call;
using python::Children;
using python::Field;
using python::Kind;

namespace {

constexpr int kMaxBodyDepth = 64;
// The most statements that one name's value is followed through, for backward().
constexpr size_t kMaxSources = 200;

// Compound statements that are taken apart. A try or match stays one statement.
bool IsTakenApart(Kind kind) {
  return kind == Kind::kIfStatement || kind == Kind::kForStatement ||
         kind == Kind::kWithStatement || kind == Kind::kWhileStatement;
}

bool IsClause(Kind kind) { return kind == Kind::kElifClause || kind == Kind::kElseClause; }

// Methods that change their object, beside those that end with '_'.
bool Mutates(absl::string_view method) {
  static constexpr absl::string_view kMethods[] = {"append",          "extend", "insert",
                                                   "update",          "add",    "setdefault",
                                                   "load_state_dict", "eval",   "train"};
  return absl::EndsWith(method, "_") ||
         std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

// Returns whether an expression is the gradient of something, x.grad or x.grad[0]. A test that sets
// it back to None leaves the values of x as they are.
bool IsGradient(const SyntaxTree& tree, NodeId node) {
  node = tree.StripParentheses(node);
  if (node != kNoNode && tree.GetKind(node) == Kind::kSubscript) {
    node = tree.Child(node, Field::kValue);
  }
  if (node == kNoNode || tree.GetKind(node) != Kind::kAttribute) return false;
  const NodeId attribute = tree.Child(node, Field::kAttribute);
  return attribute != kNoNode && tree.GetText(attribute) == "grad";
}

// Returns whether a call takes only the shape and type of what it is given or called on.
bool TakesShape(absl::string_view called) {
  return absl::EndsWith(called, "_like") || called == "new_empty" || called == "new_zeros" ||
         called == "new_ones" || called == "new_full";
}

void AddName(absl::string_view name, FunctionBody::Names& names) {
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  names.push_back(name);
}

}  // namespace

absl::string_view BaseName(const SyntaxTree& tree, NodeId node) {
  for (int depth = 0; depth < kMaxBodyDepth && node != kNoNode; ++depth) {
    node = tree.StripParentheses(node);
    switch (tree.GetKind(node)) {
      case Kind::kIdentifier:
        return tree.GetText(node);
      case Kind::kAttribute:
        node = tree.Child(node, Field::kObject);
        break;
      case Kind::kSubscript:
        node = tree.Child(node, Field::kValue);
        break;
      case Kind::kCall:
        node = tree.Child(node, Field::kFunction);
        break;
      default:
        return {};
    }
  }
  return {};
}

NodeId DottedFrom(const SyntaxTree& tree, NodeId identifier) {
  const Field field = tree[identifier].field;
  const NodeId parent = tree[identifier].parent;
  if (field == Field::kAttribute) return kNoNode;
  if (parent != kNoNode && tree.GetKind(parent) == Kind::kKeywordArgument &&
      field == Field::kName) {
    return kNoNode;
  }
  NodeId node = identifier;
  for (int depth = 0; depth < kMaxBodyDepth; ++depth) {
    const NodeId above = tree[node].parent;
    if (above == kNoNode || tree.GetKind(above) != Kind::kAttribute) break;
    if (tree[node].field != Field::kObject) break;
    node = above;
  }
  return node;
}

NodeId ClassAround(const SyntaxTree& tree, NodeId function) {
  NodeId node = tree[function].parent;
  if (node != kNoNode && tree.GetKind(node) == Kind::kDecoratedDefinition) node = tree[node].parent;
  if (node != kNoNode && tree.GetKind(node) == Kind::kBlock) node = tree[node].parent;
  return node != kNoNode && tree.GetKind(node) == Kind::kClassDefinition ? node : kNoNode;
}

bool IsTopLevel(const SyntaxTree& tree, NodeId function) {
  NodeId node = tree[function].parent;
  if (node != kNoNode && tree.GetKind(node) == Kind::kDecoratedDefinition) node = tree[node].parent;
  return node == 0;
}

FunctionBody::FunctionBody(const ParsedFile& file, NodeId function, int64_t& steps)
    : file_(file), tree_(file.tree), function_(function), steps_left_(steps) {
  const NodeId parameters = tree_.Child(function, Field::kParameters);
  for (NodeId child = parameters == kNoNode ? kNoNode : tree_.FirstChild(parameters);
       child != kNoNode; child = tree_.NextSibling(child)) {
    if (IsLayout(tree_.GetKind(child))) continue;
    const NodeId name = python::ParameterName(tree_, child);
    if (name != kNoNode) parameters_.push_back(tree_.GetText(name));
  }
  bound_.insert(parameters_.begin(), parameters_.end());
  std::vector<int> around;
  const NodeId body = tree_.Child(function, Field::kBody);
  if (body != kNoNode) AddBlock(body, around);
  ChooseOutputs();
  FindGradients();
}

void FunctionBody::AddBlock(NodeId block, std::vector<int>& around) {
  for (NodeId child = tree_.FirstChild(block); child != kNoNode; child = tree_.NextSibling(child)) {
    if (IsLayout(tree_.GetKind(child)) || statements_.size() >= kMaxStatements) continue;
    if (IsTakenApart(tree_.GetKind(child)) && around.size() < kMaxBodyDepth) {
      AddCompound(child, around);
    } else {
      AddSimple(child, around);
    }
  }
}

// The head's lines end above the first statement of the block. A block that begins on the head's
// line makes the whole one statement.
void FunctionBody::AddCompound(NodeId node, std::vector<int>& around) {
  const NodeId block = tree_.Child(node, Kind::kBlock);
  if (block == kNoNode || tree_.FirstChild(block) == kNoNode ||
      file_.lines.LineAt(tree_[tree_.FirstChild(block)].start) ==
          file_.lines.LineAt(tree_[node].start)) {
    return AddSimple(node, around);
  }
  Statement head;
  head.node = node;
  head.head = true;
  head.around = around;
  head.first_line = file_.lines.LineAt(tree_[node].start);
  head.last_line = head.first_line;
  for (NodeId child = tree_.FirstChild(node); child != kNoNode && child != block;
       child = tree_.NextSibling(child)) {
    head.last_line = file_.lines.LineAt(tree_[child].end - 1);
    if (IsLayout(tree_.GetKind(child))) continue;
    for (const absl::string_view name : file_.bindings.BoundNames(child)) AddName(name, head.binds);
    for (const absl::string_view name : file_.bindings.FreeNames(child, true)) {
      AddName(name, head.reads);
    }
    ReadExpressions(child, head);
  }
  const int at = static_cast<int>(statements_.size());
  bound_.insert(head.binds.begin(), head.binds.end());
  statements_.push_back(std::move(head));
  around.push_back(at);
  AddBlock(block, around);
  around.pop_back();
  for (NodeId clause = tree_.NextSibling(block); clause != kNoNode;
       clause = tree_.NextSibling(clause)) {
    if (!IsClause(tree_.GetKind(clause))) continue;
    const auto first = statements_.size();
    AddCompound(clause, around);
    if (first >= statements_.size()) continue;
    // An else depends on the conditions above it.
    Statement& added = statements_[first];
    added.clause_of = at;
    for (const absl::string_view name : statements_[at].reads) AddName(name, added.reads);
  }
}

void FunctionBody::AddSimple(NodeId node, const std::vector<int>& around) {
  Statement statement;
  statement.node = node;
  statement.around = around;
  statement.first_line = file_.lines.LineAt(tree_[node].start);
  statement.last_line = file_.lines.LineAt(tree_[tree_.LastToken(node)].end - 1);
  for (const absl::string_view name : file_.bindings.BoundNames(node)) {
    AddName(name, statement.binds);
  }
  for (const absl::string_view name : file_.bindings.FreeNames(node, true)) {
    AddName(name, statement.reads);
  }
  ReadExpressions(node, statement);
  ReadTargets(node, statement);
  bound_.insert(statement.binds.begin(), statement.binds.end());
  statements_.push_back(std::move(statement));
}

FunctionBody::Statement FunctionBody::Read(NodeId expression) const {
  Statement statement;
  statement.node = expression;
  for (const absl::string_view name : file_.bindings.FreeNames(expression, true)) {
    AddName(name, statement.reads);
  }
  ReadExpressions(expression, statement);
  return statement;
}

// Notes what is called and whose gradients are read.
void FunctionBody::ReadExpressions(NodeId root, Statement& statement) const {
  for (const Call& call : file_.calls.In(root)) {
    if (call.function == kNoNode) continue;
    AddName(BaseName(tree_, call.function), statement.callees);
    const absl::string_view last = call.name.substr(call.name.rfind('.') + 1);
    if (last == "grad" || last == "vjp") statement.takes_gradient = true;
    if (last == "backward") statement.takes_gradient = true;
    if (TakesShape(last)) {
      const NodeId like = absl::StartsWith(last, "new_")
                              ? call.function
                              : FindArgument(GetArguments(tree_, call.node), "input", 0);
      if (like != kNoNode) AddName(BaseName(tree_, like), statement.shapes);
    }
  }
  for (const NodeId node : tree_.Of(Kind::kAttribute, root)) {
    const NodeId attribute = tree_.Child(node, Field::kAttribute);
    if (attribute == kNoNode) continue;
    const absl::string_view member = tree_.GetText(attribute);
    if (member == "detach" || member == "data") statement.detaches = true;
    if (member != "grad") continue;
    AddName(BaseName(tree_, node), statement.gradients);
  }
}

// Notes the names that the statement changes without binding them.
void FunctionBody::ReadTargets(NodeId node, Statement& statement) const {
  for (const Kind kind : {Kind::kAssignment, Kind::kAugmentedAssignment}) {
    for (const NodeId assignment : tree_.Of(kind, node)) {
      statement.augmented |= kind == Kind::kAugmentedAssignment;
      const NodeId left = tree_.Child(assignment, Field::kLeft);
      if (left == kNoNode) continue;
      std::vector<NodeId> targets = {left};
      for (size_t i = 0; i < targets.size() && i < kMaxBodyDepth; ++i) {
        const Kind target = tree_.GetKind(targets[i]);
        if (target == Kind::kAttribute || target == Kind::kSubscript) {
          if (IsGradient(tree_, targets[i])) continue;
          AddName(BaseName(tree_, targets[i]), statement.changes);
          if (kind == Kind::kAssignment) AddName(BaseName(tree_, targets[i]), statement.targets);
        } else if (target != Kind::kIdentifier) {
          for (const NodeId child : Children(tree_, targets[i])) targets.push_back(child);
        }
      }
    }
  }
  // A target counts as one only if the statement does not also read it.
  std::erase_if(statement.targets, [&](absl::string_view name) {
    const std::span<const NodeId> all = tree_.Of(Kind::kIdentifier, node);
    const auto count = std::count_if(all.begin(), all.end(), [&](NodeId each) {
      return tree_.GetText(each) == name && tree_[each].field != Field::kAttribute;
    });
    return count != 1;
  });
  for (const Call& call : file_.calls.In(node)) {
    for (const Argument& argument : GetArguments(tree_, call.node)) {
      if (argument.keyword == "out") AddName(BaseName(tree_, argument.value), statement.changes);
    }
  }
  if (tree_.GetKind(node) != Kind::kExpressionStatement) return;
  const NodeId inner = tree_.FirstChild(node);
  if (inner != kNoNode && tree_.GetKind(inner) == Kind::kCall) ReadCallStatement(inner, statement);
}

// A call without a use of its result is there for its effect: a launch, k[grid](x, out), and a
// function of the source change their arguments; x.zero_() and init.normal_(x) change x.
void FunctionBody::ReadCallStatement(NodeId call, Statement& statement) const {
  const NodeId function = tree_.StripParentheses(tree_.Child(call, Field::kFunction));
  if (function == kNoNode) return;
  const Arguments arguments = GetArguments(tree_, call);
  const absl::string_view name = file_.calls.At(call).name;
  const absl::string_view resolved = file_.calls.At(call).resolved;
  const absl::string_view last = name.substr(name.rfind('.') + 1);
  if (tree_.GetKind(function) == Kind::kAttribute) {
    const NodeId object = tree_.Child(function, Field::kObject);
    const NodeId method = tree_.Child(function, Field::kAttribute);
    const absl::string_view called =
        method == kNoNode ? absl::string_view() : tree_.GetText(method);
    if (called == "backward") statement.backward = object;
    if (Mutates(called) && !IsGradient(tree_, object)) {
      AddName(BaseName(tree_, object), statement.changes);
    }
  }
  if (absl::EndsWith(last, "_") && absl::StartsWith(resolved, "torch.") && !arguments.empty()) {
    AddName(BaseName(tree_, arguments[0].value), statement.changes);
  }
  static constexpr absl::string_view kQuiet[] = {"print", "assert", "check", "close", "equal",
                                                 "seed",  "skip",   "sync",  "log"};
  const bool quiet = std::any_of(std::begin(kQuiet), std::end(kQuiet), [&](absl::string_view word) {
    return absl::StrContains(last, word);
  });
  if (quiet || absl::StartsWith(resolved, "torch.") || absl::StartsWith(resolved, "pytest."))
    return;
  const bool launch = tree_.GetKind(function) == Kind::kSubscript;
  const bool method =
      tree_.GetKind(function) == Kind::kAttribute && bound_.contains(BaseName(tree_, function));
  if (!launch && (name.empty() || method)) return;
  for (const Argument& argument : arguments) {
    const Kind kind = tree_.GetKind(argument.value);
    if (kind == Kind::kIdentifier || kind == Kind::kSubscript) {
      AddName(BaseName(tree_, argument.value), statement.given);
    }
  }
}

// Such a call changes those of its arguments that were made empty for it, y = torch.empty_like(x).
// If no argument was, it may change all.
void FunctionBody::ChooseOutputs() {
  for (size_t i = 0; i < statements_.size(); ++i) {
    Names outputs;
    for (const absl::string_view name : statements_[i].given) {
      for (const int source : FindSources(name, static_cast<int>(i))) {
        const NodeId value = FindValue(source, name);
        if (value == kNoNode) continue;
        for (const Call& call : file_.calls.In(value)) {
          const absl::string_view last = call.name.substr(call.name.rfind('.') + 1);
          if (absl::StrContains(last, "empty") || absl::StrContains(last, "zeros") ||
              absl::StartsWith(last, "full") || absl::StartsWith(last, "ones")) {
            AddName(name, outputs);
          }
        }
      }
    }
    for (const absl::string_view name : outputs.empty() ? statements_[i].given : outputs) {
      AddName(name, statements_[i].changes);
    }
  }
}

// Collects for each backward() all names that its value comes from.
void FunctionBody::FindGradients() {
  for (size_t i = 0; i < statements_.size(); ++i) {
    if (statements_[i].backward == kNoNode) continue;
    absl::flat_hash_set<absl::string_view>& names = sources_of_backward_[static_cast<int>(i)];
    std::vector<std::pair<absl::string_view, int>> pending;
    for (const absl::string_view name : file_.bindings.FreeNames(statements_[i].backward, true)) {
      if (bound_.contains(name)) pending.emplace_back(name, static_cast<int>(i));
    }
    for (size_t next = 0; next < pending.size() && next < kMaxSources; ++next) {
      const auto [name, at] = pending[next];
      if (name.empty() || !names.insert(name).second) continue;
      for (const int source : FindSources(name, at)) {
        if (statements_[source].detaches) {
          names.insert(statements_[source].binds.begin(), statements_[source].binds.end());
          continue;
        }
        for (const absl::string_view read : statements_[source].reads) {
          if (bound_.contains(read)) pending.emplace_back(read, source);
        }
      }
    }
  }
}

bool FunctionBody::IsParameter(absl::string_view name) const {
  return std::find(parameters_.begin(), parameters_.end(), name) != parameters_.end();
}

bool FunctionBody::Binds(absl::string_view name) const { return bound_.contains(name); }

int FunctionBody::FindStatement(NodeId node) const {
  int found = -1;
  for (size_t i = 0; i < statements_.size(); ++i) {
    const NodeId begin = statements_[i].node;
    if (begin <= node && node < tree_[begin].subtree_end) found = static_cast<int>(i);
  }
  return found;
}

// A statement ends the search if it binds the name wherever `at` is reached from.
std::vector<int> FunctionBody::FindSources(absl::string_view name, int at) const {
  std::vector<int> found;
  const std::vector<int>& around = statements_[at].around;
  const auto has = [&](const Names& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (int i = at - 1; i >= 0 && --steps_left_ > 0; --i) {
    const Statement& statement = statements_[i];
    const bool binds = has(statement.binds);
    if (!binds && !has(statement.changes)) continue;
    const bool holds = std::find(around.begin(), around.end(), i) != around.end();
    if (statement.head && !holds && binds) continue;  // the variable of a loop that is over
    found.push_back(i);
    const bool always = std::all_of(
        statement.around.begin(), statement.around.end(),
        [&](int head) { return std::find(around.begin(), around.end(), head) != around.end(); });
    if (binds && (always || holds)) break;
  }
  return found;
}

int FunctionBody::FindBackward(absl::string_view name, int at) const {
  for (int i = at - 1; i >= 0; --i) {
    const auto found = sources_of_backward_.find(i);
    if (found != sources_of_backward_.end() && found->second.contains(name)) return i;
  }
  return -1;
}

NodeId FunctionBody::FindValue(int statement, absl::string_view name) const {
  const Statement& of = statements_[statement];
  if (of.head) return kNoNode;
  for (const NodeId assignment : tree_.Of(Kind::kAssignment, of.node)) {
    const NodeId left = tree_.Child(assignment, Field::kLeft);
    const NodeId right = tree_.Child(assignment, Field::kRight);
    if (left == kNoNode || right == kNoNode) continue;
    if (tree_.GetKind(left) == Kind::kIdentifier) {
      if (tree_.GetText(left) == name) return right;
      continue;
    }
    const Kind kind = tree_.GetKind(left);
    if (kind == Kind::kAttribute || kind == Kind::kSubscript) continue;
    const std::vector<NodeId> lefts = Children(tree_, left), rights = Children(tree_, right);
    const bool lists =
        tree_.GetKind(right) == Kind::kExpressionList || tree_.GetKind(right) == Kind::kTuple;
    for (size_t i = 0; i < lefts.size(); ++i) {
      if (tree_.GetKind(lefts[i]) != Kind::kIdentifier) continue;
      if (tree_.GetText(lefts[i]) != name) continue;
      return lists && lefts.size() == rights.size() ? rights[i] : right;
    }
  }
  return kNoNode;
}

int FunctionBody::FindPlace(int statement, absl::string_view name) const {
  const Statement& of = statements_[statement];
  if (of.head) return -1;
  for (const NodeId assignment : tree_.Of(Kind::kAssignment, of.node)) {
    const NodeId left = tree_.Child(assignment, Field::kLeft);
    const NodeId right = tree_.Child(assignment, Field::kRight);
    if (left == kNoNode || right == kNoNode) continue;
    if (tree_.GetKind(left) != Kind::kPatternList && tree_.GetKind(left) != Kind::kTuplePattern) {
      continue;
    }
    if (tree_.GetKind(right) == Kind::kExpressionList || tree_.GetKind(right) == Kind::kTuple) {
      continue;
    }
    int place = 0;
    for (NodeId child = tree_.FirstChild(left); child != kNoNode;
         child = tree_.NextSibling(child)) {
      if (IsLayout(tree_.GetKind(child))) continue;
      if (tree_.GetKind(child) == Kind::kIdentifier && tree_.GetText(child) == name) return place;
      ++place;
    }
  }
  return -1;
}

}  // namespace kernelmill::extractor
