#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_NOTICE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_NOTICE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

using spdx::SpdxExpression;

// Whether a text speaks of the licence file at the root of the source.
enum class RootFile {
  kNo,
  kPointedTo,  // "See LICENSE in the project root for license information."
  kGrants,     // "licensed under the license found in the LICENSE file in the root directory"
};

// What a text says of licences in words: "Licensed under the Apache License, Version 2.0".
struct Notice {
  std::vector<SpdxExpression> own;       // licences that the text is under
  std::vector<SpdxExpression> portions;  // of code in it that came from elsewhere
  // Names that leave open which licence they mean, as SPDX prefixes: "BSD-" ("the BSD license", "a
  // BSD-style license"), "Apache-", "MIT".
  std::vector<std::string> families;
  RootFile root = RootFile::kNo;
  // Says that one of several licences may be chosen.
  bool choice = false;
  // The words from the first trigger or name to the end of the last name, as positions in what was
  // read; equal where none was found.
  size_t begin = 0;
  size_t end = 0;
};

// Reads `words` (see SentenceWords). Only a name in a place where licences are named counts: after
// "under", "terms of" and the like. Linear in the number of words.
Notice ReadNotice(const std::vector<std::string>& words);

// The evidence of a notice that was read from `words`, which says something (begin < end).
v1::LicenseEvidence NoticeEvidence(const Notice& notice, const std::vector<std::string>& words,
                                   int first_line, int last_line);

// What a bare name such as "The MIT License (MIT)", "BSD 3-Clause" or "Apache Software License 2.0"
// means; the whole text must be one name. Empty notice: no name.
Notice ReadLicenseName(absl::string_view text);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_NOTICE_H_
