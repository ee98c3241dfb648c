#include "common/base/url.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace kernelmill {

// A user name alone counts for https, since tokens are used as user names there. With ssh, git@host
// names the account and is no secret; only a password counts.
bool HasCredentials(absl::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == absl::string_view::npos) return false;
  absl::string_view authority = url.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const size_t at = authority.rfind('@');
  if (at == absl::string_view::npos) return false;
  // The last @ ends the user's part, since a password may contain others.
  const bool ssh = absl::EqualsIgnoreCase(url.substr(0, scheme), "ssh");
  return !ssh || absl::StrContains(authority.substr(0, at), ':');
}

// Brings the spellings of one repository to one text, in lower case: without scheme, user, final
// slashes and ".git", with scp's host:path as host/path, and a package without its version.
std::string RepositoryKey(absl::string_view name) {
  std::string key(name);
  const size_t scheme = key.find("://");
  const size_t colon = key.find(':');
  const size_t at = key.find('@');
  if (scheme != std::string::npos) {
    key.erase(0, scheme + 3);
    const size_t user = key.substr(0, key.find('/')).rfind('@');
    if (user != std::string::npos) key.erase(0, user + 1);
  } else if (colon != std::string::npos && key.find('/') > colon) {  // scp's form, host:path
    key[colon] = '/';
    if (at < colon) key.erase(0, at + 1);
  } else if (const size_t version = key.find("=="); version != std::string::npos) {
    key.erase(version);
  }
  absl::string_view rest = key;
  while (absl::ConsumeSuffix(&rest, "/")) {
  }
  absl::ConsumeSuffix(&rest, ".git");
  return absl::AsciiStrToLower(rest);
}

// Works on bytes, so UTF-8 is encoded byte by byte, as URLs want it.
std::string PercentEncoded(absl::string_view text, absl::string_view kept) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || absl::StrContains(kept, c)) {
      out.push_back(c);
    } else {
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

}  // namespace kernelmill
