#ifndef KERNELMILL_SERVICES_CLI_CATALOG_MARKDOWN_USAGE_H_
#define KERNELMILL_SERVICES_CLI_CATALOG_MARKDOWN_USAGE_H_

#include <string>

#include "services/cli/catalog/entries/catalog_kernel.h"

namespace kernelmill::cli {

// One line of Python that uses a kernel by its launcher: "from a.b import f ; f(x, n, eps=1e-6)",
// as the path and the launcher's signature have it. Nothing where the launcher is no function that
// an import reaches, or its text is not known.
std::string MinimalUsage(const CatalogKernel& kernel);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CATALOG_MARKDOWN_USAGE_H_
