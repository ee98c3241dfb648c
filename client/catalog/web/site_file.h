#ifndef KERNELMILL_CLIENT_CATALOG_WEB_SITE_FILE_H_
#define KERNELMILL_CLIENT_CATALOG_WEB_SITE_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::client {

inline constexpr size_t kMaxSiteFile = 1 << 20;  // what hosts of pages and phones take well

// Writes a file of a site, `path` below the folder `site`, and the folders that lead to it. Not
// synced: a site is made again. INTERNAL: it is larger than kMaxSiteFile.
absl::Status WriteSiteFile(const std::string& site, absl::string_view path,
                           absl::string_view content);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_WEB_SITE_FILE_H_
