#include "common/access/grants.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"

// A grant is a ticket with which a worker may store the result of one leased task, and the entries
// of its stage's own caches. The coordinator signs it, the store checks it, and both know the key;
// so the store needs no call to the coordinator. Its bytes:
//
//   grant := HMAC-SHA-256 (32 bytes) text
//   text  := format "\n" expiry "\n" action "\n" stage "\n" version "\n" caller
//
// The expiry is in seconds since 1970. The caller comes last and takes the rest of the text, so
// that no character in its name can shift the other fields. The MAC covers the whole text, with the
// format's name first, so that a grant of another version of the format is never mistaken for one.
namespace kernelmill::access {
namespace {

constexpr char kFormat[] = "kernelmill-grant-1";
// A key as long as the MAC: a shorter one would be the weakest part.
constexpr size_t kMinKey = 32;
constexpr int64_t kMaxKeyFile = 1 << 16;
constexpr size_t kMacBytes = 32;
constexpr size_t kMaxGrant = 4096;  // longer grants are not parsed

std::string Mac(const std::string& key, absl::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), out, &size);
  return std::string(reinterpret_cast<char*>(out), size);
}

absl::StatusOr<std::string> ParseKey(absl::string_view content, const std::string& path) {
  const absl::string_view key = absl::StripTrailingAsciiWhitespace(content);
  if (key.size() >= kMinKey) return std::string(key);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": a grant key must have at least ", kMinKey, " bytes, not ", key.size()));
}

std::string ToText(const Grant& grant) {
  return absl::StrCat(kFormat, "\n", absl::ToUnixSeconds(grant.expiry), "\n", grant.action, "\n",
                      grant.stage, "\n", grant.version, "\n", grant.caller);
}

// Parses a text whose MAC is right, so one that a coordinator wrote.
std::optional<Grant> ParseText(absl::string_view text) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, absl::MaxSplits('\n', 5));
  Grant grant;
  int64_t expiry = 0;
  if (lines.size() != 6 || lines[0] != kFormat || !absl::SimpleAtoi(lines[1], &expiry) ||
      !absl::SimpleAtoi(lines[4], &grant.version)) {
    return std::nullopt;
  }
  grant.expiry = absl::FromUnixSeconds(expiry);
  grant.action = std::string(lines[2]);
  grant.stage = std::string(lines[3]);
  grant.caller = std::string(lines[5]);
  return grant;
}

std::string ToName(const std::string& caller) {
  return caller.empty() ? "an unnamed caller" : caller;
}

// Returns whether the grant covers the write. The action's result must be of the action's stage.
// Any other action may only be an entry of the stage's own caches ("STAGE/..."); TaskStore never
// takes such an entry for a task's result.
bool Covers(const Grant& grant, const ResultWrite& write) {
  if (write.version != grant.version) return false;
  if (write.action == grant.action) return write.stage == grant.stage;
  return absl::StartsWith(write.stage, absl::StrCat(grant.stage, "/"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrantKey>> GrantKey::Open(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path, kMaxKeyFile));
  ASSIGN_OR_RETURN(std::string key, ParseKey(content, path));
  return std::unique_ptr<GrantKey>(new GrantKey(path, std::move(key)));
}

// Returns the key, after reading the file again if it changed. A key that cannot be used is logged,
// and the old one stays, so that a half-written file does not stop all workers.
std::string GrantKey::Key() {
  absl::MutexLock lock(&mutex_);
  if (const std::optional<std::string> content = file_.ReadIfChanged()) {
    absl::StatusOr<std::string> key = ParseKey(*content, file_.path());
    if (key.ok()) {
      key_ = *std::move(key);
    } else {
      LogError("cannot read the changed grant key; using the old one",
               {{"error", key.status().ToString()}});
    }
  }
  return key_;
}

std::string GrantKey::Sign(const Grant& grant) {
  const std::string text = ToText(grant);
  return absl::StrCat(Mac(Key(), text), text);
}

// The MAC is compared first and in constant time: nothing of the text is interpreted before it is
// known to be the coordinator's, and the time of the comparison tells nothing about the MAC.
absl::Status GrantKey::Check(absl::string_view grant, const ResultWrite& write, absl::Time now) {
  if (grant.empty()) return absl::PermissionDeniedError("the grant is missing");
  if (grant.size() <= kMacBytes || grant.size() > kMaxGrant) {
    return absl::PermissionDeniedError("the grant is malformed");
  }
  const absl::string_view text = grant.substr(kMacBytes);
  if (CRYPTO_memcmp(Mac(Key(), text).data(), grant.data(), kMacBytes) != 0) {
    return absl::PermissionDeniedError("the grant is not signed with the key of this store");
  }
  const std::optional<Grant> known = ParseText(text);
  if (!known.has_value()) return absl::PermissionDeniedError("the grant is malformed");
  if (now >= known->expiry) {
    return absl::PermissionDeniedError(
        absl::StrCat("the grant expired at ",
                     absl::FormatTime(absl::RFC3339_sec, known->expiry, absl::UTCTimeZone())));
  }
  if (known->caller != write.caller) {
    return absl::PermissionDeniedError(
        absl::StrCat("the grant was given to ", ToName(known->caller)));
  }
  if (Covers(*known, write)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("the grant is for ", known->stage, " ", known->version, " of the action ",
                   known->action, ", the result is from '", write.stage, " ", write.version, "'"));
}

}  // namespace kernelmill::access
