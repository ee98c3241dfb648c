#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_INDEX_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_INDEX_NAMES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/syntax_tree.h"

namespace kernelmill::extractor {

// Which expressions of a subtree are indices: those that program_id, arange or the variable of a
// loop over a range is in, directly or through names assigned above; not what is loaded by one,
// but what a load is given.
class IndexNames {
 public:
  // One walk over the subtree.
  IndexNames(const SyntaxTree& tree, NodeId root);

  // `node` is in the subtree.
  bool IsIndex(NodeId node) const;

 private:
  struct Assignment {
    NodeId target;
    NodeId value;
  };

  // Of the nodes before one: how many are indices by themselves.
  struct Counts {
    uint32_t all = 0;
    uint32_t outside_loads = 0;
    bool in_load = false;  // the node itself
  };

  bool IsSource(NodeId node) const;
  void Enter(NodeId node);
  void Assign(const Assignment& assignment);
  void AddNames(NodeId target);

  const SyntaxTree& tree_;
  const NodeId root_;
  std::vector<Counts> before_;  // by node
  absl::flat_hash_set<absl::string_view> names_;
  std::vector<Assignment> open_;  // whose value the walk is in
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_INDEX_NAMES_H_
