#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_PATCHES_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_PATCHES_H_

#include <vector>

#include "client/evaluate/honesty/finding.h"
#include "common/python/parse/parsed_text.h"

namespace kernelmill::client {

// Finds code of an answer that changes its surroundings, or looks into them: assignments to parts
// of torch, triton, Python or the clock; frames of the caller; the environment, files, processes,
// threads and other languages; code in strings. Code below `if __name__ == "__main__"` does not
// count. Names are followed through imports and plain assignments.
std::vector<Finding> FindPatches(const python::ParsedText& text);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_PATCHES_H_
