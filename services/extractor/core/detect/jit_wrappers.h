#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_JIT_WRAPPERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_JIT_WRAPPERS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/imports.h"
#include "common/python/syntax/local_names.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/detect/file_values.h"

namespace kernelmill::extractor {

using python::Call;
using python::Calls;
using python::ImportMap;
using python::LocalNames;
using python::NodeId;
using python::SyntaxTree;

// A callable that turns its argument, a function, into a kernel: triton.jit, or a wrapper that the
// file defines around it.
struct JitWrapper {
  absl::string_view dsl;
  std::string name;  // the DSL's own dotted name, resolved through imports; or the file's name
  bool own =
      false;  // it is the DSL's own, bare or called, without a definition of the file between
  // Not empty if another file decides which DSL it is, if any: the dotted name that this file
  // imports it as, relative ones with their dots. `dsl` is then what the name says.
  std::string imported;
  // The wrapper's own parameter that takes the function, and its place without `self`; empty if it
  // is the first argument, or one with a usual name.
  std::string parameter;
  int place = -1;
};

// Returns whether a name comes from a file that may define wrappers: not from Python or a library.
bool IsOfAProject(absl::string_view origin);

// Returns whether the last part of a dotted name says that it may be a maker of kernels: it has jit
// in it, or is a language's word for one, such as `kernel`.
bool NamesAMaker(absl::string_view dotted);

// Returns whether a name says which maker of kernels it is: vllm.triton_utils.triton.jit. Some
// libraries have one too: torch._inductor.runtime.triton_compat.triton.jit.
bool SaysMaker(absl::string_view origin);

// Finds out which expressions of a file are wrappers. Refers to its arguments. Not thread-safe,
// because it caches results.
//
// The basic idea: an expression is a wrapper if it is a DSL's own name (triton.jit), or if it leads
// to a wrapper through the definitions of the file (FileValues), or to a name from another file
// that may be one:
//   - a name, a member or an entry that is assigned a wrapper;
//   - a choice that may give a wrapper: w if c else d, w or d, getattr(triton, "jit", d);
//   - functools.partial of a wrapper, or another call with a wrapper as its first argument;
//   - a call that composes decorators, with a wrapper among them;
//   - a member of a name that stands for a module: t = importlib.import_module("triton"), t.jit;
//   - a function or lambda that returns a wrapper, or returns the result of applying one to a
//   parameter;
//   - a class that derives from a wrapper, or that applies one to a parameter.
// Names are followed through the file's scopes for a bounded number of steps. Nothing is executed,
// so if a name has several definitions, one that leads to a wrapper is enough. A definition that
// leads back to itself is no wrapper.
class JitWrappers {
 public:
  JitWrappers(const SyntaxTree& tree, const ImportMap& imports, const Calls& calls,
              const LocalNames& names)
      : tree_(tree), imports_(imports), calls_(calls), names_(names), file_values_(tree, names) {}

  // Reads an expression that is used as a decorator or called. nullopt if it is no wrapper.
  std::optional<JitWrapper> Read(NodeId expression) { return Read(expression, 0); }

  // Reads the function of a call, which must have one.
  std::optional<JitWrapper> ReadCalled(const Call& call) { return ReadCalled(call, 0); }

  // Reads the node of a function, a class or an assigned expression.
  std::optional<JitWrapper> ReadValue(NodeId value) { return ReadValue(value, 0); }

  // Resolves a dotted name by the file's imports. Empty if the file itself defines a class or a
  // function of the first name.
  std::string Resolve(const std::string& dotted, NodeId at) const;

  // Returns the dotted names that an expression stands for outside the file, through assignments
  // and calls that import a module by its name; relative ones have their dots.
  std::vector<std::string> ListOrigins(NodeId expression) const;

  // Returns the dotted name that the file imports a dotted name as, relative ones with their dots;
  // the name itself if only an import of '*' can bring it; empty if the file has it.
  std::string FindOrigin(const std::string& dotted, NodeId at) const;

  // Returns the wrappers among the members of a class, an instance or a namespace, by name.
  std::vector<std::pair<absl::string_view, JitWrapper>> ReadMembers(NodeId value);

