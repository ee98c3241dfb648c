#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_TOKENIZER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_TOKENIZER_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::deduplicator {

// The code tokens of Python text: what two copies of a kernel share when they differ in layout and
// documentation alone. Views into `source`, in order.
//
//   words      runs of letters, digits, '_' and bytes from 0x80; so 1.5 is three tokens
//   strings    one token each, as written: prefix, quotes and all; an unclosed one ends with its
//   line,
//              or with the text where it is triple-quoted
//   operators  Python's, the longest that fits; any other byte by itself
//
// Blanks, newlines, line continuations and comments are dropped. So is a string that is a whole
// statement by itself, outside brackets: it documents (a docstring, code commented out) and does
// nothing. Total on any bytes, in linear time.
std::vector<absl::string_view> Tokenize(absl::string_view source);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_TOKENIZER_H_
