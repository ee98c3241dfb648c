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

struct ArchiveLimits {
  size_t members = 200'000;
  int64_t member_bytes = 16 << 20;              // of one member that is read
  int64_t unpacked_bytes = int64_t{512} << 20;  // of all members that are read
  int64_t ratio = 200;  // of what is read to the archive's own size, beyond the first 16 MiB
};

struct ArchiveMember {
  size_t number;  // in the archive, from 0
  std::string path;
  EntryKind kind;
};

// A member's content, or why there is none: OUT_OF_RANGE if it is larger than allowed, DATA_LOSS.
using MemberContents = std::map<size_t, absl::StatusOr<std::string>>;

// Calls `visit` with every member of a zip archive but its folders. Nothing is unpacked. Ends with
// visit's error. DATA_LOSS: not a zip archive; FAILED_PRECONDITION: more members than allowed.
absl::Status ListArchive(absl::string_view archive, const ArchiveLimits& limits,
                         const std::function<absl::Status(const ArchiveMember&)>& visit);

// Unpacks, in memory, the members that `wanted` names by number. FAILED_PRECONDITION: they unpack
// to more than allowed; DATA_LOSS: not a zip archive.
absl::StatusOr<MemberContents> ReadMembers(absl::string_view archive, const ArchiveLimits& limits,
                                           const std::function<bool(size_t)>& wanted);

// The newest time in the archive's directory, which has no zone, taken as UTC: seconds since 1970;
// 0 if the directory cannot be read.
int64_t NewestMemberTime(absl::string_view archive);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_ARCHIVE_H_
