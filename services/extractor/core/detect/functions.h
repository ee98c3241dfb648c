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

// A function that is a kernel, or a helper of kernels, of one of the DSLs.
struct JitFunction {
  NodeId definition = kNoNode;  // function_definition
  NodeId decorated = kNoNode;   // the decorated_definition around it, if there is one; else itself
  std::vector<NodeId> decorators;  // their expressions, outermost first
  v1::Dsl dsl = v1::DSL_UNSPECIFIED;
  v1::KernelForm form = v1::KERNEL_FORM_UNSPECIFIED;
  std::string found_by;         // as v1::Kernel
  NodeId applied_by = kNoNode;  // the call that makes it one, if no decorator does
  int first_line = 0;           // the first decorator's expression or `def`, whichever is first
  int last_line = 0;  // of the last statement's last token; comments after it are not counted in
  bool generated = false;  // by TorchInductor: one of its heuristics is a decorator
  // Of a candidate: the decorators that might make it one, dotted as imported.
  std::vector<std::string> imported_decorators;
};

struct FoundFunctions {
  std::vector<JitFunction> kernels;
  std::vector<JitFunction> candidates;    // decorated with what another file may define
  std::vector<v1::JitName> names;         // that other files may import; without a path
  std::map<std::string, int> other_dsls;  // functions of DSLs that are not extracted, by name
};

// Every such function, however deep in classes, functions and blocks, in the order of the text.
FoundFunctions FindFunctions(const ParsedText& text);

// A function's name after those of the classes and functions around it: Outer.inner.name.
std::string QualifiedName(const SyntaxTree& tree, NodeId definition);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_FUNCTIONS_H_
