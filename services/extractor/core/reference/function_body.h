#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_FUNCTION_BODY_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_FUNCTION_BODY_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/describe/kernels.h"

namespace kernelmill::extractor {

// The statements of a function, each with the names that it gives a value, changes and reads, for
// questions about which statements a value comes from. Refers to the file. Not thread-safe.
//
// The basic idea: a simple statement is one entry, and so is the head of a compound one, whatever
// depth it is at. A name's value at a place comes from the statements above that bind or change the
// name, up to one that binds it whatever happened before. The order of loops is not followed: that
// finds too few statements only where a loop uses what its last round has left.
class FunctionBody {
 public:
  using Names = std::vector<absl::string_view>;

  struct Statement {
    NodeId node = kNoNode;  // for a head, the compound statement
    int first_line = 0;     // for a head, its own lines only
    int last_line = 0;
    bool head = false;
    int clause_of = -1;       // for an elif or else: the head of its if or for
    std::vector<int> around;  // the heads of the compound statements around it, outermost first
    Names binds;
    Names changes;  // x of x[i] = v, x.a = v, x.zero_(), init.normal_(x.weight), f(out=x)
    Names given;    // the arguments of a call that is there for its effect: k[grid](x, out)
    Names targets;  // of `changes` x of x[i] = v, x.a = v, if it is nowhere else in the statement
    Names reads;
    Names shapes;     // x of randn_like(x) and x.new_empty(2), where only the shape counts
    Names callees;    // x of x(...), x.f(...)
    Names gradients;  // x of x.grad, x.weight.grad
    bool augmented = false;
    NodeId backward = kNoNode;    // y of the statement y.backward(...)
    bool detaches = false;        // no gradient goes through it: x.detach(), x.data
    bool takes_gradient = false;  // it calls autograd.grad or a backward
  };

  // The most statements; what is below them is not read.
  static constexpr size_t kMaxStatements = 2000;

  // `steps` are those that searches have left, one for each statement that they look at. They must
  // outlive it.
  FunctionBody(const ParsedFile& file, NodeId function, int64_t& steps);

  NodeId function() const { return function_; }
  const std::vector<Statement>& statements() const { return statements_; }
  const Names& parameters() const { return parameters_; }
  bool IsParameter(absl::string_view name) const;
  // Returns whether the function binds the name, as a parameter or by a statement.
  bool Binds(absl::string_view name) const;

  // Returns the last statement that begins before `node` ends, and is it or holds it.
  int FindStatement(NodeId node) const;

  // Returns the statements above `at` that the name's value there comes from, the nearest first.
  // None once the steps of the file are spent.
  std::vector<int> FindSources(absl::string_view name, int at) const;
  // Returns the nearest backward() above `at` that gives the name a gradient; -1 without one.
  int FindBackward(absl::string_view name, int at) const;

  // Returns what a statement assigns to the name; kNoNode if that is not one expression.
  NodeId FindValue(int statement, absl::string_view name) const;

  // Returns the place of the name among those that a statement takes a value apart for, a, b = f();
  // -1 if it does not, or if the value is written apart.
  int FindPlace(int statement, absl::string_view name) const;

  // Reads an expression as if it were a statement.
  Statement Read(NodeId expression) const;

 private:
  void AddBlock(NodeId block, std::vector<int>& around);
  void AddCompound(NodeId node, std::vector<int>& around);
  void AddSimple(NodeId node, const std::vector<int>& around);
  void ReadExpressions(NodeId root, Statement& statement) const;
  void ReadTargets(NodeId node, Statement& statement) const;
  void ReadCallStatement(NodeId call, Statement& statement) const;
  void ChooseOutputs();
  void FindGradients();

  const ParsedFile& file_;
  const SyntaxTree& tree_;
  const NodeId function_;
  Names parameters_;
  std::vector<Statement> statements_;
  absl::flat_hash_set<absl::string_view> bound_;
  // By backward() statement: the names that its value comes from.
  absl::flat_hash_map<int, absl::flat_hash_set<absl::string_view>> sources_of_backward_;
  int64_t& steps_left_;
};

// Returns the x of x.a[0].b(c).d; empty if the expression begins with something else.
absl::string_view BaseName(const SyntaxTree& tree, NodeId expression);

// Returns the class around a method; kNoNode if the function is no method.
NodeId ClassAround(const SyntaxTree& tree, NodeId function);

// Returns whether a function is in no other function or class.
bool IsTopLevel(const SyntaxTree& tree, NodeId function);

// Returns the longest dotted expression that the identifier begins; kNoNode for the b of a.b and
// the name of a keyword argument.
NodeId DottedFrom(const SyntaxTree& tree, NodeId identifier);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_FUNCTION_BODY_H_
