#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETER_USAGE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETER_USAGE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/syntax_tree.h"
#include "services/extractor/core/describe/index_names.h"

namespace kernelmill::extractor {

using python::Arguments;
using python::Call;
using python::Calls;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

// What a kernel's body does with the names of its parameters.
enum class Usage : uint8_t {
  kAddress,     // what an address begins with that memory is accessed at: x in tl.load(x + i)
  kDescriptor,  // its methods load or store: x.load([i])
  kReference,   // of Pallas: x[...], x.at[...], or given to what loads, stores or copies
  kStrides,     // in the strides of a block pointer or tensor descriptor
  kShape,       // in the shape of one
  kCdiv,        // in an argument of cdiv
  kRange,       // in a bound or step of a loop
  kCompared,    // ordered against what an index is in
  kDivides,     // what an index is divided by: i // x, i % x
  kMultiplies,  // what an index is multiplied by: i * x
};

// The basic idea: an address is a sum, of which the leftmost name that is nowhere multiplied or
// compared, as long as it has that value, is the pointer; where that is a local name, so is the
// leftmost one of every value that it is assigned, be it one of a condition's or of tl.where. An
// index is what is made of program_id, arange and the variables of loops over a range, as far as
// one walk down the text tells; what is loaded by an index is none.
//
// Every step is linear in the size of the definition. Nothing is looked at but the definition
// itself: what it hands on to other functions is listed, for who knows what these do with it.
class ParameterUsage {
 public:
  // A parameter that a call is given: f(x), or f(x + i) where it can only be a pointer.
  struct HandedOn {
    absl::string_view parameter;
    NodeId call;
    absl::string_view keyword;  // empty where it is positional
    size_t position;            // of the positional ones, from 0
    bool whole;                 // the parameter and nothing else
  };

  // Calls that `is_helper` says are of functions that may be known are listed.
  template <typename IsHelper>
  ParameterUsage(const SyntaxTree& tree, const Calls& calls, NodeId definition,
                 const std::vector<absl::string_view>& parameters, bool is_pallas,
                 const IsHelper& is_helper)
      : ParameterUsage(tree, calls, definition, parameters, is_pallas) {
    if (body_ == kNoNode) return;
    for (const Call& call : calls.In(body_)) {
      if (is_helper(call)) ListHandedOn(call.node);
    }
  }

  bool Has(absl::string_view parameter, Usage usage) const;

  // In the order of the text; no more than kMaxHandedOn.
  static constexpr size_t kMaxHandedOn = 1024;
  std::vector<HandedOn> TakeHandedOn() { return std::move(handed_on_); }

 private:
  using Name = std::pair<absl::string_view, size_t>;  // and after how many assignments to it

  ParameterUsage(const SyntaxTree& tree, const Calls& calls, NodeId definition,
                 const std::vector<absl::string_view>& parameters, bool is_pallas);

  void VisitAssignment(NodeId node);
  void AddValue(NodeId target, NodeId value);
  void VisitOperator(NodeId node);
  void VisitCall(const Call& call);
  void VisitMemoryCall(const Call& call);
  void VisitReferences();
  void AddAddresses(absl::string_view function, const Arguments& arguments);
  void AddAddress(NodeId expression);
  template <typename Visit>
  void FollowAddresses(std::vector<NodeId> addresses, const Visit& visit, size_t& steps) const;
  void PointersIn(NodeId expression, std::vector<absl::string_view>& found) const;
  void AddIndexRegions();
  void MarkRegions();
  void Mark(absl::string_view name, Usage usage);
  bool IsBound(absl::string_view name) const;
  Name NameAt(NodeId identifier) const;
  void ListHandedOn(NodeId call);

  const SyntaxTree& tree_;
  const Calls& calls_;
  const NodeId body_;
  absl::flat_hash_map<absl::string_view, uint32_t> parameters_;  // name to the set of its usages
  absl::flat_hash_map<absl::string_view, absl::InlinedVector<NodeId, 2>> values_;  // of local names
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>> assigned_;  // where each one ends
  absl::flat_hash_set<Name> numbers_;  // multiplied or compared somewhere
  std::vector<NodeId> addresses_;
  struct Region {
    NodeId root;
    Usage usage;
  };
  std::vector<Region> regions_;
  std::vector<HandedOn> handed_on_;
  size_t steps_left_ = 1 << 16;  // for what is handed on
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETER_USAGE_H_
