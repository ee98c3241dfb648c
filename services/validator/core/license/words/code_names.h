#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_CODE_NAMES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_CODE_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// How a line of prose names code: by addresses, repositories, files and projects.
namespace kernelmill::validator {

struct Word {
  absl::string_view text;  // without the signs around it
  std::string lower;
  size_t at = 0;      // in the line
  bool ends = false;  // a sign that ends a clause follows
  bool quoted = false;
};

std::vector<Word> WordsOf(absl::string_view line);

// Letters and digits in lower case: "Flash-Linear-Attention's" is "flashlinearattention".
std::string Squeezed(absl::string_view name);

// Whether the text begins as an address does: "https://", "github.com/".
bool IsAddress(absl::string_view text);

// Whether code may stand there: no paper, no documentation.
bool IsOfCode(absl::string_view address);

// The address that begins at `at`, without what closes the sentence around it.
absl::string_view AddressAt(absl::string_view line, size_t at);

// All addresses in a line, of code or not.
std::vector<absl::string_view> Addresses(absl::string_view line);

// "o/n" of an address of a repository, else its host; of owner/name itself; else nothing.
std::string RepositoryOf(absl::string_view origin);

// Whether it is "owner/name". GitHub's owners have neither '_' nor '.' in their names.
bool IsOwnerAndName(absl::string_view text);

bool IsSourceFile(absl::string_view text);

// Whether a word is a project that is known (kProjects in origin_words.h).
bool IsProject(absl::string_view word);

// Whether words[at] names one: "mamba_ssm.ops.triton" is of mamba_ssm, "vllm/attention" of vllm. A
// platform needs a word after it that means its own code: "Triton tutorial".
bool NamesProject(const std::vector<Word>& words, size_t at);

// "FlagAttention", "Tri", "ant_AReaL": neither a common word nor a constant nor a unit of hardware.
bool IsProper(absl::string_view word);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_CODE_NAMES_H_
