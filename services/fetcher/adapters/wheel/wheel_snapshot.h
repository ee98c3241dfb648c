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
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/adapters/wheel/wheel_archive.h"
#include "services/fetcher/core/rate_floor.h"
#include "services/fetcher/core/selection/snapshot.h"
#include "services/fetcher/core/selection/tree_selection.h"

namespace kernelmill::fetcher {

// Returns the licences that a wheel's METADATA declares: the values of License-Expression, License
// and the classifiers that begin with "License ::", in that order and as written. UNKNOWN counts as
// nothing.
std::vector<std::string> DeclaredLicenses(absl::string_view metadata);

// The index and the limits of the wheel adapter.
struct WheelOptions {
  std::string index_url;  // a simple package index
  // The hosts of files and of redirects; the index itself is the operator's, and allowed.
  HostPolicy hosts;
  int64_t download_bytes = int64_t{2} << 30;
  std::string temp_dir;  // for the wheel while it is read; empty: the system's
  absl::Duration timeout = absl::Minutes(10);
  LowestRate rate = {};
  ArchiveLimits archive;
  TreeLimits tree;
};

// The SHA-256 of a wheel.
struct WheelPin {
  std::string sha256;
  bool computed = false;  // from the file that the index served, since the index gives no hash
};

// Returns the SHA-256 of the wheel that name==version means in the index. The wheel itself is
// fetched only if the index does not give the hash. NOT_FOUND: the package or version does not
// exist. FAILED_PRECONDITION: the index gives no hash, and `require_hash` is set.
absl::StatusOr<WheelPin> PinWheel(absl::string_view package, bool require_hash,
                                  const WheelOptions& options);

// Fetches the wheel with that hash and unpacks, in memory, the files that `globs` select and the
// licence files. FAILED_PRECONDITION: no wheel has the hash, or it is over a limit; DATA_LOSS: its
// bytes do not have the hash that the index gives, or it is not an archive. Network errors: as
// HttpGet and HttpStatus.
absl::StatusOr<std::unique_ptr<Snapshot>> FetchWheel(absl::string_view package,
                                                     const std::string& sha256,
                                                     const GlobSet& globs,
                                                     const WheelOptions& options);

// Does the same with the bytes of a wheel.
absl::StatusOr<std::unique_ptr<Snapshot>> OpenWheel(absl::string_view wheel, const GlobSet& globs,
                                                    const WheelOptions& options);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_SNAPSHOT_H_
