#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_GET_AGAIN_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_GET_AGAIN_H_

#include <string>

#include "client/catalog/entries/catalog_kernel.h"

namespace kernelmill::client {

// Commands of a shell that bring the kernel's file again, at its commit, and show its lines. Names
// are quoted, so that the shell runs nothing of them. Nothing where the source is no repository on
// the web, or a name has characters that no command line should have.
std::string GetAgainCommands(const CatalogKernel& kernel);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_GET_AGAIN_H_
