#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGINS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGINS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::validator {

// A statement in a comment or docstring that code comes from elsewhere. It is a verb and, after it,
// the origin.
//
//   strong verbs  adapted, ported, modified, copied, taken, borrowed, derived, forked, extracted,
//                 lifted, translated, reproduced ... from; based on; credit(s) to; fork, port, copy
//                 of
//   weak verbs    original code, originally from, source:, code from, from:
//
// The origin is one of these:
//
//   an address    "https://github.com/o/n/blob/x.py", "github.com/o/n": after any verb, also on the
//                 next line. Papers, documentation and videos do not count: ideas are not code
//   owner/name    "turboderp/exllama": after a strong verb, if the clause ends there
//   a path        "mamba_ssm/ops/ssd.py": after a strong verb, unless the source has the file
//   a name        "vLLM", "the Triton matmul tutorial", "Tri Dao's kernel": after a strong verb
//                 that begins the sentence. It is a known project (kProjects in origin_words.h) or,
//                 after a verb of authorship, a capitalized word that is not an abbreviation
//
// The source's own repository and files are not origins.
struct OriginStatement {
  std::string origin;       // as written, at most 200 bytes
  int line = 0;             // the verb's, from 1
  bool whole_file = false;  // it is in the head, above all code except imports
  // The comment's lines. Unless it is about the whole file, it is about the code that follows the
  // comment or contains it.
  int first_line = 0;
  int last_line = 0;
  // The copyright on the line: "Adapted from X: Copyright (c) 2023, Ann".
  std::string copyright;
};

// Tells whether the source has a file. "ops/ssd.py" matches a file with these last two parts.
class OwnFiles {
 public:
  virtual ~OwnFiles() = default;
  virtual bool Has(absl::string_view path) const = 0;
};

// Returns the statements in a text's comments in order, each origin once in its scope, at most 64.
// `repository`: the source's name. Linear in the text.
std::vector<OriginStatement> FindOrigins(code::Language language, absl::string_view text,
                                         absl::string_view repository, const OwnFiles& own);

// Returns whether the statement is about code on lines [first_line, last_line]: it is about the
// whole file, within the lines, or in the comment right above them.
bool IsAbout(const OriginStatement& statement, int first_line, int last_line);

// Returns the names of an origin in the form of spdx::NormalizeWords: for an address or owner/name
// its name, as one word and as several, and a long owner; for a name those of its words that are
// not ordinary ones. "https://github.com/ann-labs/flash-thing" gives " flash thing " and "
// flashthing ".
std::vector<std::string> FindNames(absl::string_view origin);

// Returns whether normalized words have one of the names.
bool ContainsAny(const std::string& normalized, const std::vector<std::string>& names);

// Returns whether a text names the origin: "LICENSE FOR Mamba and vLLM code" names
// "vllm-project/vllm".
bool NamesOrigin(absl::string_view text, absl::string_view origin);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGINS_H_
