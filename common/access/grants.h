#ifndef KERNELMILL_COMMON_ACCESS_GRANTS_H_
#define KERNELMILL_COMMON_ACCESS_GRANTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/access/tokens.h"

namespace kernelmill::access {

// The metadata of UpdateActionResult that a grant goes in.
inline constexpr char kGrantMetadata[] = "kernelmill-grant-bin";

// How long a grant holds. A result may be written long after its task was leased: tasks wait for a
// slot, run for hours where --task-timeout-seconds allows it, and wait for a store that is away. A
// day outlasts these, and clocks that differ. What a late grant is worth to whoever steals it is
// little: one action's result, under the certificate of the worker that it was given to.
inline constexpr absl::Duration kGrantLife = absl::Hours(24);

// Lets one caller write the result of one action, and the entries of the caches that the action's
// stage keeps for itself ("fetch/pack" of "fetch").
struct Grant {
  std::string action;  // its digest, "hash/size"
  std::string stage;
  int32_t version = 0;  // of the stage
  std::string caller;   // as CallerName has it
  absl::Time expiry;    // in whole seconds
};

// A result that somebody wants to write: for which action, and by its own word of which stage.
struct ResultWrite {
  std::string action;
  std::string stage;
  int32_t version = 0;
  std::string caller;
};

// Signs and checks grants with the key that the coordinator and the store share. The file is read
// again once it changes; grants that were signed before are worth nothing then. Thread-safe.
//
//   grant := mac text, both raw
//   mac   := HMAC-SHA-256 of text
//   text  := "kernelmill-grant-1" '\n' expiry '\n' action '\n' stage '\n' version '\n' caller
class GrantKey {
 public:
  // INVALID_ARGUMENT: fewer than 32 bytes, without blanks at the end; else as ReadFile.
  static absl::StatusOr<std::unique_ptr<GrantKey>> Open(const std::string& path);

  std::string Sign(const Grant& grant);
  // PERMISSION_DENIED: there is none, it is not signed with the key, its time is over, or it is for
  // another caller, action or stage.
  absl::Status Check(absl::string_view grant, const ResultWrite& write, absl::Time now);

 private:
  GrantKey(const std::string& path, std::string key) : file_(path), key_(std::move(key)) {}
  std::string Key();

  WatchedFile file_;
  absl::Mutex mutex_;
  std::string key_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_GRANTS_H_
