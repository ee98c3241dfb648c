#ifndef KERNELMILL_CLIENT_CATALOG_MARKDOWN_TRITON_INDEX_H_
#define KERNELMILL_CLIENT_CATALOG_MARKDOWN_TRITON_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/catalog/describe/description.h"
#include "client/catalog/entries/catalog_kernel.h"

namespace kernelmill::client {

// An entry in the template of triton-index: name, link to the lines at the commit, author, tags,
// description, minimal usage, Triton version, notes. Markdown; texts of strangers are escaped.
std::string TritonIndexEntry(const CatalogKernel& kernel, const std::vector<Sentence>& sentences,
                             int64_t duplicates);

// The operation that an entry stands under: the first tag that the kernel's own name gave, else its
// first; "other" without tags.
std::string MainOperation(const CatalogKernel& kernel);

// TRITON_INDEX.md: entries by operation. Where they do not fit one file, it lists the files of
// each operation, in triton-index/. No file is larger than `max_bytes`.
class TritonIndex {
 public:
  explicit TritonIndex(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Kernels of Triton and Gluon that are launched, and neither test nor broken; of others nothing.
  void Add(const CatalogKernel& kernel, const std::vector<Sentence>& sentences, int64_t duplicates);

  // The files: path below the site and content.
  std::vector<std::pair<std::string, std::string>> Files() const;

 private:
  struct Operation {
    std::vector<std::string> entries;
    size_t bytes = 0;
  };

  const size_t max_bytes_;
  std::map<std::string, Operation> operations_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_MARKDOWN_TRITON_INDEX_H_
