#ifndef KERNELMILL_CLIENT_CATALOG_DESCRIBE_CODE_FACTS_H_
#define KERNELMILL_CLIENT_CATALOG_DESCRIBE_CODE_FACTS_H_

#include <string>
#include <vector>

#include "client/catalog/entries/kernel_row.h"

namespace kernelmill::client {

// Facts that are written in the text of a kernel and its launcher, beyond its row. Lists are in the
// text's order; each entry is on one line as written, and occurs once.
struct CodeFacts {
  std::vector<std::string> dtypes;           // types that the source names: float32, int8
  std::vector<std::string> accumulators;     // types in calls of tl.zeros and tl.full
  std::vector<std::string> store_casts;      // x in .to(x.dtype.element_ty)
  std::vector<std::string> program_axes;     // arguments of program_id: "0", "1"
  std::vector<std::string> loops;            // ranges of for loops: "range(0, K, BLOCK_K)"
  std::string comment;                       // the opening comment, if it is about the whole body
  std::string returned;                      // the value, if the body is one return statement
  std::string grid;                          // the grid of the launch
  std::vector<std::string> launcher_dtypes;  // types that the launcher names
  std::vector<std::string> requirements;     // the launcher's assertions: "x.is_contiguous()"
  std::vector<std::string> refusals;         // conditions on which it raises: "N > BLOCK_N"
  // The launcher's values for names in refusals: "BLOCK_N = min(...)".
  std::vector<std::string> bounds;
  std::string launcher_docstring;
};

// Reads the facts from any text, in linear time. It runs no code.
CodeFacts ReadCodeFacts(const v1::KernelRow& kernel);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_DESCRIBE_CODE_FACTS_H_
