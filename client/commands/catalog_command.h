#ifndef KERNELMILL_CLIENT_COMMANDS_CATALOG_COMMAND_H_
#define KERNELMILL_CLIENT_COMMANDS_CATALOG_COMMAND_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "client/commands/console.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

struct CatalogOptions {
  std::string dataset;  // the folder that an export wrote
  std::string out_dir;
  bool wanted = false;  // in place of a site: what the dataset lacks, as searches
  size_t limit = 50;    // of those
};

// Writes a static site of a dataset's kernels, or lists searches for what it lacks. With --json one
// object, or one for each search. INVALID_ARGUMENT: no export; FAILED_PRECONDITION: the folder to
// write to holds something else.
absl::StatusOr<int> Catalog(const CatalogOptions& options, rpc::TerminationSignal& signal,
                            Console& console);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_CATALOG_COMMAND_H_
