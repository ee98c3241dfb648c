#include "services/coordinator/core/host_limits.h"

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace kernelmill::coordinator {
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
  return source.has_git() ? HostOfUrl(source.git()) : "";
}

bool HostLimits::Take(const std::string& host, uint64_t task) {
  if (limit_ == 0 || host.empty()) return true;
  int& taken = taken_[host];
  if (taken >= limit_) {
    waiting_[host].push_back(task);
    return false;
  }
  ++taken;
  return true;
}

void HostLimits::Release(const std::string& host) {
  const auto at = taken_.find(host);
  if (at != taken_.end() && --at->second == 0) taken_.erase(at);
}

std::vector<uint64_t> HostLimits::TakeRunnable() {
  std::vector<uint64_t> tasks;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto taken = taken_.find(at->first);
    int places = limit_ - (taken == taken_.end() ? 0 : taken->second);
    for (; places > 0 && !at->second.empty(); --places) {
      tasks.push_back(at->second.front());
      at->second.pop_front();
    }
    at = at->second.empty() ? waiting_.erase(at) : std::next(at);
  }
  return tasks;
}

}  // namespace kernelmill::coordinator
