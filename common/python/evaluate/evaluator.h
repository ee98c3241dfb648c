#ifndef KERNELMILL_COMMON_PYTHON_EVALUATE_EVALUATOR_H_
#define KERNELMILL_COMMON_PYTHON_EVALUATE_EVALUATOR_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/evaluate/statements_by_name.h"
#include "common/python/evaluate/value.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/imports.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// The names of a call, a comprehension or a lambda.
struct Frame {
  absl::flat_hash_map<absl::string_view, Value> names;
  const Frame* around = nullptr;
};

// A file whose expressions are evaluated; its statements are shared by all evaluations.
struct EvaluatedFile {
  absl::string_view text;  // the file's own bytes, of the tree's text's length
  const SyntaxTree& tree;
  const ImportMap& imports;
  StatementsByName& statements;
};

// An interpreter of the expressions of a file, as far as the file alone decides them. Pure: nothing
// is executed, imported or read. Refers to the file. Not thread-safe.
//
// The basic idea: an expression is walked as Python would run it. A name is the value that the
// statements above give it, which are interpreted in turn when the name is first asked for. Every
// step costs one of `steps`, which must outlive the evaluator; nesting is bounded as well, so that
// a hostile file ends early, at the same step on every machine.
//
// It knows literals except f-strings; lists, tuples, dictionaries, comprehensions and slices; names
// that the statements above bind; arithmetic, comparisons and boolean operators; the built-in
// functions and methods of builtins.cc, itertools.product and chain, some of math, triton.cdiv and
// triton.next_power_of_2; functions and lambdas of the file that are made of assignments, if, for,
// while, return and the above; Config(...), which makes a record. Everything else makes the value
// unknown: imports of other files, the machine (torch.version, os.environ, is_hip()), attributes,
// `with`, `try`.
//
// An argument of a record that is not known, and that depends on no local name, is its own text.
class Evaluator {
 public:
  static constexpr int64_t kMaxSteps = 100'000;

  // `at`: the place of the expressions, which decides what their names mean.
  Evaluator(const EvaluatedFile& file, NodeId at, int64_t& steps)
      : file_(file), tree_(file.tree), at_(at), steps_(steps) {}
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  std::optional<Value> Evaluate(NodeId expression);

 private:
  using Result = std::optional<Value>;
  enum class Flow : uint8_t { kNext, kReturn, kBreak, kContinue, kUnknown };
  struct CallArguments {
    Value::Items positional;
    std::vector<std::pair<std::string, Value>> keywords;
  };

  // The depth of expressions, statements and calls in one another.
  class Nesting {
   public:
    explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
    ~Nesting() { --depth_; }
    bool too_deep() const { return depth_ > kMaxDepth; }

   private:
    static constexpr int kMaxDepth = 200;
    int& depth_;
  };

  // Expressions.
  bool Step(int64_t cost = 1);
  Result Expression(NodeId node);
  Result Name(absl::string_view name);
  Result Comparison(NodeId node);
  Result Condition(NodeId node);
  Result OtherOperator(NodeId node);
  Result Subscript(NodeId node);
  Result Slice(const Value& of, NodeId node);
  Result Attribute(NodeId node);
  Result OrText(NodeId node);
  std::optional<Value::Items> Iterate(const Value& value);
  bool Assign(NodeId target, const Value& value);
  bool SetItem(Value& of, const Value& key, const Value& value);
  const Value* FindItem(const Value& dict, const Value& key);

  // Literals, displays and comprehensions.
  Result Literal(NodeId node);
  Result String(NodeId node);
  Result Elements(NodeId node, Value::Type type);
  Result Dictionary(NodeId node, bool in_record);
  Result Comprehension(NodeId node);
  bool RunClauses(NodeId clause, NodeId body, Value::Items& items);

  // Calls (builtins.cc).
  Result Call(NodeId node);
  Result CallBuiltin(absl::string_view name, CallArguments& arguments);
  Result ReduceItems(absl::string_view name, Value::Items items);
  Result Zip(const Value::Items& sequences);
  Result Chain(const Value::Items& sequences);
  Result CallMethod(NodeId call, NodeId attribute);
  Result CallDictMethod(absl::string_view name, Value& of, const CallArguments& arguments);
  Result CallListMethod(absl::string_view name, Value& of, const Value::Items& given);
  Result MakeRecord(NodeId call);
  std::optional<CallArguments> ReadArguments(NodeId call);
  Result Range(const Value::Items& arguments);
  Result Product(const CallArguments& arguments);
  Result Extreme(const CallArguments& arguments, absl::string_view sign);
  Result Dict(CallArguments& arguments);
  Result Filter(const Value& function, const Value& items);

  // Statements and functions of the file.
  Result CallFunction(const Value& function, const CallArguments& arguments);
  bool BindParameters(NodeId parameters, const CallArguments& arguments, Frame& frame);
  Result RunStatements(absl::string_view name, const std::vector<NodeId>& statements);
  Flow Run(NodeId statement);
  Flow RunBlock(NodeId block);
  Flow RunExpression(NodeId statement);
  Flow RunAugmented(NodeId node);
  Flow RunIf(NodeId node);
  Flow RunFor(NodeId node);
  Flow RunWhile(NodeId node);
  Flow Define(NodeId node);

  NodeId FirstOperand(NodeId node) const;
  NodeId NextOperand(NodeId node) const;

  const EvaluatedFile file_;
  const SyntaxTree& tree_;
  const NodeId at_;
  int64_t& steps_;
  int depth_ = 0;
  Frame* frame_ = nullptr;  // the innermost; null outside any
  Value returned_;
  std::deque<Frame> frames_;  // all that were ever made: functions refer to them
  absl::flat_hash_map<absl::string_view, Result> known_;  // names outside any frame
  absl::flat_hash_set<absl::string_view> pending_;        // of these what is being looked up
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_EVALUATE_EVALUATOR_H_
