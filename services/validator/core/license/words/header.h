#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_HEADER_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_HEADER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "services/validator/core/license/text/evidence.h"
#include "services/validator/core/license/words/notice.h"

namespace kernelmill::validator {

// What the head of a source file says of its licence: the comments, and in Python the module's
// docstring, of its first 100 lines and 64 KiB.
struct HeaderFindings {
  bool has_tags = false;
  // Every SPDX-License-Identifier tag, joined with AND; empty if one of them is not an expression.
  std::vector<SpdxExpression> tags;

  // Licence texts and notices in words.
  Notice notice;
  std::vector<SpdxExpression> texts;
  bool altered = false;  // see TextMatches

  Evidence evidence;                    // of all of these, without the path
  std::vector<std::string> copyrights;  // see attribution.h
};

// `path` decides the language: Python unless its extension is one of C's, C++'s or CUDA's.
HeaderFindings ReadHeader(absl::string_view path, absl::string_view content);

// What a file of tags says ("k.cu.license"), all of which is read as a head's comments are.
HeaderFindings ReadTagFile(absl::string_view content);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_HEADER_H_
