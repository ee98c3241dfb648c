#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDEX_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDEX_NAMES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::extractor {

using python::Call;
using python::Calls;
using python::NodeId;
using python::SyntaxTree;

// Which expressions of a subtree are indices: those that program_id, arange or the variable of a
// loop over a range is in, directly or through names assigned above; not what is loaded, or drawn
// at random, by one, but what a load is given.
class IndexNames {
 public:
  // One walk over the subtree.
  IndexNames(const SyntaxTree& tree, const Calls& calls, NodeId root);

  // `node` is in the subtree.
  bool IsIndex(NodeId node) const;

 private:
  struct Assignment {
    NodeId target;
    NodeId value;
  };

  // What is an index by itself.
  struct Source {
    NodeId node;
    uint32_t outside_loads;  // so many are in no load, up to this one
  };

  // From a load to the end of what stands below it.
  struct Load {
    NodeId node;
    NodeId end;
  };

  void Enter(NodeId node);
  void EnterCall(const Call& call);
  void AddSource(NodeId node);
  bool IsInLoad(NodeId node) const;
  uint32_t OutsideLoads(std::span<const Source> sources) const {
    return sources.empty() ? 0 : sources.back().outside_loads;
  }
  void AddNames(NodeId target);

  const SyntaxTree& tree_;
  const Calls& calls_;
  std::vector<Source> sources_;  // by node
  std::vector<Load> loads_;      // by node; those in others left out
  absl::flat_hash_set<absl::string_view> names_;
  std::vector<Assignment> open_;  // whose value the walk is in
};

// Whether a call makes the values of a loop: range, tl.range, tl.static_range.
bool IsRange(absl::string_view called);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDEX_NAMES_H_
