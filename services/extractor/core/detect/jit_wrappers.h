#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_JIT_WRAPPERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_JIT_WRAPPERS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/imports.h"
#include "common/python/syntax/local_names.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

using python::Call;
using python::Calls;
using python::ImportMap;
using python::LocalNames;
using python::NodeId;
using python::SyntaxTree;

// Turns the function that it is called with into a kernel: triton.jit, or what the file wraps
// around it.
struct JitWrapper {
  v1::Dsl dsl = v1::DSL_UNSPECIFIED;
  std::string name;  // dotted, resolved through imports: a DSL's own or the file's
  bool own = false;  // the DSL's own, bare or called, with no definition of the file between
};

// Tells which expressions of a file are wrappers. Refers to its arguments. Not thread-safe.
//
// The basic idea: a name is one if it is a DSL's own (triton.jit), or if the file defines it as
// something that leads there: another name for one, what functools.partial or some call makes of
// one, a function or lambda that returns one or what one makes of a parameter, a class that derives
// from one or makes a kernel of a parameter. Names are followed through the file's scopes, a
// bounded number of steps; nothing is executed, so that of several definitions one that leads there
// is enough.
class JitWrappers {
 public:
  JitWrappers(const SyntaxTree& tree, const ImportMap& imports, const Calls& calls,
              const LocalNames& names)
      : tree_(tree), imports_(imports), calls_(calls), names_(names) {}

  // What an expression is when a function is passed to it: as a decorator or as what is called.
  std::optional<JitWrapper> Of(NodeId expression) { return Of(expression, 0); }

  // The same for what a call calls; `call.function` is there.
  std::optional<JitWrapper> OfCalled(const Call& call) { return OfCalled(call, 0); }

  // What a function, a class or an assigned expression is, by its node.
  std::optional<JitWrapper> OfValue(NodeId value) { return OfValue(value, 0); }

  // The expression that a call passes as the function, inside any functools.partial; kNoNode if
  // there is none.
  NodeId FunctionArgument(NodeId call) const;

  // The functions that an expression may be, inside any functools.partial: by its own name, or by
  // one that such an expression is assigned to.
  std::vector<NodeId> FunctionsMeant(NodeId expression) const;

 private:
  std::optional<JitWrapper> Of(NodeId expression, int depth);
  std::optional<JitWrapper> OfCalled(const Call& call, int depth);
  std::optional<JitWrapper> OfName(absl::string_view dotted, absl::string_view resolved, NodeId at,
                                   int depth);
  std::optional<JitWrapper> OfCall(NodeId node, int depth);
  std::optional<JitWrapper> OfValue(NodeId value, int depth);
  std::optional<JitWrapper> FindInValue(NodeId value, int depth);
  std::optional<JitWrapper> OfFirstArgument(NodeId call, int depth);
  std::optional<JitWrapper> InFunction(NodeId function, int depth);
  std::optional<JitWrapper> InClass(NodeId definition, int depth);
  std::optional<JitWrapper> InResult(NodeId expression, int depth);
  std::optional<JitWrapper> AppliedWithin(NodeId root, int depth);
  NodeId InsidePartial(NodeId expression) const;
  bool IsPartial(const Call& call) const { return call.resolved == "functools.partial"; }
  bool IsFunction(NodeId expression) const;
  bool TakesParameter(NodeId call) const;

  const SyntaxTree& tree_;
  const ImportMap& imports_;
  const Calls& calls_;
  const LocalNames& names_;
  absl::flat_hash_map<NodeId, std::optional<JitWrapper>> values_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_JIT_WRAPPERS_H_
