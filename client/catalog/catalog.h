#ifndef KERNELMILL_CLIENT_CATALOG_CATALOG_H_
#define KERNELMILL_CLIENT_CATALOG_CATALOG_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::client {

// The totals of a catalog.
struct CatalogSums {
  int64_t kernels = 0;
  int64_t operations = 0;  // known operations
  int64_t covered = 0;     // known operations with a kernel
  int64_t needs = 0;       // gaps in the coverage
};

// Called after each kernel that is read (`all` is 0), and after each page that is written.
// Returning false ends the work with CANCELLED.
using CatalogProgress = std::function<bool(int64_t done, int64_t all)>;

// Writes a static site of the export in the folder `dataset` to `out`. The site replaces an earlier
// one in one step when it is complete. Equal datasets give equal bytes. It reads kernels.jsonl
// twice, and holds a kilobyte or two of each kernel in memory. INVALID_ARGUMENT: the folder has no
// export; FAILED_PRECONDITION: `out` has other files.
absl::StatusOr<CatalogSums> WriteCatalog(const std::string& dataset, const std::string& out,
                                         const CatalogProgress& progress);

// Returns searches of GitHub's code for operations that the dataset lacks; see WantedSearches.
absl::StatusOr<std::vector<std::string>> ReadWanted(const std::string& dataset, size_t limit);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_CATALOG_H_
