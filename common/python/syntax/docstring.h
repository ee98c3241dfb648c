#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_DOCSTRING_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_DOCSTRING_H_

#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// Returns the first statement of a block; kNoNode in a broken block.
NodeId FindFirstStatement(const SyntaxTree& tree, NodeId block);

// Returns the string expression of a statement that CPython takes for documentation: it consists of
// a string alone, or of several that are joined, and none is an f-string or bytes. kNoNode for any
// other statement.
NodeId FindDocstring(const SyntaxTree& tree, NodeId statement);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_DOCSTRING_H_
