#ifndef KERNELMILL_CLIENT_CATALOG_CATALOG_H_
#define KERNELMILL_CLIENT_CATALOG_CATALOG_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::client {

struct CatalogSums {
  int64_t kernels = 0;
  int64_t operations = 0;  // that are known
  int64_t covered = 0;     // of these, have a kernel
  int64_t needs = 0;
};

// Called after each kernel, first of those that are read (`all` is 0), then of the pages that are
// written. False ends the work with CANCELLED.
using CatalogProgress = std::function<bool(int64_t done, int64_t all)>;

// Writes a static site of the dataset in the folder `dataset`, which an export wrote, to `out`: in
// one step, the folder holds the earlier site until the new one is whole. Equal datasets give equal
// bytes. Reads kernels.jsonl twice, and holds no more than a kilobyte or two of each kernel.
// INVALID_ARGUMENT: no export; FAILED_PRECONDITION: `out` holds something else.
absl::StatusOr<CatalogSums> WriteCatalog(const std::string& dataset, const std::string& out,
                                         const CatalogProgress& progress);

// What GitHub's code may be searched for, to find what the dataset lacks; see WantedSearches.
absl::StatusOr<std::vector<std::string>> ReadWanted(const std::string& dataset, size_t limit);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_CATALOG_H_
