#ifndef KERNELMILL_SERVICES_FETCHER_CORE_IMPORT_LINES_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_IMPORT_LINES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// The module of a "from module import ...": dotted, after `level` dots.
struct ImportedModule {
  int level = 0;
  std::string module;
};

// The modules that names are imported from on the lines of a text of Python, in their order, each
// once. Strings and comments are not told from code: what stands there may be meant as well. At
// memory speed; of a text that imports from more modules than `most` the first ones.
std::vector<ImportedModule> FindImportLines(absl::string_view text, size_t most);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_IMPORT_LINES_H_
