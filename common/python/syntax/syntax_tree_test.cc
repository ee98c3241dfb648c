#include "common/python/syntax/syntax_tree.h"

#include <gtest/gtest.h>

#include <vector>

namespace kernelmill::python {
namespace {

using Nodes = std::vector<NodeId>;

Nodes Listed(const SyntaxTree& tree, Kind kind, NodeId root) {
  const auto found = tree.Of(kind, root);
  return {found.begin(), found.end()};
}

// f(g(a)), h(b): a module of two calls, the first with one in it.
SyntaxTree TwoCalls() {
  return SyntaxTree("f(g(a)),h(b)",
                    {{0, 12, kNoNode, 8, Kind::kModule, Field::kNone, false},
                     {0, 7, 0, 5, Kind::kCall, Field::kNone, false},
                     {0, 1, 1, 3, Kind::kIdentifier, Field::kFunction, false},
                     {2, 6, 1, 5, Kind::kCall, Field::kNone, false},
                     {4, 5, 3, 5, Kind::kIdentifier, Field::kNone, false},
                     {7, 8, 0, 6, Kind::kToken, Field::kNone, false},
                     {8, 12, 0, 8, Kind::kCall, Field::kNone, false},
                     {10, 11, 6, 8, Kind::kIdentifier, Field::kNone, false}},
                    false);
}

TEST(SyntaxTreeTest, NodesAreListedByKindBelowANode) {
  const SyntaxTree tree = TwoCalls();
  EXPECT_EQ(Listed(tree, Kind::kCall, 0), (Nodes{1, 3, 6}));
  EXPECT_EQ(Listed(tree, Kind::kCall, 1), (Nodes{1, 3}));
  EXPECT_EQ(Listed(tree, Kind::kIdentifier, 3), (Nodes{4}));
  EXPECT_EQ(Listed(tree, Kind::kCall, 7), Nodes());
  EXPECT_EQ(Listed(tree, Kind::kLambda, 0), Nodes());
}

TEST(SyntaxTreeTest, NoNodesAreListedOfAnEmptyTree) {
  EXPECT_EQ(Listed(SyntaxTree("", {}, false), Kind::kCall, 0), Nodes());
}

}  // namespace
}  // namespace kernelmill::python
