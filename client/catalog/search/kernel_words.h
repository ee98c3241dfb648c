#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_KERNEL_WORDS_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_KERNEL_WORDS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "client/catalog/entries/catalog_kernel.h"
#include "client/catalog/search/postings.h"

namespace kernelmill::client {

struct KernelWords {
  WordUses uses;
  uint32_t length = 0;  // words of the code
};

// What a kernel is found by: its name, tags, docstring and summary, features, repository, path,
// language and code. Two neighbouring words of a name, a tag or a repository also count as one
// (`layer_norm` is found by `layernorm`). Of code the first 4,000 different words count, and none
// that is a number.
KernelWords WordsOf(const CatalogKernel& kernel, absl::string_view summary);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_KERNEL_WORDS_H_