  // Returns the expression that a call passes as the function, inside any functools.partial;
  // kNoNode if it passes no argument. A wrapper may take it by a parameter of its own.
  NodeId FunctionArgument(NodeId call) const;
  NodeId FunctionArgument(NodeId call, const JitWrapper& wrapper) const;

  // The wrapper and the functions of a call of a function that applies one of its arguments to
  // another one: make(f, triton.jit).
  struct Application {
    JitWrapper wrapper;
    std::vector<NodeId> functions;
  };
  std::optional<Application> ReadApplication(const Call& call);

  // Returns whether a function has parameters for references to memory, as kernels of Pallas have.
  bool TakesReferences(NodeId definition) const;

  // Returns the functions that an expression may be, inside any functools.partial: by its own name,
  // or through assignments, members and loops.
  std::vector<NodeId> FunctionsMeant(NodeId expression) const;

  // Returns the functions that map(wrapper, functions) makes kernels.
  std::vector<NodeId> FunctionsMapped(NodeId call) const;

 private:
  std::optional<JitWrapper> Read(NodeId expression, int depth);
  std::optional<JitWrapper> ReadCalled(const Call& call, int depth);
  std::optional<JitWrapper> ReadName(absl::string_view dotted, absl::string_view resolved,
                                     NodeId at, int depth);
  std::optional<JitWrapper> ReadCall(NodeId node, int depth);
  std::optional<JitWrapper> ReadChoice(NodeId node, int depth);
  std::optional<JitWrapper> ReadGetattr(NodeId call) const;
  std::optional<JitWrapper> ReadComposed(const Call& call, int depth);
  std::optional<JitWrapper> ReadImported(absl::string_view dotted, NodeId at) const;
  std::optional<JitWrapper> ReadValue(NodeId value, int depth);
  std::optional<JitWrapper> ResolveValue(NodeId value, int depth);
  std::optional<JitWrapper> ReadFirstArgument(NodeId call, int depth);
  std::optional<JitWrapper> InFunction(NodeId function, int depth);
  std::optional<JitWrapper> InClass(NodeId definition, int depth);
  std::optional<JitWrapper> InResult(NodeId expression, int depth);
  std::optional<JitWrapper> AppliedWithin(NodeId root, int depth);
  std::optional<JitWrapper> ReadGet(NodeId call, int depth);
  void AddOrigins(NodeId expression, int& steps, std::vector<std::string>& origins) const;
  void AddOriginsOfName(const std::string& dotted, NodeId at, int& steps,
                        std::vector<std::string>& origins) const;
  using Applied = std::pair<JitWrapper, JitWrapper>;  // only their parameters
  const std::vector<Applied>& ListApplied(NodeId function);
  void SetPlace(NodeId function, JitWrapper& wrapper) const;
  NodeId FindPassed(NodeId call, absl::string_view parameter, int place) const;
  NodeId InsidePartial(NodeId expression) const;
  bool IsPartial(const Call& call) const;
  bool IsFunction(NodeId expression) const;
  bool IsGiven(NodeId name) const;
  NodeId FindGiven(NodeId argument) const;
  bool TakesParameter(NodeId call) const;
  bool Composes(const Call& call) const;
  NodeId FindForwarded(NodeId lambda) const;
  void AddFunctions(NodeId expression, int& steps, std::vector<NodeId>& functions) const;
  void AddReturned(NodeId call, int& steps, std::vector<NodeId>& functions) const;
  std::vector<NodeId> FindReaching(std::vector<NodeId> values, NodeId at) const;
  NodeId FindFunctionAround(NodeId node) const;

  const SyntaxTree& tree_;
  const ImportMap& imports_;
  const Calls& calls_;
  const LocalNames& names_;
  const FileValues file_values_;
  absl::flat_hash_map<NodeId, std::optional<JitWrapper>> values_;  // cached results of ReadValue
  absl::flat_hash_map<NodeId, std::vector<Applied>> applied_;      // results of ListApplied
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_JIT_WRAPPERS_H_
