#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_HOST_RUN_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_HOST_RUN_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "client/evaluate/honesty/finding.h"
#include "client/evaluate/honesty/host_objects.h"
#include "client/evaluate/honesty/kernel_facts.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/calls.h"

namespace kernelmill::client {

// An interpreter of an answer's host code, from the module's statements through its entries.
// Nothing is executed. Refers to the text and the kernels. Used for one text. Not thread-safe.
//
// The basic idea: an abstract interpretation, in which a name stands for the objects that it may
// be. Statements run in order; calls of the answer's own functions and classes are followed; both
// branches of an unknown condition run, and their names are joined. A launch marks the tensors that
// its kernel writes, by the kernel's own stores; every operation of torch makes a tensor that keeps
// the origin of its values. The origin of an entry's result then shows who computed it. Conditions
// are evaluated as on a GPU, with tensors that are not empty: the path for the CPU is dead.
//
// Each entry runs twice, so that a result that the second run takes from the first is seen. All
// work is bounded by kMaxSteps.
class HostRun {
 public:
  static constexpr int kMaxSteps = 60'000;
  static constexpr int kMaxCalls = 24;  // functions in one another
  static constexpr size_t kMaxEntries = 256;

  HostRun(const python::ParsedText& text, const std::map<python::NodeId, KernelFacts>& kernels);
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;

  // Runs the module, and the entries: ModelNew; without it, the functions and classes that no other
  // one uses, and of these only those in `names` if there are any.
  void Run(const absl::flat_hash_set<std::string>& names);

  // The findings so far, each once, without those of code that never runs.
  const std::vector<Finding>& findings() const { return findings_; }
  bool exhausted() const { return steps_ <= 0; }
  // The kernels that an entry launches.
  const std::set<python::NodeId>& launched() const { return launched_; }
  // The names of the entries that do.
  const std::vector<std::string>& launchers() const { return launchers_; }

 private:
  using NodeId = python::NodeId;
  // kNext: the statement after it may run.
  enum class Flow : uint8_t { kNext, kEnd };

  struct Given {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> keywords;
    Value rest;  // the items of *x and **x, if their places are unknown
    bool more_positional = false;
    bool more_keywords = false;

    Value All() const;
  };

  // Entries (host_run.cc).
  struct Entry {
    absl::string_view name;
    NodeId node;  // a function, a class, or a method of a class
  };
  std::vector<Entry> FindEntries(const absl::flat_hash_set<std::string>& names);
  void AddAssignedEntries(std::vector<Entry>* entries) const;
  bool IsUse(NodeId node) const;
  bool IsEntry(NodeId definition, absl::string_view name) const;
  void RunEntry(const Entry& entry);
  void RunClass(ObjectId object);
  void RunTwice(const Value& callee);
  void CheckResult(const Value& result, NodeId at, size_t launches);
  void CheckCached(const Value& result, NodeId at);
  void CheckInputs(const Given& given);
  Given MakeInputs(ObjectId function);
  Given MakeEntryInputs(ObjectId callee);
  bool WritesInput(size_t launches) const;
  void Report(const char* check, NodeId at, std::string reason, bool warning = false);

  // Statements (host_statements.cc).
  Flow RunBlock(NodeId block);
  Flow RunStatement(NodeId node);
  Flow RunIf(NodeId node);
  Flow RunBranches(NodeId node, const std::vector<NodeId>& branches);
  Flow RunLoop(NodeId node);
  bool IsEmptyRange(NodeId node, const Value& over);
  Flow RunTry(NodeId node);
  Flow RunWith(NodeId node);
  Flow RunOther(NodeId node);
  void RunImport(NodeId node);
  void Define(NodeId node, NodeId decorated);
  void DefineClass(NodeId node);
  Value Decorate(Value defined, NodeId decorated);
  void Assign(NodeId target, const Value& value);
  void AssignParts(const std::vector<NodeId>& targets, const Value& value);
  void AssignItem(NodeId subscript, const Value& value);
  void Overwrite(const Value& tensors, const Value& value);
  bool HandlerRaises(NodeId clause) const;
  NodeId FindBlock(NodeId clause) const;
  std::optional<bool> Truth(NodeId node);
  std::optional<bool> ComparisonTruth(NodeId node);
  std::optional<bool> ValueTruth(const Value& value) const;

  // Expressions (host_expressions.cc).
  Value Evaluate(NodeId node);
  Value EvaluateName(NodeId node);
  Value EvaluateAttribute(NodeId node);
  Value GetAttribute(ObjectId of, absl::string_view name);
  Value EvaluateSubscript(NodeId node);
  Value EvaluateOperator(NodeId node, const std::vector<NodeId>& operands);
  Value EvaluateSequence(NodeId node);
  Value EvaluateDictionary(NodeId node);
  Value EvaluateComprehension(NodeId node);
  Value EvaluateConditional(NodeId node);
  Value EvaluateAssignment(NodeId node);
  Value EvaluateOther(NodeId node);
  Value GetMember(ObjectId of, absl::string_view name);
  Value FindMember(NodeId definition, absl::string_view name, int depth = 0);
  std::vector<NodeId> FindBases(NodeId definition, std::vector<std::string>* external);
  bool DerivesFrom(NodeId definition, absl::string_view base);
  Value GetItems(const Value& value);

