#ifndef KERNELMILL_COMMON_PYTHON_PARSE_TREE_BUILDER_H_
#define KERNELMILL_COMMON_PYTHON_PARSE_TREE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// The nodes of a tree, taken in post-order and returned in pre-order. Owned by one parser.
//
// The basic idea: a parser knows the kind of a node only after its first children: `a` of `a + b`
// comes before the operator. A node here takes all nodes that were added since a place that the
// parser remembers, so that an operand becomes a child without being moved.
class TreeBuilder {
 public:
  // A place: what is added from here on may become children of one node.
  using Place = uint32_t;

  explicit TreeBuilder(size_t text_size) { nodes_.reserve(text_size / 3); }

  Place here() const { return static_cast<Place>(nodes_.size()); }
  void AddLeaf(Kind kind, uint32_t start, uint32_t end, Field field = Field::kNone) {
    nodes_.push_back({start, end, 1, kind, field});
  }
  // A node of all that was added since `from`.
  void Close(Kind kind, Place from, uint32_t start, uint32_t end, Field field = Field::kNone) {
    nodes_.push_back({start, end, here() - from + 1, kind, field});
  }
  // Sets the field of the node closed last.
  void SetField(Field field) { nodes_.back().field = field; }
  // Sets the field of a leaf.
  void SetFieldAt(Place leaf, Field field) { nodes_[leaf].field = field; }
  Kind last_kind() const { return nodes_.back().kind; }
  uint32_t last_start() const { return nodes_.back().start; }

  // Returns whether a list or a tuple that is a child of the node closed last has splats in it.
  bool HasSplatsInElements() const;

  // Makes the expression closed last a target of an assignment: its lists and tuples become
  // patterns. False if it cannot be one.
  bool MakePattern() { return MakePattern(here() - 1, 0); }

  // The expression closed last is a list_splat from `star` on: makes it one of the name alone that
  // it begins with, below what was the splat's operand. False if it does not begin with one.
  bool BindSplatToName(Place star);

  std::vector<SyntaxNode> InPreOrder() const;

 private:
  struct Node {
    uint32_t start;
    uint32_t end;
    uint32_t size;  // the number of nodes of the subtree
    Kind kind;
    Field field;
  };

  bool MakePattern(Place node, int depth);

  std::vector<Node> nodes_;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_PARSE_TREE_BUILDER_H_
