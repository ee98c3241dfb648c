#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_EVIDENCE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_EVIDENCE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

using Evidence = std::vector<v1::LicenseEvidence>;

// What was recognized by a rule (LicenseEvidence says which there are); at most 200 bytes of `text`
// are kept.
v1::LicenseEvidence MakeEvidence(absl::string_view rule, absl::string_view expression,
                                 absl::string_view text, double score, int first_line = 0,
                                 int last_line = 0);

// Sets the path where there is none; bytes that are not UTF-8 are replaced.
void SetPath(absl::string_view path, Evidence* evidence);

void Append(const Evidence& from, Evidence* to);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_EVIDENCE_H_
