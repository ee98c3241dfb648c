#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_BODIES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_BODIES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/dsl/language.h"
#include "services/extractor/core/cuda/string_text.h"

namespace kernelmill::extractor::cuda {

// The lines that a library writes before and after the body of a kernel.
struct BodyFrame {
  std::string before;
  std::string after;
};

// Returns the frame of a kernel. `parameters` has a text for each of the maker's: names or
// declarations, with commas or line ends between them.
BodyFrame MakeBodyFrame(const dsl::BodyMaker& maker, absl::string_view name,
                        const std::vector<std::string>& parameters, absl::string_view body);

// Writes the frame around the whole lines that the text has of its only literal, whose content is
// [begin, end) in the file. Returns false, and changes nothing, if the literal begins or ends
// within a line of the body.
bool AddBodyFrame(absl::string_view file, size_t begin, size_t end, const BodyFrame& frame,
                  StringText& text);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_BODIES_H_
