#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_SECTIONS_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_SECTIONS_H_

#include <string>

#include "client/catalog/pages/kernel_page.h"

namespace kernelmill::client {

// What a kernel's page says below its source: each a section of HTML, or nothing where nothing is
// known. Lists are cut, so that no section is larger than some 100 kB.

std::string ParametersSection(const CatalogKernel& kernel);
std::string AutotuneSection(const CatalogKernel& kernel);
std::string LauncherSection(const CatalogKernel& kernel);
std::string LicenseSection(const KernelPageInput& input);
std::string ProvenanceSection(const CatalogKernel& kernel);
std::string ChecksSection(const CatalogKernel& kernel);
std::string CompileSection(const CatalogKernel& kernel);
std::string TestsSection(const CatalogKernel& kernel);
std::string RelativesSection(const KernelPageInput& input);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_SECTIONS_H_
