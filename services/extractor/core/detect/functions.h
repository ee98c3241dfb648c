#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_FUNCTIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_FUNCTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

using python::kNoNode;
using python::NodeId;
using python::ParsedText;
using python::SyntaxTree;

// Begins found_by of a kernel that is one by a name alone, whose module was not read.
inline constexpr absl::string_view kByName = "name:";

// Begins the name of a v1::JitName that stands for a function of another file which this file makes
// a kernel, pl.pallas_call(kernels.body): the maker's name follows. By itself it is the decorator
// of a candidate that only another file may make a kernel.
inline constexpr absl::string_view kMadeElsewhere = "()";

// A function that is a kernel or a helper of kernels, in one of the languages.
struct JitFunction {
  NodeId definition = kNoNode;     // function_definition
  NodeId decorated = kNoNode;      // the decorated_definition around it, else the function itself
  std::vector<NodeId> decorators;  // their expressions, outermost first
  absl::string_view dsl;
  v1::KernelForm form = v1::KERNEL_FORM_UNSPECIFIED;
  std::string found_by;         // see v1::Kernel
  NodeId applied_by = kNoNode;  // the call that makes it a kernel, if no decorator does
  int first_line = 0;           // the first decorator's expression or `def`, whichever is first
  int last_line = 0;       // the line of the last statement's last token, without later comments
  bool generated = false;  // by TorchInductor: one of its heuristics is a decorator
  // For a candidate, the decorators that might make it a kernel, dotted as imported.
  std::vector<std::string> imported_decorators;
};

// All functions of a text that are kernels or may be; in the order of the text.
struct FoundFunctions {
  std::vector<JitFunction> kernels;
  std::vector<JitFunction> candidates;  // their decorators may be wrappers from another file
  std::vector<v1::JitName> names;       // wrappers that other files may import; without a path
};

// Finds every such function, at any depth of classes, functions and blocks.
//
// The basic idea: a kernel is made by its decorators, or by a call that takes the function:
// f = triton.jit(f), pl.pallas_call(f, ...). A decorator or called function counts if it resolves
// to a DSL's own name, or is a wrapper of this file (JitWrappers). A decorator that is imported
// from another file of the project may be a wrapper as well: its function is a candidate, which the
// link stage decides on. So is a function of references, as Pallas's kernels are, that no call of
// this file makes a kernel.
FoundFunctions FindFunctions(const ParsedText& text);

// Returns a function's name behind those of the classes and functions around it: Outer.inner.name.
std::string QualifiedName(const SyntaxTree& tree, NodeId definition);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_FUNCTIONS_H_
