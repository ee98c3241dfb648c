#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_ATTRIBUTION_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_ATTRIBUTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::validator {

inline constexpr size_t kMaxCopyrights = 20;

// The lines that say who holds the copyright, without comment marks, each once, at most
// kMaxCopyrights of at most 200 bytes. Not those that nobody filled in ("Copyright [yyyy]"), nor
// those of a licence's own text.
std::vector<std::string> CopyrightLines(absl::string_view text);

// Adds a line that is known to say so, cut to 200 bytes.
void AddCopyrightLine(absl::string_view line, std::vector<std::string>* to);

// Adds those that are not there, up to kMaxCopyrights.
void AddCopyrights(absl::Span<const std::string> from, std::vector<std::string>* to);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_ATTRIBUTION_H_
