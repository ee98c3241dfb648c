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

// The metadata key of a grant in UpdateActionResult.
inline constexpr char kGrantMetadata[] = "kernelmill-grant-bin";

// How long a grant is valid. A result may be written long after its task was leased: tasks wait for
// a slot, run for hours if --task-timeout-seconds allows it, and wait for an unreachable store. A
// day covers these and clock skew. A stolen grant is worth little: one action's result, with the
// certificate of the worker that it was given to.
inline constexpr absl::Duration kGrantLife = absl::Hours(24);

// A permission for one caller to write the result of one action, and entries of the caches of the
// action's stage ("fetch/pack" of "fetch").
struct Grant {
  std::string action;  // the digest, "hash/size"
  std::string stage;
  int32_t version = 0;  // the stage's version
  std::string caller;   // see CallerName
  absl::Time expiry;    // in whole seconds
};

// A result that a caller wants to write. Stage and version are what the result itself claims.
struct ResultWrite {
  std::string action;
  std::string stage;
  int32_t version = 0;
  std::string caller;
};

// The key with which the coordinator signs grants and the store checks them. Its file is read again
// after a change, which invalidates earlier grants. Thread-safe.
//
// clang-format off
//   grant := mac text, both raw
//   mac   := HMAC-SHA-256 of text
//   text  := "kernelmill-grant-1" '\n' expiry '\n' action '\n' stage '\n' version '\n' caller
// clang-format on
class GrantKey {
 public:
  // Reads the key. INVALID_ARGUMENT: fewer than 32 bytes, not counting trailing blanks. Also
  // returns the errors of ReadFile.
  static absl::StatusOr<std::unique_ptr<GrantKey>> Open(const std::string& path);

  std::string Sign(const Grant& grant);
  // Checks that the grant covers the write. PERMISSION_DENIED: the grant is missing, not signed
  // with this key, expired, or for a different caller, action or stage.
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
