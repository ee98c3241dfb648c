#ifndef KERNELMILL_CLIENT_CATALOG_MARKDOWN_TRITON_INDEX_H_
#define KERNELMILL_CLIENT_CATALOG_MARKDOWN_TRITON_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/catalog/describe/description.h"
#include "client/catalog/entries/kernel_row.h"

namespace kernelmill::client {

// Returns an entry in the template of triton-index: name, link to the lines at the commit, author,
// tags, description, minimal usage, Triton version, notes. It is Markdown; foreign text is escaped.
std::string TritonIndexEntry(const v1::KernelRow& kernel, const std::vector<Sentence>& sentences,
                             int64_t duplicates);

// Returns the operation under which the index lists a kernel: the first tag that comes from the
// kernel's own name, or the first tag, or "other".
std::string MainOperation(const v1::KernelRow& kernel);

// A builder of TRITON_INDEX.md: entries by operation. If they do not fit into one file, the index
// links to files of each operation in triton-index/. No file is larger than `max_bytes`. Not
// thread-safe.
class TritonIndex {
 public:
  explicit TritonIndex(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Adds a kernel of Triton or Gluon that is launched. Other kernels, tests and broken ones are
  // left out.
  void Add(const v1::KernelRow& kernel, const std::vector<Sentence>& sentences, int64_t duplicates);

  // Returns the path below the site and the content of each file.
  std::vector<std::pair<std::string, std::string>> Files() const;

 private:
  struct Operation {
    std::vector<std::string> entries;
    size_t bytes = 0;
  };

  const size_t max_bytes_;
  std::map<std::string, Operation> operations_;
};

// Returns one line of Python that calls a kernel's launcher: "from a.b import f ; f(x, n,
// eps=1e-6)", from the path and the signature of the launcher. Empty if no import reaches the
// launcher, or its text is unknown.
std::string MinimalUsage(const v1::KernelRow& kernel);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_MARKDOWN_TRITON_INDEX_H_
