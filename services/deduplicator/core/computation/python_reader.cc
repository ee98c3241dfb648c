// The basic idea: a walk over the statements of the syntax tree, block by block. Expressions are
// those of common/python.

#include "services/deduplicator/core/computation/python_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/expression.h"
#include "common/python/syntax/functions.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::deduplicator {
namespace {

using absl::string_view;
using python::Expression;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;

constexpr int kMaxBlockDepth = 64;  // blocks in each other

class PythonReader {
 public:
  PythonReader(const python::SyntaxTree& tree, Interpreter* interpreter)
      : tree_(tree), expressions_(tree, arena_), made_(tree.size()), interpreter_(*interpreter) {}

  bool Run() {
    const auto functions = tree_.Of(Kind::kFunctionDefinition);
    if (functions.empty()) return false;
    for (const NodeId parameter : GetParameters(functions[0])) {
      interpreter_.AddParameter(tree_.GetText(parameter));
    }
    RunBody(functions[0]);
    return true;
  }

 private:
  std::vector<NodeId> GetParameters(NodeId function) const {
    std::vector<NodeId> names;
    const NodeId parameters = tree_.Child(function, Field::kParameters);
    if (parameters == kNoNode) return names;
    for (const NodeId child : GetChildren(parameters)) {
      const NodeId name = python::ParameterName(tree_, child);
      if (name != kNoNode) names.push_back(name);
    }
    return names;
  }

  // Returns the children except punctuation, keywords and comments.
  std::vector<NodeId> GetChildren(NodeId node) const {
    std::vector<NodeId> children;
    for (NodeId at = tree_.FirstChild(node); at != kNoNode; at = tree_.NextSibling(at)) {
      const bool is_block = tree_.GetKind(at) == Kind::kBlock;
      if (is_block || !python::IsLayout(tree_.GetKind(at))) children.push_back(at);
    }
    return children;
  }

  // A loop's body is read twice: its expressions are made once.
  const Expression& Make(NodeId node) {
    const Expression*& made = made_[node];
    if (made == nullptr) made = expressions_.Make(node);
    return *made;
  }

  void RunBody(NodeId node) {
    const NodeId body = tree_.Child(node, Kind::kBlock);
    if (body != kNoNode) RunBlock(body);
  }

  void RunBlock(NodeId block) {
    if (++depth_ <= kMaxBlockDepth) {
      for (const NodeId statement : GetChildren(block)) {
        if (interpreter_.IsExhausted()) break;
        RunStatement(statement);
      }
    }
    --depth_;
  }

  void RunStatement(NodeId node) {
    switch (tree_.GetKind(node)) {
      case Kind::kExpressionStatement:
        return RunExpression(node);
      case Kind::kIfStatement:
        return RunIf(GetChildren(node));
      case Kind::kForStatement:
        return RunFor(node);
      case Kind::kWhileStatement: {
        const std::vector<NodeId> parts = GetChildren(node);
        if (parts.empty()) return;
        return interpreter_.LoopWhile(Make(parts[0]), [this, node] { RunBody(node); });
      }
      case Kind::kReturnStatement:
        return RunReturn(node);
      case Kind::kFunctionDefinition:
        for (const NodeId parameter : GetParameters(node)) {
          interpreter_.AddArgument(tree_.GetText(parameter));
        }
        return RunBody(node);
      case Kind::kOther: {
        const string_view text = tree_.GetText(node);
        if (text == "break" || text == "continue") interpreter_.Leave();
        return;
      }
      default:  // with, try, decorated definitions: what is within
        for (const NodeId child : GetChildren(node)) {
          const Kind kind = tree_.GetKind(child);
          if (kind == Kind::kBlock) RunBlock(child);
          const bool is_part = kind == Kind::kFunctionDefinition || kind == Kind::kElseClause ||
                               kind == Kind::kExceptClause || kind == Kind::kFinallyClause;
          if (is_part) RunStatement(child);
        }
    }
  }

