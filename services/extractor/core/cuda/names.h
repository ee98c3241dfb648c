#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// Of `<` at `open`: where its `>` stands. `token` is where the search ended, `found` whether there.
// No further than `most` tokens on are looked at.
struct AngleSearch {
  uint32_t token;
  bool found;
};
AngleSearch FindAngleEnd(const Code& code, const Brackets& brackets, uint32_t open,
                         uint32_t most = kNoToken);

// The word before the template arguments that end before `end`, or the word at end - 1. kNoToken:
// neither is there.
uint32_t NameBefore(const Code& code, const Brackets& brackets, uint32_t end);

// The first token of a::b<c>:: before the name at `name`; `name` itself if it is not qualified.
uint32_t QualifiedBegin(const Code& code, const Brackets& brackets, uint32_t name);

// The words of [begin, end) outside template arguments, joined by "::".
std::string JoinedWords(const Code& code, const Brackets& brackets, uint32_t begin, uint32_t end);

// The name of the class that the declaration from its class key at `key` to the '{' at `brace`
// defines; empty if it has none. False: it does not define one.
bool ClassName(const Code& code, const Brackets& brackets, uint32_t key, uint32_t brace,
               std::string& name);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_NAMES_H_
