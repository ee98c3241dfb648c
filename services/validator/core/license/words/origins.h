#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGINS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGINS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::validator {

// Where comments and docstrings say that code comes from.
//
// A statement is a verb of the table and, after it, what the code was taken from:
//
//   strong  adapted, ported, modified, copied, taken, borrowed, derived, forked, extracted, lifted,
//           translated, reproduced ... from; based on; credit(s) to; fork, port, copy of
//   weak    original code, originally from, source:, code from, from:
//
//   an address     "https://github.com/o/n/blob/x.py", "github.com/o/n": after any verb, also on
//   the
//                  next line. Of papers, of documentation and of videos none is: ideas are no code
//   owner/name     "turboderp/exllama": after a strong verb, where the clause ends
//   a path         "mamba_ssm/ops/ssd.py": after a strong verb, unless the source has it itself
//   a name         "vLLM", "the Triton matmul tutorial", "Tri Dao's kernel": after a strong verb
//   that
//                  begins the sentence. A project that is known (kProjects in origins.cc), or after
//                  verbs of authorship a word with a capital letter that is no abbreviation
//
// What is the source's own (an address or a name of its repository, one of its files) is no origin.
struct OriginStatement {
  std::string origin;       // as written, at most 200 bytes
  int line = 0;             // of the verb, from 1
  bool whole_file = false;  // it stands in the head, above all code but imports
  // Otherwise it is about what follows its comment, or what it stands in: the comment's lines.
  int first_line = 0;
  int last_line = 0;
  // What the line says of its holders: "Adapted from X: Copyright (c) 2023, Ann".
  std::string copyright;
};

// Whether the source has this file: "ops/ssd.py" for a file of these last two parts.
class OwnFiles {
 public:
  virtual ~OwnFiles() = default;
  virtual bool Has(absl::string_view path) const = 0;
};

// All statements of a file, in order, each origin once a scope; at most 64. `repository`: how the
// source is called. Linear in the file.
std::vector<OriginStatement> FindOrigins(absl::string_view path, absl::string_view content,
                                         absl::string_view repository, const OwnFiles& own);

// Whether the statement is about code on lines [first_line, last_line]: it is about the whole file,
// stands within the lines, or in the comment right above them.
bool IsAbout(const OriginStatement& statement, int first_line, int last_line);

// What an origin is called, as spdx::NormalizeWords leaves it: an address or owner/name by its
// name, in one word and in several, and by its owner if that is long; a name by those of its words
// that are no common ones. "https://github.com/ann-labs/flash-thing" is " flash thing ", "
// flashthing ".
std::vector<std::string> NamesOf(absl::string_view origin);

// Whether normalized words have one of the names.
bool HaveOneOf(const std::string& normalized, const std::vector<std::string>& names);

// Whether a text names the origin: "LICENSE FOR Mamba and vLLM code" names "vllm-project/vllm".
bool NamesOrigin(absl::string_view text, absl::string_view origin);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGINS_H_