  void RunFor(NodeId node) {
    const NodeId target = tree_.Child(node, Field::kLeft);
    const NodeId range = tree_.Child(node, Field::kRight);
    if (target == kNoNode || range == kNoNode) return;
    const Expression& bound = Make(target);
    interpreter_.LoopOver(bound, Make(range), [this, node] { RunBody(node); });
  }

  void RunExpression(NodeId node) {
    for (const NodeId child : GetChildren(node)) {
      const Kind kind = tree_.GetKind(child);
      if (kind == Kind::kAssignment) {
        RunAssignment(child);
      } else if (kind == Kind::kAugmentedAssignment) {
        const NodeId left = tree_.Child(child, Field::kLeft);
        const NodeId right = tree_.Child(child, Field::kRight);
        const NodeId sign = tree_.Child(child, Field::kOperator);
        if (left == kNoNode || right == kNoNode || sign == kNoNode) continue;
        string_view op = tree_.GetText(sign);
        absl::ConsumeSuffix(&op, "=");
        const Expression& target = Make(left);
        interpreter_.Assign(target, *expressions_.MakeBinary(target, op, Make(right)));
      } else {
        interpreter_.Execute(Make(child));
      }
    }
  }

  // a = b = value has an assignment as its value.
  void RunAssignment(NodeId node) {
    NodeId value = tree_.Child(node, Field::kRight);
    std::vector<NodeId> targets = {tree_.Child(node, Field::kLeft)};
    while (value != kNoNode && tree_.GetKind(value) == Kind::kAssignment) {
      targets.push_back(tree_.Child(value, Field::kLeft));
      value = tree_.Child(value, Field::kRight);
    }
    if (value == kNoNode) return;  // x: int
    const Expression& assigned = Make(value);
    for (const NodeId target : targets) {
      if (target != kNoNode) interpreter_.Assign(Make(target), assigned);
    }
  }

  // An `if` is its condition and its block, and the clauses that follow.
  void RunIf(const std::vector<NodeId>& parts) {
    if (parts.empty()) return;
    const auto run_block = [&](const std::vector<NodeId>& nodes) {
      for (const NodeId node : nodes) {
        if (tree_.GetKind(node) == Kind::kBlock) RunBlock(node);
      }
    };
    const auto is_clause = [&](NodeId node) {
      return tree_.GetKind(node) == Kind::kElifClause || tree_.GetKind(node) == Kind::kElseClause;
    };
    size_t clause = 1;
    while (clause < parts.size() && !is_clause(parts[clause])) ++clause;
    const std::vector<NodeId> own(parts.begin() + 1,
                                  parts.begin() + static_cast<ptrdiff_t>(clause));
    const auto otherwise = [&] {
      if (clause == parts.size()) return;
      std::vector<NodeId> rest = GetChildren(parts[clause]);
      if (tree_.GetKind(parts[clause]) == Kind::kElseClause) return run_block(rest);
      rest.insert(rest.end(), parts.begin() + static_cast<ptrdiff_t>(clause) + 1, parts.end());
      if (++depth_ <= kMaxBlockDepth) RunIf(rest);
      --depth_;
    };
    interpreter_.Branch(
        Make(parts[0]), [&] { run_block(own); }, otherwise);
  }

  void RunReturn(NodeId node) {
    const std::vector<NodeId> values = GetChildren(node);
    if (values.empty()) return interpreter_.Leave();
    interpreter_.Return(*expressions_.MakeList(values));
  }

  const python::SyntaxTree& tree_;
  python::ExpressionArena arena_;
  python::ExpressionMaker expressions_;
  std::vector<const Expression*> made_;  // by node; null for those that were not read
  Interpreter& interpreter_;
  int depth_ = 0;
};

}  // namespace

bool ReadPython(string_view source, Interpreter* interpreter) {
  const bool is_indented = absl::StartsWith(source, " ") || absl::StartsWith(source, "\t");
  const std::string text = absl::StrCat(is_indented ? "if 1:\n" : "", source);
  const python::StandardParser parser({.refuse_errors = true});
  const absl::StatusOr<python::SyntaxTree> tree = parser.Parse(text);
  if (!tree.ok()) return false;
  return PythonReader(*tree, interpreter).Run();
}

}  // namespace kernelmill::deduplicator
