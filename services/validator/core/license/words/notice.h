#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_NOTICE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_NOTICE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

using spdx::SpdxExpression;

// How a text refers to the licence file at the root of the source.
enum class RootFile {
  kNo,
  kPointedTo,  // "See LICENSE in the project root for license information."
  kGrants,     // "licensed under the license found in the LICENSE file in the root directory"
};

// The licence statements of a text in words: "Licensed under the Apache License, Version 2.0".
struct Notice {
  std::vector<SpdxExpression> own;       // licences of the text itself
  std::vector<SpdxExpression> portions;  // licences of code in it that comes from elsewhere
  // Names that do not say which licence of a family they mean, as prefixes of SPDX identifiers:
  // "BSD-" ("the BSD license", "a BSD-style license"), "Apache-", "MIT".
  std::vector<std::string> families;
  RootFile root = RootFile::kNo;
  // The text lets one of several licences be chosen.
  bool choice = false;
  // The range of words from the first trigger or name to the end of the last name; empty if there
  // is no name.
  size_t begin = 0;
  size_t end = 0;
};

// Reads `words` (see SentenceWords). A name counts only in a place where licences are named, such
// as after "under" or "terms of". Linear in the number of words.
Notice ReadNotice(const std::vector<std::string>& words);

// Returns the evidence of a notice that was read from `words` and is not empty (begin < end).
v1::LicenseEvidence NoticeEvidence(const Notice& notice, const std::vector<std::string>& words,
                                   int first_line, int last_line);

// Reads a bare name such as "The MIT License (MIT)", "BSD 3-Clause" or "Apache Software License
// 2.0". The whole text must be one name; an empty notice if it is not.
Notice ReadLicenseName(absl::string_view text);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_NOTICE_H_
