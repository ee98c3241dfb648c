#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// A text in which prose and Python stand side by side, with blanks for what looks like prose: all
// but import statements and the definitions of functions and classes, with their decorators. One
// apostrophe of prose can make a parser take all that follows for a string. Line ends stay, so that
// places are places in the text.
std::string WithoutProse(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EMBEDDED_PROSE_H_
