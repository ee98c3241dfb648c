#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_EMITTED_CODE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_EMITTED_CODE_H_

#include <vector>

#include "services/extractor/core/parse/parsed_text.h"

namespace kernelmill::extractor {

// The lines of strings that a program writes kernels with: a line of such a string begins with
// Triton's or Gluon's decorator, as in code.writeline("@triton.jit"), and it is no docstring. What
// is written is not known, so that it is labelled and not extracted. Ascending.
std::vector<int> FindEmittedCode(const ParsedText& file);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_EMITTED_CODE_H_
