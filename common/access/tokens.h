#ifndef KERNELMILL_COMMON_ACCESS_TOKENS_H_
#define KERNELMILL_COMMON_ACCESS_TOKENS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/access/roles.h"

namespace kernelmill::access {

// Parses the role and name of a token, which are only a claim until Tokens::Find finds the token.
// Returns nothing if the text is not a token.
//
// clang-format off
//   token  := ROLE "." NAME "." SECRET, e.g. "client.ci.8qV..."
//   NAME   := 1 to 64 letters, digits, '-' and '_'
//   SECRET := 20 to 256 characters without blanks
// clang-format on
std::optional<Caller> ParseClaim(absl::string_view token);

// A file that is read again after it changed. It is checked at most once a second. Thread-safe.
class WatchedFile {
 public:
  explicit WatchedFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Returns the content if it changed since the last call. Returns nothing if it did not change or
  // cannot be read; the caller then keeps the old content.
  std::optional<std::string> ReadIfChanged();

 private:
  const std::string path_;
  absl::Mutex mutex_;
  absl::Time next_look_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::string stamp_ ABSL_GUARDED_BY(mutex_);  // inode, size and time of the content that was read
};

// The tokens that a server accepts. Their file has one token's SHA-256 in hexadecimal on each line,
// and optional comments after '#'. A reader of the file cannot use it to call. Thread-safe.
class Tokens {
 public:
  // Reads the file. INVALID_ARGUMENT: a line is not a SHA-256. Also returns the errors of ReadFile.
  static absl::StatusOr<std::unique_ptr<Tokens>> Open(const std::string& path);

  // Returns the caller whose token it is, or nothing if the token is unknown.
  std::optional<Caller> Find(absl::string_view token);

 private:
  using Hashes = absl::flat_hash_set<std::string>;

  explicit Tokens(const std::string& path) : file_(path) {}
  static absl::StatusOr<Hashes> Parse(absl::string_view text, const std::string& path);
  void Reload();

  WatchedFile file_;
  absl::Mutex mutex_;
  Hashes hashes_ ABSL_GUARDED_BY(mutex_);
};

// Makes the check of users of /metrics: the user is ROLE.NAME with the password SECRET, and the
// role is metrics or operator. Null if `path` is empty: anyone may read. Errors: see Tokens::Open.
absl::StatusOr<std::function<bool(const std::string&, const std::string&)>> MetricsReaders(
    const std::string& path);

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_TOKENS_H_
