#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DEFINITIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DEFINITIONS_H_

#include <vector>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

// Which definitions are wanted.
enum class Wanted {
  kUsedByKernels,  // those alone
  kImportable,     // also what other files may import, as far as it is small
};

// The file's bindings that its kernels use, directly or through one another, and with kImportable
// the others of its module level; in the order of the text.
//
// A definition is a statement of the module: an import, an assignment, a function, a class, one
// that changes what a name stands for (changed_names.h), or a whole if, try, with or loop that
// binds names. One of the latter that holds a kernel is there as a whole, and taken apart: what
// stands in its blocks counts as statements of the module for the kernels in it
// (Definition.block_first_line). Imports in the functions around a kernel are definitions too.
// Statements that share a line are one.
std::vector<v1::Definition> DefinitionsFor(const ParsedFile& file,
                                           const std::vector<JitFunction>& functions,
                                           Wanted wanted);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DEFINITIONS_H_
