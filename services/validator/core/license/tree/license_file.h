#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_LICENSE_FILE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_LICENSE_FILE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "services/validator/core/license/text/text.h"

namespace kernelmill::validator {

using spdx::kNoAssertion;
using spdx::SpdxExpression;

// A part of a licence file about other people's code: "LICENSE FOR Mamba and vLLM code".
struct LicensePart {
  std::string title;               // as written; may be empty
  std::vector<std::string> paths;  // files and folders that it lists
  std::optional<SpdxExpression> license;
  Evidence evidence;
  std::vector<std::string> copyrights;
};

// Returns whether the part lists the file or a folder that holds it.
bool ListsPath(const LicensePart& part, absl::string_view path);

// The result of reading a licence file, or a folder's licence files together.
struct LicenseFinding {
  std::optional<SpdxExpression> license;  // absent: not recognized
  double confidence = 0;
  std::string path;  // the licence file's, as it was given; the first of several
  Evidence evidence;
  std::vector<std::string> copyrights;  // see attribution.h
  // An aggregate's parts about other people's code. The fields above are about all other code.
  std::vector<LicensePart> parts;
};

// The most bytes of a licence file that are read.
inline constexpr size_t kMaxLicenseBytes = 1 << 20;

// Reads a LICENSE file's text: full licence texts, else a notice, else a bare name.
//
// An aggregate is cut where it begins to be about other people's code (SplitAggregate in
// license_file.cc). The part before, if it can be understood on its own, is the licence of every
// file without a notice of its own.
LicenseFinding ReadLicenseFile(absl::string_view text);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_LICENSE_FILE_H_
