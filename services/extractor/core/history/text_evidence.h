#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_TEXT_EVIDENCE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_TEXT_EVIDENCE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// The differences between two texts of a kernel.
struct TextEvidence {
  std::string same;  // names the difference, if both texts do the same; else empty
  // Literals, as in the table of kinds.cc.
  std::vector<absl::string_view> differences;
};

// Compares two texts of a kernel by their tokens. `is_new`: a new kernel that the commit makes from
// one that stays.
TextEvidence CompareTexts(const v1::Kernel& before, const v1::Kernel& after, bool is_new);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_TEXT_EVIDENCE_H_
