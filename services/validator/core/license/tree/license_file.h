#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_LICENSE_FILE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_LICENSE_FILE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "services/validator/core/license/text/evidence.h"

namespace kernelmill::validator {

using spdx::kNoAssertion;
using spdx::SpdxExpression;

// A part of a licence file that is of others' code: "LICENSE FOR Mamba and vLLM code".
struct LicensePart {
  std::string title;               // as it stands there; may be empty
  std::vector<std::string> paths;  // files and folders that it lists
  std::optional<SpdxExpression> license;
  Evidence evidence;
  std::vector<std::string> copyrights;
};

// What a licence text, or a folder's licence files together, come to.
struct LicenseFinding {
  std::optional<SpdxExpression> license;  // none: not recognized
  double confidence = 0;
  std::string path;  // of the file that says so, as it was given; the first of several
  Evidence evidence;
  std::vector<std::string> copyrights;  // see attribution.h
  // Of an aggregate, what holds for others' code alone; what is above holds for all the rest.
  std::vector<LicensePart> parts;
};

// How much of a licence file is read.
inline constexpr size_t kMaxLicenseBytes = 1 << 20;

// Reads a LICENSE file's text: full texts, else a notice, else a bare name.
//
// An aggregate is cut where it comes to speak of others' code (aggregate.h). What stands before is
// then the licence of every file that carries no notice of its own, if it can be understood by
// itself.
LicenseFinding ReadLicenseFile(absl::string_view text);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_LICENSE_FILE_H_
