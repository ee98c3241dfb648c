#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_ATTRIBUTION_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_ATTRIBUTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::validator {

// The most copyright lines that a licence keeps.
inline constexpr size_t kMaxCopyrights = 20;

// Returns the lines of a text that name the copyright holders, without comment marks, each once, at
// most kMaxCopyrights of at most 200 bytes. Lines that were not filled in ("Copyright [yyyy]") and
// those of a licence's own text are left out.
std::vector<std::string> CopyrightLines(absl::string_view text);

// Adds a line that is known to be one, cut to 200 bytes.
void AddCopyrightLine(absl::string_view line, std::vector<std::string>* to);

// Adds the lines that `to` does not have, up to kMaxCopyrights.
void AddCopyrights(absl::Span<const std::string> from, std::vector<std::string>* to);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_ATTRIBUTION_H_
