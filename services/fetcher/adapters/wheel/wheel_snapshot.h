#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_SNAPSHOT_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_SNAPSHOT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/glob.h"
#include "services/fetcher/adapters/wheel/wheel_archive.h"
#include "services/fetcher/core/selection/snapshot.h"
#include "services/fetcher/core/selection/tree_selection.h"

namespace kernelmill::fetcher {

// What a wheel's METADATA declares about its licence: the values of License-Expression, License and
// the classifiers that begin with "License ::", in that order and as they stand there. UNKNOWN is
// nothing.
std::vector<std::string> DeclaredLicenses(absl::string_view metadata);

struct WheelOptions {
  std::string index_url;  // of a simple package index
  int64_t download_bytes = 256 << 20;
  absl::Duration timeout = absl::Minutes(10);
  ArchiveLimits archive;
  TreeLimits tree;
};

// The SHA-256 of the wheel that name==version stands for in the index. The wheel itself is fetched
// only if the index does not tell. NOT_FOUND: no such package or version.
absl::StatusOr<std::string> PinWheel(absl::string_view package, const WheelOptions& options);

// Fetches the wheel with that hash and unpacks, in memory, what `globs` select and the licence
// files. FAILED_PRECONDITION: no wheel has the hash, or it is over a limit; DATA_LOSS: its bytes
// are not what the index promises, or it is not an archive. Network errors as HttpGet and
// HttpStatus.
absl::StatusOr<std::unique_ptr<Snapshot>> FetchWheel(absl::string_view package,
                                                     const std::string& sha256,
                                                     const GlobSet& globs,
                                                     const WheelOptions& options);

// The same for a wheel's bytes at hand.
absl::StatusOr<std::unique_ptr<Snapshot>> OpenWheel(absl::string_view wheel, const GlobSet& globs,
                                                    const WheelOptions& options);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_SNAPSHOT_H_
