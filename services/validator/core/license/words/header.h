#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_HEADER_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_HEADER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "services/validator/core/license/text/text.h"
#include "services/validator/core/license/words/notice.h"

namespace kernelmill::validator {

// The licence statements in the head of a source file: in the comments, and in Python the module's
// docstring, of its first 100 lines and 64 KiB.
struct HeaderFindings {
  bool has_tags = false;
  // Every SPDX-License-Identifier tag; empty if one of them is not an expression.
  std::vector<SpdxExpression> tags;

  // Notices and licence texts in words.
  Notice notice;
  std::vector<SpdxExpression> texts;
  bool altered = false;  // see TextMatches
  // Sentences about what may be done with the work that are not understood.
  std::vector<std::string> terms;
  // One of them names a licence: "under the terms of the X License Agreement".
  bool names_unknown = false;
  // A file that holds a licence of the file, other than the source's LICENSE.
  struct LicenseFileName {
    std::string name;
    // The sentence names the licence itself, and says nothing else: "Distributed under the Boost
    // Software License 1.0, see LICENSE_1_0.txt". Then the file may be missing.
    bool licence_named = false;
  };
  std::vector<LicenseFileName> license_files;

  Evidence evidence;                    // for all of these, without the path
  std::vector<std::string> copyrights;  // see attribution.h
};

// Reads the head of a file. `path` decides the language: Python unless its extension belongs to C,
// C++ or CUDA.
HeaderFindings ReadHeader(absl::string_view path, absl::string_view content);

// Reads a file of tags ("k.cu.license"), all of it like the comments of a head.
HeaderFindings ReadTagFile(absl::string_view content);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_HEADER_H_
