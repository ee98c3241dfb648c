#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_WORDS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_WORDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::validator {

// The words of a name or of a path's segment, lower-case: cut where something is neither a letter
// nor a digit, and where a capital begins a word. "HTTPServer_v2" is {"http", "server", "v2"}.
// Rules on names look at whole words, so that "latest" is no test.
std::vector<std::string> WordsOfName(absl::string_view name);

// The words of prose, lower-case. An empty one stands where a sentence ends.
std::vector<std::string> WordsOfProse(absl::string_view text);

// The segments of a path, the file last.
std::vector<absl::string_view> Segments(absl::string_view path);

// What verdicts say of a name or of words that gave a label: UTF-8, at most some 80 bytes.
std::string RuleText(absl::string_view rule, absl::string_view what);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_WORDS_H_
