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

// A token is ROLE.NAME.SECRET, e.g. "client.ci.8qV...": what it claims can be read off it, and
// holds once the token has been found. NAME is 1 to 64 letters, digits, '-' and '_'; SECRET is 20
// to 256 characters without blanks. Nothing where the text does not have that form.
std::optional<Caller> ClaimOf(absl::string_view token);

// A file that is read again once it has changed, looked at no more often than once a second.
// Thread-safe.
class WatchedFile {
 public:
  explicit WatchedFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // The content where it is new since the last call; nothing where it is not, or cannot be read:
  // what was read before stays in force.
  std::optional<std::string> ReadIfChanged();

 private:
  const std::string path_;
  absl::Mutex mutex_;
  absl::Time next_look_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::string stamp_ ABSL_GUARDED_BY(mutex_);  // inode, size and time of what was read
};

// The tokens that a server believes: a file that has the SHA-256 of one a line, in hexadecimal, and
// perhaps a comment after '#'. Who reads the file cannot call with it. Thread-safe.
class Tokens {
 public:
  // INVALID_ARGUMENT: a line is no SHA-256; else as ReadFile.
  static absl::StatusOr<std::unique_ptr<Tokens>> Open(const std::string& path);

  // Who the token says; nothing where it is not among those believed.
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

// Who may read metrics where a server has tokens: the user ROLE.NAME with the password SECRET, of
// the role metrics or operator. Null where `path` is empty: anyone may. Errors as Tokens::Open.
absl::StatusOr<std::function<bool(const std::string&, const std::string&)>> MetricsReaders(
    const std::string& path);

}  // namespace kernelmill::access

#endif  // KERNELMILL_COMMON_ACCESS_TOKENS_H_
