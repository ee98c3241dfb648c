#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TEXT_SIGNALS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TEXT_SIGNALS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// Returns the words of a name or of a path's segment in lower case: cut where a character is
// neither a letter nor a digit, and where a capital begins a word. "HTTPServer_v2" gives {"http",
// "server", "v2"}. Rules on names look at whole words, so that "latest" is not a test.
std::vector<std::string> WordsOfName(absl::string_view name);

// Returns the words of prose in lower case, with an empty word at the end of each sentence.
std::vector<std::string> WordsOfProse(absl::string_view text);

// Returns the segments of a path, the file last.
std::vector<absl::string_view> Segments(absl::string_view path);

// Returns a rule with the name or words that made it hold, as verdicts have it: UTF-8, about 80
// bytes at most.
std::string RuleText(absl::string_view rule, absl::string_view what);

// Fills in how the kernel's text was written: the lengths of its lines and the share of comments.
void ReadLines(const v1::Kernel& kernel, v1::Quality* quality);

// Returns whether no person formatted the text: a line of over 1,000 bytes, or lines of over 200 on
// average. Minified code and tables of data look like that.
bool IsMinified(const v1::Quality& quality);

// Returns the sign that a program wrote the kernel: "inductor", or the words in a comment or
// docstring in the first 4 KiB of its file, e.g. "do not edit"; empty if there is no sign.
// "auto-generated" and the like count only if the sentence is about the file: "for auto-generated
// code" says nothing.
std::string GeneratedSign(const v1::Kernel& kernel, absl::string_view file);

// Returns the comment lines right above the kernel in its file, where C code has its documentation;
// at most 40. Empty for kernels in a JSON file's strings.
absl::string_view CommentAbove(const v1::Kernel& kernel, absl::string_view file);

// Returns the text that people wrote about the kernel: the comment above it, its docstring and its
// comments.
std::string CollectProse(const v1::Kernel& kernel, absl::string_view comment_above);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TEXT_SIGNALS_H_
