#include "common/python/syntax/children.h"

namespace kernelmill::python {

std::vector<NodeId> Children(const SyntaxTree& tree, NodeId node) {
  std::vector<NodeId> children;
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (!IsLayout(tree.GetKind(child))) children.push_back(child);
  }
  return children;
}

}  // namespace kernelmill::python
