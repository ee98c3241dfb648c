#include "services/validator/core/tokens/encoding.h"

#include <string>
#include <utility>

#include "common/base/text.h"
#include "services/validator/core/tokens/merge.h"
#include "services/validator/core/tokens/vocabulary_text.h"

namespace kernelmill::validator::bpe {
namespace {

// What is linked in was checked when it was fetched, and by the tests.
const Encoding& NewEncoding(absl::string_view json, Split split) {
  return *new Encoding(*Vocabulary::Parse(json), split);
}

}  // namespace

std::vector<uint32_t> Encoding::Encode(absl::string_view text) const {
  std::string repaired;
  if (!IsUtf8(text)) text = repaired = ToUtf8(text);
  std::vector<uint32_t> tokens;
  Merger merger(vocabulary_);
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = split_(text, begin);
    merger.Append(text.substr(begin, end - begin), tokens);
  }
  return tokens;
}

size_t Encoding::Count(absl::string_view text) const { return Encode(text).size(); }

const Encoding& Cl100kBase() {
  static const Encoding& encoding = NewEncoding(Cl100kBaseText(), SplitCl100kBase);
  return encoding;
}

const Encoding& O200kBase() {
  static const Encoding& encoding = NewEncoding(O200kBaseText(), SplitO200kBase);
  return encoding;
}

}  // namespace kernelmill::validator::bpe
