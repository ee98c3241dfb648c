#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_INTERPRETER_ONLY_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_INTERPRETER_ONLY_H_

#include <vector>

#include "client/evaluate/honesty/finding.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::client {

// Finds code that Triton's interpreter runs and Triton's compiler refuses on every target: the
// interpreter executes a kernel as Python, and a tensor's `handle` is then an array of numpy. So
// such an answer can be right on the interpreter without a kernel that a GPU could run.
//
// In `functions`, the definitions of kernels and of the functions that they call: statements that
// Triton does not know (try, import, lambda, del, ...), calls of numpy and of other packages, of
// builtins that it lacks, and of the answer's functions that no decorator makes Triton's. Anywhere:
// `.handle`, and the interpreter's own modules. Statements count in all branches: the compiler
// skips one whose condition is a constant, but no honest kernel has such a statement there.
std::vector<Finding> FindInterpreterOnly(const python::ParsedText& text,
                                         const std::vector<python::NodeId>& functions);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_INTERPRETER_ONLY_H_