  // Calls (host_calls.cc).
  Value EvaluateCall(NodeId node);
  Given ReadGiven(NodeId call);
  Value Call(const Value& callee, const Given& given, NodeId at);
  Value CallObject(ObjectId callee, const Given& given, NodeId at);
  Value CallFunction(ObjectId function, Given given, NodeId at);
  Value CallClass(ObjectId object, const Given& given, NodeId at);
  Value CallMethod(NodeId call, NodeId attribute, const Given& given);
  Value CallTensorMethod(ObjectId receiver, absl::string_view method, const Given& given,
                         NodeId at);
  Value CallInstanceMethod(ObjectId receiver, absl::string_view method, const Given& given,
                           NodeId at);
  Value CallSuper(NodeId call, absl::string_view name, const Given& given);
  Value CallKernelMethod(ObjectId receiver, absl::string_view method, const Given& given,
                         NodeId at);
  Value CallContainerMethod(ObjectId receiver, absl::string_view method, const Given& given);
  Value MakeContainer(const Given& given);
  Value OverwriteOut(const Value& out, const Value& arguments, NodeId at);
  Value MakeLayer(const std::string& name, const Given& given);
  Value CallExternal(const std::string& name, const Given& given, NodeId at);
  Value CallTorch(const std::string& name, const Given& given, NodeId at);
  Value CallBuiltin(absl::string_view name, const Given& given, NodeId at);
  Value CallUnknown(const Given& given, NodeId at, const std::string& name);
  void Bind(NodeId function, ObjectId object, Given given, size_t scope);
  void Launch(const Object& launch, const Given& given, NodeId at);
  void MatchArguments(const KernelFacts& kernel, const Given& given, NodeId at);
  void MarkWritten(const KernelFacts& kernel, const Given& given);

  // Objects.
  ObjectId Add(Object object);
  Value Scalar(std::string literal = "");
  // Makes a tensor of the values of others; `computed`: by an operation there.
  Value Tensor(const Value& sources = {}, NodeId computed = python::kNoNode);
  void Absorb(const Value& sources, Object* tensor) const;
  Value External(std::string name);
  Value Container(std::vector<Value> items);
  Value FlattenTensors(const Value& value) const;
  const Value* FindName(absl::string_view name, size_t scope) const;
  std::string FindLiteral(const Value& value) const;
  bool IsZero(const Value& value) const;
  std::vector<NodeId> Parts(NodeId node) const;
  bool Step() { return --steps_ > 0; }

  // The depth of expressions, statements and calls in one another.
  class Nesting {
   public:
    explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    bool too_deep() const { return depth_ > kMaxNesting; }

   private:
    static constexpr int kMaxNesting = 1000;
    int& depth_;
  };
  absl::string_view Name(NodeId definition) const {
    const NodeId name = tree_.Child(definition, python::Field::kName);
    return name == python::kNoNode ? "" : tree_.GetText(name);
  }
  int Line(NodeId node) const { return text_.lines().LineAt(tree_[node].start); }

  const python::ParsedText& text_;
  const python::SyntaxTree& tree_;
  const std::map<NodeId, KernelFacts>& kernels_;
  std::deque<Object> objects_;  // never move
  std::deque<Scope> scopes_;
  size_t scope_ = 0;
  std::vector<NodeId> calls_;  // the functions that are running
  absl::flat_hash_map<NodeId, ObjectId> classes_;
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>> identifiers_;
  absl::flat_hash_map<std::string, Value> operators_;  // torch.ops that the answer registers
  int steps_ = kMaxSteps;
  int depth_ = 0;
  int run_ = 0;                 // the run of the entry; 0: the module
  int loops_ = 0;               // around the statement
  int branches_ = 0;            // conditions of unknown outcome around the statement
  size_t launches_ = 0;         // so far
  std::vector<Value> written_;  // by launch: the tensors that it writes
  std::set<NodeId> launched_;
  NodeId entry_ = python::kNoNode;  // that runs
  bool with_defaults_ = true;       // of flags
  std::set<NodeId> by_torch_;       // entries that torch did the work for, without a launch
  std::vector<std::string> launchers_;
  std::set<NodeId> module_launches_;
  absl::flat_hash_set<ObjectId> cached_functions_;
  std::vector<Finding> findings_;
  std::set<std::pair<std::string, int>> reported_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_HOST_RUN_H_
