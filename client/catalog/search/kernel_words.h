#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_KERNEL_WORDS_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_KERNEL_WORDS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/search/postings.h"

namespace kernelmill::client {

// Returns from 0 to 1 how far ahead a kernel comes of others that fit as well. A kernel that is
// launched comes before a helper, an operation before a test, a forward pass before a backward one,
// and NVIDIA's or anybody's hardware before one vendor's.
double Standing(const v1::KernelRow& kernel);

// The words that a kernel is found by.
struct KernelWords {
  WordUses uses;
  uint32_t length = 0;  // the number of words in the code
};

// `summary` is a sentence about the kernel, or empty.
KernelWords CollectWords(const v1::KernelRow& kernel, absl::string_view summary);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_KERNEL_WORDS_H_
