#ifndef KERNELMILL_CLIENT_CATALOG_DESCRIBE_CODE_FACTS_H_
#define KERNELMILL_CLIENT_CATALOG_DESCRIBE_CODE_FACTS_H_

#include <string>
#include <vector>

#include "client/catalog/entries/catalog_kernel.h"

namespace kernelmill::client {

// What a kernel's text and its launcher's say in so many words, beside what its row has: the lists
// are in the text's order, each entry once, on one line and as written.
struct CodeFacts {
  std::vector<std::string> dtypes;           // float32, int8 and so on that the source names
  std::vector<std::string> accumulators;     // those that tl.zeros and tl.full are asked for
  std::vector<std::string> store_casts;      // x of .to(x.dtype.element_ty)
  std::vector<std::string> program_axes;     // what program_id is asked for: "0", "1"
  std::vector<std::string> loops;            // headers of its for loops: "range(0, K, BLOCK_K)"
  std::string comment;                       // that it begins with, if about all of it
  std::string returned;                      // where returning that is all that it does
  std::string grid;                          // of the launch
  std::vector<std::string> launcher_dtypes;  // as dtypes, of the launcher
  std::vector<std::string> requirements;     // what the launcher asserts: "x.is_contiguous()"
  std::vector<std::string> refusals;         // on what it raises: "N > BLOCK_N"
  // What the launcher sets the names of refusals and requirements to: "BLOCK_N = min(...)".
  std::vector<std::string> bounds;
  std::string launcher_docstring;
};

// Total on any text, in linear time; nothing is run.
CodeFacts ReadCodeFacts(const CatalogKernel& kernel);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_DESCRIBE_CODE_FACTS_H_
