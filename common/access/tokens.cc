#include "common/access/tokens.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"

// The token file has one SHA-256 a line, and no token: the file does not help to log in. A token is
// ROLE.NAME.SECRET, and the hash is over all of it. So the role and the name that a caller claims
// are true if the hash is known: another role or name changes the hash. Secrets are long and
// random, so that a fast hash without a salt is enough.
namespace kernelmill::access {
namespace {

constexpr absl::Duration kLookEvery = absl::Seconds(1);
constexpr int64_t kMaxFileBytes = 16 << 20;
constexpr size_t kMaxName = 64;
// 20 characters of base64 are 120 bits.
constexpr size_t kMinSecret = 20;
constexpr size_t kMaxSecret = 256;

bool IsName(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxName &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_';
         });
}

bool IsSecret(absl::string_view text) {
  return text.size() >= kMinSecret && text.size() <= kMaxSecret &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isgraph(c); });
}

// Returns a stamp that changes with the file's content; empty if the file does not exist.
std::string GetStamp(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return "";
  return absl::StrCat(info.st_ino, ":", info.st_size, ":", info.st_mtim.tv_sec, ".",
                      info.st_mtim.tv_nsec);
}

}  // namespace

std::optional<Caller> ParseClaim(absl::string_view token) {
  const std::vector<absl::string_view> parts = absl::StrSplit(token, absl::MaxSplits('.', 2));
  if (parts.size() != 3 || !IsName(parts[1]) || !IsSecret(parts[2])) return std::nullopt;
  const std::optional<Role> role = FindRole(parts[0]);
  if (!role.has_value()) return std::nullopt;
  return Caller{role, std::string(parts[1])};
}

// Returns the content if the file has another stamp than at the last read. It looks at most once in
// kLookEvery, since it is called for every call of every client. A file that is missing or cannot
// be read counts as unchanged; the next look tries again.
std::optional<std::string> WatchedFile::ReadIfChanged() {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  if (now < next_look_) return std::nullopt;
  next_look_ = now + kLookEvery;
  const std::string stamp = GetStamp(path_);
  if (stamp.empty() || stamp == stamp_) return std::nullopt;
  absl::StatusOr<std::string> content = ReadFile(path_, kMaxFileBytes);
  if (!content.ok()) return std::nullopt;
  stamp_ = stamp;
  return *std::move(content);
}

absl::StatusOr<std::unique_ptr<Tokens>> Tokens::Open(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
  ASSIGN_OR_RETURN(Hashes hashes, Parse(text, path));
  auto tokens = std::unique_ptr<Tokens>(new Tokens(path));
  absl::MutexLock lock(&tokens->mutex_);
  tokens->hashes_ = std::move(hashes);
  return tokens;
}

absl::StatusOr<Tokens::Hashes> Tokens::Parse(absl::string_view text, const std::string& path) {
  Hashes hashes;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (!IsHex(line, 64)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ":", number, ": must be the SHA-256 of a token, 64 hexadecimal digits"));
    }
    hashes.insert(absl::AsciiStrToLower(line));
  }
  return hashes;
}

// Hashes outside the lock. The lookup of a hash in a set needs no constant time: an attacker who
// measures it learns about the hash and not about the token.
std::optional<Caller> Tokens::Find(absl::string_view token) {
  std::optional<Caller> claim = ParseClaim(token);
  if (!claim.has_value()) return std::nullopt;
  Reload();
  const std::string hash = Sha256Hex(token);
  absl::MutexLock lock(&mutex_);
  return hashes_.contains(hash) ? claim : std::nullopt;
}

// A changed file with an error in it changes nothing: the old tokens stay valid.
void Tokens::Reload() {
  const std::optional<std::string> text = file_.ReadIfChanged();
  if (!text.has_value()) return;
  absl::StatusOr<Hashes> hashes = Parse(*text, file_.path());
  if (!hashes.ok()) {
    LogError("cannot read the changed token file; using the old tokens",
             {{"error", hashes.status().ToString()}});
    return;
  }
  absl::MutexLock lock(&mutex_);
  hashes_ = *std::move(hashes);
}

// Scrapers log in with HTTP's Basic scheme: the user is ROLE.NAME and the password is the secret.
// Joined by a dot they are the token.
absl::StatusOr<std::function<bool(const std::string&, const std::string&)>> MetricsReaders(
    const std::string& path) {
  if (path.empty()) return std::function<bool(const std::string&, const std::string&)>();
  ASSIGN_OR_RETURN(std::shared_ptr<Tokens> tokens, Tokens::Open(path));
  return [tokens](const std::string& user, const std::string& password) {
    const std::optional<Caller> caller = tokens->Find(absl::StrCat(user, ".", password));
    return caller.has_value() && Has(Role::kMetrics | Role::kOperator, *caller->role);
  };
}

}  // namespace kernelmill::access
