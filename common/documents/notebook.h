#ifndef KERNELMILL_COMMON_DOCUMENTS_NOTEBOOK_H_
#define KERNELMILL_COMMON_DOCUMENTS_NOTEBOOK_H_

#include "absl/strings/string_view.h"
#include "common/documents/document.h"

namespace kernelmill::documents {

// Reads a Jupyter notebook of format 3 or 4, or of any JSON: a file without cells has no blocks. A
// cell's text may be a string or a list of strings. The language of a code cell is that of its cell
// magic (%%cu, %%writefile x.cu), else of the notebook.
Document ReadNotebook(absl::string_view content);

}  // namespace kernelmill::documents

#endif  // KERNELMILL_COMMON_DOCUMENTS_NOTEBOOK_H_
