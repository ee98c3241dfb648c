#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_WORDS_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_WORDS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::deduplicator {

// Texts word by word (common/text/words.h), for the search for holdouts: a benchmark is text, too.

// The number of runs below which a text is too short to count: 32 words on average.
inline constexpr size_t kLeastWordRuns = 16;

// Returns hashes of half of the text's runs of 13 words, chosen by hash: sorted, each once.
std::vector<uint64_t> WordRuns(absl::string_view text);

// Appends the runs of a kernel's source, of what its module has beside it, and of its launcher.
void AddKernelWords(const v1::Kernel& kernel, v1::KernelShingles* shingles);

// Appends the runs of a whole file: of a JSON file those of each of its strings, where the strings
// of one array are one text, as in a notebook. The licence texts of a tree have none.
void AddFileWords(const v1::Kernel& file, v1::KernelShingles* shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_WORDS_H_
