#include "common/base/url.h"

#include <algorithm>
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

namespace {

constexpr absl::string_view kSlashes = "://";

// Returns the size of the credentials that `rest`, a URL after "://", begins with, without their
// '@'; npos if it has none that must be left out.
size_t CredentialsSize(absl::string_view scheme, absl::string_view rest) {
  const absl::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  size_t at = authority.rfind('@');
  if (at == absl::string_view::npos) {
    // A port follows the host's colon. Other text there may begin a password.
    const size_t colon = authority.find(':');
    const absl::string_view port =
        colon == absl::string_view::npos ? "" : authority.substr(colon + 1);
    const bool address = absl::StartsWith(authority, "[");
    if (address || std::all_of(port.begin(), port.end(), absl::ascii_isdigit)) return at;
    at = rest.rfind('@');
  }
  if (at == absl::string_view::npos) return at;
  const bool only_user = !absl::StrContains(rest.substr(0, at), ':');
  return only_user && absl::EndsWithIgnoreCase(scheme, "ssh") ? absl::string_view::npos : at;
}

// Redacts the URLs of a text. Each ends at the first of `ends`.
std::string Redacted(absl::string_view text, absl::string_view ends) {
  std::string out;
  while (true) {
    const size_t slashes = text.find(kSlashes);
    if (slashes == absl::string_view::npos) break;
    const absl::string_view scheme = text.substr(0, slashes);
    const absl::string_view rest = text.substr(slashes + kSlashes.size());
    const size_t size = CredentialsSize(scheme, rest.substr(0, rest.find_first_of(ends)));
    out.append(text.data(), slashes + kSlashes.size());
    text = rest;
    if (size == absl::string_view::npos) continue;
    out += "***";
    text.remove_prefix(size);
  }
  out.append(text.data(), text.size());
  return out;
}

}  // namespace

std::string RedactedUrl(absl::string_view url) { return Redacted(url, ""); }

std::string RedactedText(absl::string_view text) { return Redacted(text, " \t\r\n\"<>"); }

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
