#ifndef KERNELMILL_COMMON_PYTHON_USAGE_PARAMETER_PLACES_H_
#define KERNELMILL_COMMON_PYTHON_USAGE_PARAMETER_PLACES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/usage/usage_rules.h"

namespace kernelmill::python {

// The rules by which a kernel's body shows what its parameters are, by where their names are
// written: those rules of usage_rules.h that have a role. Refers to the tree and its calls. Not
// thread-safe while it is made, immutable afterwards.
//
// The basic idea: an address is a sum. Its pointer is the leftmost name that the body never
// multiplies or compares while the name has that value. If that is a local name, the leftmost name
// of every value that it is assigned is a pointer too, also of both branches of a condition or a
// tl.where. An index is made of program_id, arange and the variables of loops over a range, as far
// as one walk down the text tells; a value that is loaded by an index is not one.
//
// UsageFinder has the same rules for the compiler, in a walk of its own. It follows values, through
// helpers and both ways of an assignment, on the expressions of one module that is to be compiled.
// This goes over the text of every kernel of any file, also of Pallas and Gluon and of files that
// are broken, in linear time. One walk for both would change the roles of exported parameters; the
// rules and their words are shared (usage_rules.h, triton_calls.h).
//
// Every step is linear in the size of the definition. Only the definition is looked at: parameters
// that it hands on to other functions are listed, for callers who know those functions.
class ParameterPlaces {
 public:
  // A parameter that a call is given: f(x), or f(x + i) where it can only be a pointer.
  struct HandedOn {
    absl::string_view parameter;
    NodeId call;
    absl::string_view keyword;  // empty where it is positional
    size_t position;            // of the positional ones, from 0
    bool whole;                 // the parameter and nothing else
  };

  // A kernel's definition in a tree. The tree and its calls must outlive the places.
  struct Kernel {
    const SyntaxTree& tree;
    const Calls& calls;
    NodeId definition;
    const std::vector<absl::string_view>& parameters;  // their names
    bool is_pallas;
  };

  // Calls that `is_helper` says are of functions that may be known are listed.
  template <typename IsHelper>
  ParameterPlaces(const Kernel& kernel, const IsHelper& is_helper) : ParameterPlaces(kernel) {
    if (body_ == kNoNode) return;
    for (const Call& call : calls_.In(body_)) {
      if (is_helper(call)) ListHandedOn(call.node);
    }
  }

  // Returns whether the rule holds for the parameter.
  bool Has(absl::string_view parameter, UsageRule rule) const;

  // In the order of the text; no more than kMaxHandedOn.
  static constexpr size_t kMaxHandedOn = 1024;
  std::vector<HandedOn> TakeHandedOn() { return std::move(handed_on_); }

 private:
  using Name = std::pair<absl::string_view, size_t>;  // and after how many assignments to it

  explicit ParameterPlaces(const Kernel& kernel);

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
  void Mark(absl::string_view name, UsageRule rule);
  bool IsBound(absl::string_view name) const;
  Name NameAt(NodeId identifier) const;
  void ListHandedOn(NodeId call);

  const SyntaxTree& tree_;
  const Calls& calls_;
  const NodeId body_;
  absl::flat_hash_map<absl::string_view, uint32_t> parameters_;  // name to a set of rules, by bits
  absl::flat_hash_map<absl::string_view, absl::InlinedVector<NodeId, 2>> values_;  // by local name
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>>
      assigned_;                       // by name: the end of each assignment
  absl::flat_hash_set<Name> numbers_;  // multiplied or compared somewhere
  std::vector<NodeId> addresses_;
  struct Region {
    NodeId root;
    UsageRule rule;
  };
  std::vector<Region> regions_;
  std::vector<HandedOn> handed_on_;
  size_t steps_left_ = 1 << 16;  // for what is handed on
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_PARAMETER_PLACES_H_
