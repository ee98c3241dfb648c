#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// What operation a kernel does, as its qualified name and the resolved names that it calls tell.
// Sorted, each once; empty where nothing tells.
std::vector<std::string> TagsOf(absl::string_view qualname, const std::vector<std::string>& calls);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_H_
