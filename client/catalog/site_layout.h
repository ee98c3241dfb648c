#ifndef KERNELMILL_CLIENT_CATALOG_SITE_LAYOUT_H_
#define KERNELMILL_CLIENT_CATALOG_SITE_LAYOUT_H_

#include "dataset/output/output_dir.h"

namespace kernelmill::client {

// What a site's folder may hold.
const dataset::OutputLayout& SiteLayout();

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SITE_LAYOUT_H_
