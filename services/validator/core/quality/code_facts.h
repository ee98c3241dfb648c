#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CODE_FACTS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CODE_FACTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// A call as written: "tl.load(p, mask=m)" is {"tl.load", 1, {"mask"}}.
struct Call {
  std::string callee;                 // dotted name
  int positional = 0;                 // arguments without a keyword
  std::vector<std::string> keywords;  // in order
};

// The names and calls of Python code. Comments and strings do not count.
struct CodeFacts {
  std::vector<std::string> names;  // identifiers; sorted, each once
  std::vector<Call> calls;         // in the order in which they close; only calls of names
  // Names in the arguments of calls that shape a tile: arange, zeros, make_block_ptr and so on.
  // Sorted, each once.
  std::vector<std::string> tile_names;
  // Names that are declared or made constexpr. Sorted, each once.
  std::vector<std::string> constexpr_names;
};

// Reads code as tokens, without a grammar: broken code is read as far as possible. Takes linear
// time, and its nesting is kept on the heap.
CodeFacts ReadCode(absl::string_view code);

// Returns whether the dotted name is an access through a descriptor, which the hardware cuts at the
// tensor's bounds.
bool IsDescriptorAccess(absl::string_view dotted);

// Returns whether a call of Triton's or Gluon's language, as written, loads or stores within
// bounds: it has a mask, by keyword or by position, or a boundary_check.
bool IsMasked(const Call& call);

// Counts the loads and stores in the code, and how many of them are masked. Atomics count as
// stores. Accesses through tensor descriptors, which the hardware cuts at the bounds, count as
// masked.
v1::MaskCoverage CoverMasks(const CodeFacts& code);

// Returns whether C code compares the values that it branches or loops on, which is how CUDA code
// stays in bounds.
bool IsGuarded(absl::string_view c_code);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CODE_FACTS_H_
