#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_SITE_PAGES_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_SITE_PAGES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/catalog/coverage/coverage.h"
#include "client/catalog/entries/notices.h"
#include "client/catalog/relatives/overview.h"

namespace kernelmill::client {

// learn.html: a path through the clean kernels of each operation, from simple to hard.
std::string LearnPage(const std::vector<CatalogEntry>& entries);

// coverage.html: which of the known operations there are kernels of, and what is still needed.
std::string CoveragePage(const Coverage& coverage, const std::vector<CatalogEntry>& entries);

// A licence or NOTICE file, in full up to a bound.
std::string NoticePage(const Notice& notice);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_SITE_PAGES_H_
