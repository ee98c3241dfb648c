#ifndef KERNELMILL_COMMON_TOKENS_ENCODING_H_
#define KERNELMILL_COMMON_TOKENS_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/tokens/split.h"
#include "common/tokens/vocabulary.h"

namespace kernelmill::bpe {

// A byte-pair encoding of OpenAI's, exact against tiktoken's encode_ordinary: text that looks like
// a special token is text. Bytes that are not UTF-8 are taken for U+FFFD each. Thread-safe.
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

// Read on first use, which takes a tenth of a second.
const Encoding& Cl100kBase();
const Encoding& O200kBase();

}  // namespace kernelmill::bpe

#endif  // KERNELMILL_COMMON_TOKENS_ENCODING_H_
