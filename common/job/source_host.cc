#include "common/job/source_host.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace kernelmill::job {
namespace {

// scheme://[user@]host[:port]/path or [user@]host:path; a plain path has none.
std::string HostOfUrl(absl::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme != absl::string_view::npos) {
    url.remove_prefix(scheme + 3);
    url = url.substr(0, url.find('/'));
  } else {
    const size_t colon = url.find(':');
    if (colon == absl::string_view::npos || url.find('/') < colon) return "";
    url = url.substr(0, colon);
  }
  if (const size_t at = url.rfind('@'); at != absl::string_view::npos) url.remove_prefix(at + 1);
  const size_t port = url.rfind(':');
  if (port != absl::string_view::npos && url.find(']', port) == absl::string_view::npos) {
    url = url.substr(0, port);
  }
  return absl::AsciiStrToLower(url);
}

}  // namespace

std::string HostOfSource(const v1::Source& source) {
  if (source.has_package()) return "package index";
  if (source.has_discover()) return "repository search";
  return source.has_git() ? HostOfUrl(source.git()) : "";
}

}  // namespace kernelmill::job
