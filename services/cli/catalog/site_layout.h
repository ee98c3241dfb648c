#ifndef KERNELMILL_SERVICES_CLI_CATALOG_SITE_LAYOUT_H_
#define KERNELMILL_SERVICES_CLI_CATALOG_SITE_LAYOUT_H_

#include "services/exporter/core/output/output_dir.h"

namespace kernelmill::cli {

// What a site's folder may hold.
const exporter::OutputLayout& SiteLayout();

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CATALOG_SITE_LAYOUT_H_
