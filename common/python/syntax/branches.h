#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_BRANCHES_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_BRANCHES_H_

#include <cstddef>
#include <vector>

#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// A condition that decides whether a piece of code is reached.
struct Branch {
  NodeId condition;
  bool holds;  // false: the code is in the other branch
};

// Returns the conditions of the if statements, elif clauses and conditional expressions around the
// code at a byte of the text, up to the function around it; the innermost first. Loops are left
// out.
std::vector<Branch> FindBranches(const SyntaxTree& tree, size_t offset);

// Returns the definition of the innermost function around a byte of the text; kNoNode outside of
// functions.
NodeId FindFunctionAround(const SyntaxTree& tree, size_t offset);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_BRANCHES_H_
