#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_FUNCTIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_FUNCTIONS_H_

#include <string>
#include <vector>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/imports.h"
#include "services/extractor/core/syntax_tree.h"
#include "services/extractor/core/text_lines.h"

namespace kernelmill::extractor {

// A function with a decorator that resolves to Triton's or Gluon's jit.
struct JitFunction {
  NodeId definition;               // function_definition
  NodeId decorated;                // the decorated_definition around it
  std::vector<NodeId> decorators;  // their expressions, outermost first
  v1::Dsl dsl;
  int first_line;  // the first decorator's expression or `def`, whichever is first
  int last_line;   // of the last statement's last token; comments after it are not counted in
  bool generated;  // by TorchInductor: one of its heuristics is a decorator
};

// Every such function, however deep in classes, functions and blocks, in the order of the text.
std::vector<JitFunction> FindJitFunctions(const SyntaxTree& tree, const ImportMap& imports,
                                          const LineIndex& lines);

// A function's name after those of the classes and functions around it: Outer.inner.name.
std::string QualifiedName(const SyntaxTree& tree, NodeId definition);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_FUNCTIONS_H_
