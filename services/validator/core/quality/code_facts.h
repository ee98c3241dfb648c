#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CODE_FACTS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CODE_FACTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::validator {

// A call as written: "tl.load(p, mask=m)" is {"tl.load", 1, {"mask"}}.
struct Call {
  std::string callee;                 // dotted name
  int positional = 0;                 // arguments without a keyword
  std::vector<std::string> keywords;  // in order
};

// What Python code names and calls. Comments and strings say nothing.
struct CodeFacts {
  std::vector<std::string> names;  // identifiers; sorted, each once
  std::vector<Call> calls;         // in the order in which they close; calls of names alone
  // Names that stand in the arguments of calls that shape a tile: arange, zeros, make_block_ptr and
  // so on. Sorted, each once.
  std::vector<std::string> tile_names;
  // Names that are declared or made to be constexpr. Sorted, each once.
  std::vector<std::string> constexpr_names;
};

// Reads code as tokens, without a grammar: broken code is read as far as it goes. Linear in time,
// and the nesting that it follows is on the heap.
CodeFacts ReadCode(absl::string_view code);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CODE_FACTS_H_
