#include "services/validator/core/tokens/vocabulary_text.h"

#include <cstddef>

// VOCABULARIES: the folder of the files.
#define KM_INCLUDE_BYTES(name, file)     \
  __asm__(                               \
      ".pushsection .rodata\n"           \
      ".global " #name "_begin\n" #name  \
      "_begin:\n"                        \
      ".incbin \"" VOCABULARIES "/" file \
      "\"\n"                             \
      ".global " #name "_end\n" #name    \
      "_end:\n"                          \
      ".popsection\n");                  \
  extern "C" const char name##_begin[];  \
  extern "C" const char name##_end[]

KM_INCLUDE_BYTES(km_cl100k_base, "cl100k_base.json");
KM_INCLUDE_BYTES(km_o200k_base, "o200k_base.json");

namespace kernelmill::validator::bpe {

absl::string_view Cl100kBaseText() {
  return {km_cl100k_base_begin, static_cast<size_t>(km_cl100k_base_end - km_cl100k_base_begin)};
}

absl::string_view O200kBaseText() {
  return {km_o200k_base_begin, static_cast<size_t>(km_o200k_base_end - km_o200k_base_begin)};
}

}  // namespace kernelmill::validator::bpe
