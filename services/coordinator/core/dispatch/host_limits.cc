#include "services/coordinator/core/dispatch/host_limits.h"

#include <algorithm>
#include <cstddef>

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
  if (source.has_discover()) return "repository search";
  return source.has_git() ? HostOfUrl(source.git()) : "";
}

bool HostLimits::Take(const std::string& host, uint64_t task, Clock::Time now) {
  if (host.empty()) return true;
  const auto taken = taken_.find(host);
  const bool full = limit_ > 0 && taken != taken_.end() && taken->second >= limit_;
  if (full || IsPaused(host, now)) {
    waiting_[host].push_back(task);
    return false;
  }
  ++taken_[host];
  return true;
}

void HostLimits::Pause(const std::string& host, Clock::Time until) {
  if (host.empty()) return;
  Clock::Time& pause = pauses_[host];
  pause = std::max(pause, until);
}

bool HostLimits::IsPaused(const std::string& host, Clock::Time now) {
  const auto pause = pauses_.find(host);
  if (pause == pauses_.end()) return false;
  if (pause->second > now) return true;
  pauses_.erase(pause);
  return false;
}

void HostLimits::Release(const std::string& host) {
  const auto at = taken_.find(host);
  if (at != taken_.end() && --at->second == 0) taken_.erase(at);
}

std::vector<uint64_t> HostLimits::TakeRunnable(Clock::Time now) {
  std::vector<uint64_t> tasks;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (IsPaused(at->first, now)) {
      ++at;
      continue;
    }
    const auto taken = taken_.find(at->first);
    size_t places = at->second.size();
    if (limit_ > 0) places = std::max(0, limit_ - (taken == taken_.end() ? 0 : taken->second));
    for (; places > 0 && !at->second.empty(); --places) {
      tasks.push_back(at->second.front());
      at->second.pop_front();
    }
    at = at->second.empty() ? waiting_.erase(at) : std::next(at);
  }
  return tasks;
}

}  // namespace kernelmill::coordinator
