#include "services/deduplicator/core/sign/word_overlap.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/hash.h"

namespace kernelmill::deduplicator {
namespace {

// As Python's str.split sees it, of ASCII.
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }

std::vector<uint64_t> Words(absl::string_view text) {
  std::vector<uint64_t> words;
  for (size_t end, begin = 0; begin < text.size(); begin = end + 1) {
    for (end = begin; end < text.size() && !IsSpace(text[end]);) ++end;
    if (end > begin) words.push_back(StableHash64(text.substr(begin, end - begin)));
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

Overlap WordOverlap(const dataset::FimPair& pair) {
  return Compare(Words(pair.prompt), Words(pair.completion));
}

}  // namespace kernelmill::deduplicator
