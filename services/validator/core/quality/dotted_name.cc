#include "services/validator/core/quality/dotted_name.h"

#include <cstddef>

#include "absl/strings/match.h"

namespace kernelmill::validator {

absl::string_view LastPart(absl::string_view dotted) {
  const size_t dot = dotted.rfind('.');
  return dot == absl::string_view::npos ? dotted : dotted.substr(dot + 1);
}

absl::string_view FirstPart(absl::string_view dotted) { return dotted.substr(0, dotted.find('.')); }

bool IsDescriptorAccess(absl::string_view dotted) {
  return absl::StrContains(dotted, "tensor_descriptor") ||
         absl::StrContains(dotted, "descriptor_load") ||
         absl::StrContains(dotted, "descriptor_store") || absl::StrContains(dotted, ".tma.") ||
         absl::StartsWith(dotted, "tma.");
}

}  // namespace kernelmill::validator
