#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_INTERPRETER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_INTERPRETER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/code/lexer.h"
#include "common/python/syntax/expression.h"
#include "services/deduplicator/core/computation/value_graph.h"
#include "services/deduplicator/core/computation/variables.h"

namespace kernelmill::deduplicator {

// Runs the statements of one kernel over symbols instead of numbers, and makes the graph of what
// flows into memory. The readers of the languages call it for each statement, in order; C's
// expressions have the form of Python's. The rules:
//
//   - An address is not followed, except for the parameter that it begins at. A mask counts by the
//     comparisons that data or two positions decide: `offs < n` is a bound, `i >= j` is not.
//   - A position is the set of what it is made of: program ids, ranges, loops.
//   - A type counts where a value is made or cast; a cast to the type of memory does not.
//   - Hints (cache modifiers, alignment, precision of a dot) and shapes do not count.
//   - The body of a loop is run twice: the first run tells which names it carries.
//   - A name that refers to another variable is that variable: what it is given, the other has.
//
// Refers to the expressions. Not thread-safe.
class Interpreter {
 public:
  using Expression = python::Expression;
  using Block = absl::FunctionRef<void()>;

  Interpreter(code::Language language, absl::string_view name) : language_(language), name_(name) {}

  void AddParameter(absl::string_view name);
  // Binds a name to something of its own: the parameter of a function in the kernel.
  void AddArgument(absl::string_view name);
  // Declares a name without a value; C's arrays and variables. The type may be empty.
  void Declare(absl::string_view name, absl::string_view type);
  // Makes a name refer to the variable, or the part of one, that `object` names: float& x = y[i]. A
  // pointer refers to what it points at, float* x = &y[i], until it is assigned.
  void Refer(absl::string_view name, const Expression& object, bool is_pointer);
  // Ends what the name refers to: a declaration hides it.
  void Hide(absl::string_view name) { references_.erase(name); }

  // An expression that is a whole statement.
  void Execute(const Expression& expression);
  void Assign(const Expression& target, const Expression& value);
  // Assigns `value`, converted to `type` unless that is empty: float x = 1.
  void Assign(const Expression& target, const Expression& value, absl::string_view type);
  void Return(const Expression& value);
  // Leaves a block: `return` without a value, `break`, `continue`.
  void Leave();

  void Branch(const Expression& condition, Block then, Block otherwise);
  void Loop(Block body);
  // The same while a condition holds, which counts if data or two positions decide it.
  void LoopWhile(const Expression& condition, Block body);
  // The same for a loop that binds `target` to one element after another. The bounds of a range
  // count as far as they are positions or data: a causal loop ends where its rows do.
  void LoopOver(const Expression& target, const Expression& range, Block body);

  // Returns true if the kernel is too large to be followed.
  bool IsExhausted() const { return graph_.IsFull() || steps_ > kMaxSteps; }
  const ValueGraph& graph() const { return graph_; }

 private:
  using Class = ValueGraph::Class;
  using Kind = ValueGraph::Kind;
  using Id = ValueGraph::Id;
  using Value = Variables::Value;
  static constexpr int64_t kMaxSteps = 1'000'000;
  static constexpr int kMaxReferences = 4;  // that refer to each other

  struct Reference {
    const Expression* object;
    bool is_pointer;
  };
  using Arguments = std::vector<const Expression*>;
  struct CallParts {
    absl::string_view name;
    const Expression* receiver = nullptr;  // x of x.to(...), null for a function of a module
    Arguments arguments;                   // with keywords
  };

  bool IsC() const { return language_ == code::Language::kC; }
  Class GetClass(const Value& value) const { return graph_.GetClass(value.node); }

  Value MakeLeaf(absl::string_view op, Class value_class);
  Value Make(Kind kind, absl::string_view op, absl::Span<const Value> operands,
             Class at_least = Class::kUniform, uint32_t number = 0);
  Value Evaluate(const Expression& expression);
  Value EvaluateName(absl::string_view name);
  Value EvaluateNumber(absl::string_view text);
  Value EvaluateAttribute(const Expression& expression);
  Value EvaluateSubscript(const Expression& expression);
  Value EvaluateUnary(const Expression& expression);
  Value EvaluateAddress(const Expression& expression);
  Value Combine(absl::string_view op, const Value& a, const Value& b);
  Value AddPositions(const Value& a, const Value& b, Id exact);
  Value Compare(absl::string_view op, const Value& a, const Value& b);
  Value Select(const Value& condition, const Value& a, const Value& b);
  Value Cast(const Value& value, const Value& type);
  Value Convert(const Value& value, absl::string_view type);
  void RunLoop(absl::string_view op, Block body);

  CallParts SplitCall(const Expression& call) const;
  Value EvaluateCall(const Expression& call);
  Value CallByName(const CallParts& call);
  Value CallPassing(const CallParts& call);
  Value CallPosition(const CallParts& call);
  Value CallReduction(const CallParts& call);
  Value CallDot(const CallParts& call);
  Value CallUnknown(const CallParts& call);
  const Expression* GetArgument(const CallParts& call, absl::string_view keyword,
                                size_t place) const;
  Value EvaluateArgument(const CallParts& call, absl::string_view keyword, size_t place);

  Value Load(const Value& address, const Value& mask, const Value& other);
  Value LoadElement(const Value& array, const Value& index);
  void Store(absl::string_view op, const Value& address, Value value, const Value& mask);
  void AssignValue(const Expression& target, const Value& value);
  void AssignName(absl::string_view name, const Value& value);
  void AssignElement(const Expression& target, const Value& value);
  void CallStatement(const Expression& call);
  Id FindCondition(Id mask);
  void AddSink(absl::string_view op, std::vector<Id> operands);
  bool IsValue(const Expression& expression) const;
  const Expression& FindRoot(const Expression& expression) const;
  const Reference* FindReference(absl::string_view name) const;

  const code::Language language_;
  const absl::string_view name_;  // the kernel's: one that calls itself is not told by its name
  ValueGraph graph_;
  Variables variables_;
  absl::flat_hash_map<absl::string_view, absl::string_view> types_;  // declared names
  absl::flat_hash_map<absl::string_view, Reference> references_;     // also in variables_
  int followed_ = 0;        // references that are being followed
  std::vector<Id> guards_;  // the conditions around that data or positions decide
  uint32_t parameters_ = 0;
  uint32_t arguments_ = 0;
  int64_t steps_ = 0;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_INTERPRETER_H_
