#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/usage/parameter_places.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernel_references.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

using python::NodeId;
using python::ParameterPlaces;

// clang-format off
// The parameters of all kernels of a file, each with its role and the first rule that gives it:
//
//   role       rule                    holds if
//   constexpr  annotation:constexpr    its annotation names constexpr
//   pointer    annotation:pointer      its annotation names a pointer or a descriptor
//   pointer    usage:descriptor        its methods load or store
//   pointer    usage:address           memory is accessed at an address that begins with it
//   pointer    usage:reference         in Pallas: it is subscripted, or copied from or to
//   pointer    helper:RULE             a helper takes it, or an address that begins with it, for a
//                                      pointer, by one of the rules above
//   stride     name:stride             its name contains stride
//   stride     usage:strides           it is in a block pointer's or tensor descriptor's strides
//   pointer    name:FRAGMENT           its name has ptr, pointer, desc, smem or the like in it
//   size       usage:shape             it is in a block pointer's or tensor descriptor's shape
//   size       usage:cdiv              it is in an argument of cdiv
//   size       usage:range             it is in a bound or step of a loop
//   size       usage:compared          it bounds an index, as in a mask
//   size       usage:divides           an index is divided by it: i // x, i % x
//   size       name:FRAGMENT           it has a size's name: N, n_elements, seq_len, numel and so
//                                      on; but not a place's name: dim_offset, row_start
//   size       usage:multiplies        an index is multiplied by it, and its name is that of a
//                                      dimension: up to three capitals
//   stride     usage:multiplies        the same, and its name begins with a word "s"
//   any        helper:RULE             a helper that it is passed to unchanged has it in this role
//   other      none
//
// Usage is searched for in the kernel's own body (ParameterPlaces). Helpers are the kernels of the
// file that it calls, and those that these call, up to kMaxRounds deep. Refers to nothing after
// construction.
// clang-format on
class ParameterRoles {
 public:
  static constexpr int kMaxRounds = 8;
  // The most arguments of a file that are followed into helpers.
  static constexpr size_t kMaxHandedOn = 1 << 16;

  ParameterRoles(const ParsedFile& file, const KernelReferences& references,
                 const std::vector<JitFunction>& functions);

  // Sets the kernel's parameters.
  void AddParameters(const JitFunction& function, v1::Kernel& kernel) const;

 private:
  using Parameters = std::vector<v1::Parameter>;
  // An argument that a function passes to a parameter of another.
  struct Edge {
    size_t from_function;
    size_t from;
    size_t to_function;
    size_t to;
    bool whole;
  };

  void AddFunction(const ParsedFile& file, const KernelReferences& references,
                   const JitFunction& function);
  void AddEdges(const ParsedFile& file, const KernelReferences& references, size_t function,
                const std::vector<ParameterPlaces::HandedOn>& handed_on);
  void FollowEdges();
  size_t Find(size_t function, absl::string_view parameter) const;

  absl::flat_hash_map<NodeId, size_t> places_;  // indexes of functions, by definition
  std::vector<Parameters> functions_;
  std::vector<std::vector<ParameterPlaces::HandedOn>> handed_on_;
  size_t handed_on_left_ = kMaxHandedOn;
  std::vector<Edge> edges_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_
