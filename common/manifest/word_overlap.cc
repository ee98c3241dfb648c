#include "common/manifest/word_overlap.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/code/python.h"

namespace kernelmill::manifest {
namespace {

// The hashes of a text's words, sorted, each once.
std::vector<uint64_t> Words(absl::string_view text) {
  std::vector<uint64_t> words;
  for (size_t end, begin = 0; begin < text.size(); begin = end + 1) {
    for (end = begin; end < text.size() && !code::IsPythonSpace(text[end]);) ++end;
    if (end > begin) words.push_back(StableHash64(text.substr(begin, end - begin)));
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

WordCounts CountWords(const FimPair& pair) {
  const std::vector<uint64_t> prompt = Words(pair.prompt);
  const std::vector<uint64_t> completion = Words(pair.completion);
  std::vector<uint64_t> common;
  std::set_intersection(prompt.begin(), prompt.end(), completion.begin(), completion.end(),
                        std::back_inserter(common));
  const auto shared = static_cast<uint32_t>(common.size());
  return {shared, static_cast<uint32_t>(prompt.size() + completion.size()) - shared};
}

}  // namespace kernelmill::manifest
