#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_ARCHIVE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/fetcher/core/selection/snapshot.h"

namespace kernelmill::fetcher {

// Bounds on what an archive, which may be hostile, can make us unpack.
struct ArchiveLimits {
  size_t members = 200'000;
  int64_t member_bytes = 16 << 20;              // one member that is read
  int64_t unpacked_bytes = int64_t{512} << 20;  // all members that are read
  int64_t ratio = 200;                          // unpacked to packed bytes, beyond the first 16 MiB
};

// A file in an archive, before it is unpacked.
struct ArchiveMember {
  size_t number;  // in the archive, from 0
  std::string path;
  EntryKind kind;
};

// The members that were read, by number: a member's content, or OUT_OF_RANGE if it is larger than
// allowed, or DATA_LOSS.
using MemberContents = std::map<size_t, absl::StatusOr<std::string>>;

// Calls `visit` with every member of a zip archive except folders. Nothing is unpacked. Stops at
// the first error of `visit` and returns it. DATA_LOSS: not a zip archive; FAILED_PRECONDITION:
// more members than allowed.
absl::Status ListArchive(absl::string_view archive, const ArchiveLimits& limits,
                         const std::function<absl::Status(const ArchiveMember&)>& visit);

// Unpacks, in memory, the members whose numbers `wanted` accepts. FAILED_PRECONDITION: they unpack
// to more than allowed; DATA_LOSS: not a zip archive.
absl::StatusOr<MemberContents> ReadMembers(absl::string_view archive, const ArchiveLimits& limits,
                                           const std::function<bool(size_t)>& wanted);

// Returns the newest time in the archive's directory as seconds since 1970. The directory has no
// time zone, so the time is taken as UTC. 0 if the directory cannot be read.
int64_t NewestMemberTime(absl::string_view archive);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_ARCHIVE_H_
