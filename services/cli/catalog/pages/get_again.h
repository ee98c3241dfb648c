#ifndef KERNELMILL_SERVICES_CLI_CATALOG_PAGES_GET_AGAIN_H_
#define KERNELMILL_SERVICES_CLI_CATALOG_PAGES_GET_AGAIN_H_

#include <string>

#include "services/cli/catalog/entries/catalog_kernel.h"

namespace kernelmill::cli {

// Commands of a shell that bring the kernel's file again, at its commit, and show its lines. Names
// are quoted, so that the shell runs nothing of them. Nothing where the source is no repository on
// the web, or a name has characters that no command line should have.
std::string GetAgainCommands(const CatalogKernel& kernel);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CATALOG_PAGES_GET_AGAIN_H_
