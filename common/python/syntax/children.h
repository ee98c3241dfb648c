#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_CHILDREN_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_CHILDREN_H_

#include <vector>

#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// Returns the children of a node in the order of the text, without layout.
std::vector<NodeId> Children(const SyntaxTree& tree, NodeId node);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_CHILDREN_H_
