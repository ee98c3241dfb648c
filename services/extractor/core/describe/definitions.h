#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DEFINITIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DEFINITIONS_H_

#include <vector>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

// The definitions that a caller wants.
enum class Wanted {
  kUsedByKernels,  // only those that the file's kernels use
  kImportable,     // also those that other files may import, unless they are long
};

// Finds the definitions that the file's kernels use, directly or through one another, and with
// kImportable the other ones of its module level; in the order of the text.
//
// A definition is a statement of the module: an import, an assignment, a function, a class, a
// statement that changes the object of a name (FindChangedNames in the .cc), or a whole if, try,
// with or loop that binds names. If one of the latter holds a kernel, it is there twice: as a
// whole, and in parts, where the statements of its blocks count as statements of the module for the
// kernels in it (Definition.block_first_line). Imports in the functions around a kernel are
// definitions as well. Statements that share a line are one definition.
std::vector<v1::Definition> FindDefinitions(const ParsedFile& file,
                                            const std::vector<JitFunction>& functions,
                                            Wanted wanted);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DEFINITIONS_H_
