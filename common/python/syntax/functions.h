#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_FUNCTIONS_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/expression.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// Returns the name that a parameter binds: x, x=1, x: T, x: T = 1, *x, **x. kNoNode for '*' and
// '/'.
NodeId ParameterName(const SyntaxTree& tree, NodeId parameter);

// A simple statement, or the head of a compound one. It does not know which blocks hold it.
struct Statement {
  enum Kind : uint8_t {
    kExpression,  // value
    kAssign,      // target = value; the value of target += x is target + x
    kFor,         // for target in value
    kCondition,   // if, elif, while, assert, with: value
    kReturn,      // value
  };
  Kind kind = kExpression;
  const Expression* target = nullptr;
  const Expression* value = nullptr;
};

struct FunctionParameter {
  absl::string_view name;
  absl::string_view annotation;
  const Expression* default_value = nullptr;  // null if it has no default
};

// A function with the statements of its body, without those of functions in it.
struct Function {
  absl::string_view name;
  std::vector<FunctionParameter> parameters;  // with *args and **kwargs
  std::vector<const Expression*> decorators;  // outermost first
  std::vector<Statement> statements;
  // All values of each local name, in the order of the text: what it is assigned, and the range of
  // a loop's variable. A part of a value that is not a list is a kOther.
  absl::flat_hash_map<absl::string_view, std::vector<const Expression*>> values;
  absl::flat_hash_set<absl::string_view> loop_names;

  // Returns the place of a parameter; -1 if there is no such parameter.
  int Find(absl::string_view parameter) const;
};

// The functions of a file and the statements of its module level, as rules ask for them: each with
// all values of its names, whatever the order of execution. Statements of classes count as those of
// what is around the class. Refers to the tree. Immutable.
class ModuleFunctions {
 public:
  explicit ModuleFunctions(const SyntaxTree& tree);
  ModuleFunctions(const ModuleFunctions&) = delete;
  ModuleFunctions& operator=(const ModuleFunctions&) = delete;

  // Returns the last jit function of that name, else the last function; null if no function has it.
  const Function* Find(absl::string_view name) const;
  const std::deque<Function>& all() const { return functions_; }
  // The statements outside all functions, without imports.
  const Function& module_level() const { return module_; }

 private:
  void EnterNode(NodeId node, Function& into);
  void AddFunction(NodeId node);
  void AddParameters(NodeId parameters, Function& function);
  void AddExpressionStatement(NodeId node, Function& into);
  void AddAssignment(NodeId node, Function& into);
  void AddLoop(NodeId node, Function& into);
  void AddStatement(Statement::Kind kind, const std::vector<NodeId>& values, Function& into);
  void Bind(const Expression& target, const Expression& value, Function& into);

  const SyntaxTree& tree_;
  ExpressionArena arena_;
  ExpressionMaker expressions_;
  std::deque<Function> functions_;
  Function module_;
  absl::flat_hash_map<absl::string_view, const Function*> by_name_;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_FUNCTIONS_H_
