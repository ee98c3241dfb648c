#ifndef KERNELMILL_CLIENT_CATALOG_MARKDOWN_USAGE_H_
#define KERNELMILL_CLIENT_CATALOG_MARKDOWN_USAGE_H_

#include <string>

#include "client/catalog/entries/catalog_kernel.h"

namespace kernelmill::client {

// One line of Python that uses a kernel by its launcher: "from a.b import f ; f(x, n, eps=1e-6)",
// as the path and the launcher's signature have it. Nothing where the launcher is no function that
// an import reaches, or its text is not known.
std::string MinimalUsage(const CatalogKernel& kernel);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_MARKDOWN_USAGE_H_
