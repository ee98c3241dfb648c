#ifndef KERNELMILL_COMMON_TOKENS_ENCODING_H_
#define KERNELMILL_COMMON_TOKENS_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/tokens/vocabulary.h"

namespace kernelmill::bpe {

// An encoding cuts a text into pieces before it merges bytes. The pieces are the matches of the
// regular expressions in tiktoken's openai_public.py (pat_str; version 0.14.0). They are written
// out here as code, since they need look-ahead, ordered alternatives, and speed.

// A function that returns the end of the piece that begins at `begin`, an offset within UTF-8 text.
// The end is always after the begin.
using Split = size_t (*)(absl::string_view text, size_t begin);

size_t SplitCl100kBase(absl::string_view text, size_t begin);
size_t SplitO200kBase(absl::string_view text, size_t begin);

// A byte-pair encoding of OpenAI, with the same results as tiktoken's encode_ordinary: text that
// looks like a special token is plain text. Each byte that is not UTF-8 counts as U+FFFD.
// Immutable, and so thread-safe.
class Encoding {
 public:
  Encoding(Vocabulary vocabulary, Split split)
      : vocabulary_(std::move(vocabulary)), split_(split) {}

  std::vector<uint32_t> Encode(absl::string_view text) const;
  size_t Count(absl::string_view text) const;

 private:
  Vocabulary vocabulary_;
  Split split_;
};

// Return the encodings. The first use of each takes a tenth of a second. Thread-safe.
const Encoding& Cl100kBase();
const Encoding& O200kBase();

}  // namespace kernelmill::bpe

#endif  // KERNELMILL_COMMON_TOKENS_ENCODING_H_
