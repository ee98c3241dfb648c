#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_CALLS_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_CALLS_H_

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/imports.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

struct Call {
  NodeId node;
  NodeId function;             // the expression that is called; kNoNode in broken code
  absl::string_view name;      // its dotted name; empty for any other expression
  absl::string_view resolved;  // by the file's imports
};

// The calls of a text. Nearly all rules ask what a call calls: each is looked at once, and each
// name is resolved once. Immutable; refers to the tree.
class Calls {
 public:
  Calls(const SyntaxTree& tree, const ImportMap& imports);
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // Those in the subtree, in the order of the text.
  std::span<const Call> In(NodeId root) const;
  // The one of that node.
  const Call& At(NodeId call) const;

 private:
  absl::string_view ReadName(NodeId function);
  absl::string_view Resolve(absl::string_view name, const ImportMap& imports);

  const SyntaxTree& tree_;
  std::vector<Call> calls_;
  absl::flat_hash_map<absl::string_view, absl::string_view> resolved_;  // by name
  std::deque<std::string> texts_;                                       // what the text has not
};

// An argument of a call: f(x, y=z, *rest, **more).
struct Argument {
  absl::string_view keyword;  // empty where it is positional
  NodeId value;               // of *rest and **more the whole
};

using Arguments = absl::InlinedVector<Argument, 8>;

// Returns the arguments in the order of the text; nothing if `call` is no call or has only a
// generator.
Arguments GetArguments(const SyntaxTree& tree, NodeId call);

// The argument of that keyword, if it is not empty, else the positional one at that place, from 0;
// kNoNode if there is neither.
NodeId FindArgument(const Arguments& arguments, absl::string_view keyword, size_t position);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_CALLS_H_
