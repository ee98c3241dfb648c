#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/functions.h"
#include "services/extractor/core/syntax/calls.h"
#include "services/extractor/core/syntax/syntax_tree.h"

namespace kernelmill::extractor {

// What a kernel's body does with the names of its parameters.
enum class Usage : uint8_t {
  kAddress,     // what an address begins with that memory is accessed at: x in tl.load(x + i)
  kDescriptor,  // its methods load or store: x.load([i])
  kStrides,     // in the strides of a block pointer or tensor descriptor
  kShape,       // in the shape of one
  kCdiv,        // in an argument of cdiv
  kRange,       // in a bound or step of a loop
  kCompared,    // ordered against what an index is in
};

// The basic idea: an address is a sum, of which the leftmost name that is nowhere multiplied or
// compared is the pointer; where that is a local name, so is the leftmost one of every value that
// it is assigned. An index is what is made of program_id, arange and the variables of loops over a
// range, as far as one walk down the text tells; what is loaded by an index is none.
//
// Every step is linear in the size of the definition. Nothing is looked at but the definition
// itself: what other functions do with their arguments is not known.
class ParameterUsage {
 public:
  ParameterUsage(const SyntaxTree& tree, const Calls& calls, NodeId definition,
                 const std::vector<absl::string_view>& parameters);

  bool Has(absl::string_view parameter, Usage usage) const;

 private:
  void VisitAssignment(NodeId node);
  void AddValue(NodeId target, NodeId value);
  void VisitOperator(NodeId node);
  void VisitCall(const Call& call);
  void VisitMemoryCall(const Call& call);
  void AddAddresses(absl::string_view function, const Arguments& arguments);
  void AddAddress(NodeId expression);
  void FollowAddresses();
  absl::string_view PointerIn(NodeId expression) const;
  void MarkRegions();
  void Mark(absl::string_view name, Usage usage);
  bool IsBound(absl::string_view name) const;

  const SyntaxTree& tree_;
  const Calls& calls_;
  const NodeId body_;
  absl::flat_hash_map<absl::string_view, uint32_t> parameters_;  // name to the set of its usages
  absl::flat_hash_map<absl::string_view, absl::InlinedVector<NodeId, 2>> values_;  // of local names
  absl::flat_hash_set<absl::string_view> numbers_;  // multiplied or compared somewhere
  std::vector<NodeId> addresses_;
  struct Region {
    NodeId root;
    Usage usage;
  };
  std::vector<Region> regions_;
};

// Sets the kernel's parameters, each with its role and the rule that gave it: the first of
//
//   role       rule                    holds if
//   constexpr  annotation:constexpr    its annotation names constexpr
//   pointer    annotation:pointer      its annotation names a pointer or a descriptor
//   pointer    usage:descriptor        its methods load or store
//   pointer    usage:address           memory is accessed at an address that begins with it
//   stride     name:stride             its name says so
//   stride     usage:strides           it is in a block pointer's or tensor descriptor's strides
//   pointer    name:FRAGMENT           its name has ptr, pointer or desc in it
//   size       usage:shape             it is in a block pointer's or tensor descriptor's shape
//   size       usage:cdiv              it is in an argument of cdiv
//   size       usage:range             it is in a bound or step of a loop
//   size       usage:compared          it bounds an index, as in a mask
//   size       name:FRAGMENT           its name says so: N, n_elements, seq_len, numel and so on
//   other      none
//
// Usage is that in the kernel's own body: see ParameterUsage.
void AddParameters(const ParsedFile& file, const JitFunction& function, v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_
