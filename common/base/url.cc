#include "common/base/url.h"

#include "absl/strings/match.h"

namespace kernelmill {

bool HasCredentials(absl::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == absl::string_view::npos) return false;
  absl::string_view authority = url.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const size_t at = authority.rfind('@');
  if (at == absl::string_view::npos) return false;
  const bool ssh = absl::EqualsIgnoreCase(url.substr(0, scheme), "ssh");
  return !ssh || absl::StrContains(authority.substr(0, at), ':');
}

}  // namespace kernelmill
