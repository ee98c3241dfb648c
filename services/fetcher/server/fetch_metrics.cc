#include "services/fetcher/server/fetch_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <optional>

#include "absl/time/time.h"
#include "common/base/retry_after.h"
#include "common/job/source_host.h"
#include "common/metrics/metrics.h"

namespace kernelmill::fetcher {
namespace {

std::string BoundedHost(const std::string& host) {
  static auto* const hosts = new metrics::BoundedLabel(50);
  return host.empty() ? host : hosts->ValueFor(host);
}

const char* KindOf(const v1::Source& source) {
  if (source.has_git()) return "git";
  return source.has_package() ? "package" : "search";
}

const char* ResultOf(const absl::Status& status) {
  if (status.ok()) return "ok";
  if (GetRetryAfter(status).has_value() || absl::IsResourceExhausted(status)) return "rate_limited";
  if (absl::IsNotFound(status)) return "not_found";
  if (absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status)) return "denied";
  return absl::IsDeadlineExceeded(status) ? "timeout" : "error";
}

}  // namespace

HostRequest::HostRequest(const v1::Source& source)
    : host_(BoundedHost(job::HostOfSource(source))),
      kind_(KindOf(source)),
      start_(std::chrono::steady_clock::now()) {}

void HostRequest::End(const absl::Status& status, int64_t bytes) const {
  if (host_.empty()) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  metrics::Histogram(metrics::kFetchSeconds, {{"kind", kind_}}).Observe(taken.count());
  // All of a host's, so that the first of each is seen as an increase.
  metrics::Prefill(metrics::kFetchRequests,
                   {{"host", {host_}},
                    {"kind", {kind_}},
                    {"result", {"ok", "not_found", "denied", "rate_limited", "timeout", "error"}}});
  metrics::Counter(metrics::kFetchRequests,
                   {{"host", host_}, {"kind", kind_}, {"result", ResultOf(status)}})
      .Increment();
  metrics::Counter(metrics::kFetchedBytes, {{"host", host_}}).Increment(static_cast<double>(bytes));
  const std::optional<absl::Duration> wait = GetRetryAfter(status);
  metrics::Counter(metrics::kHostPauseSeconds, {{"host", host_}})
      .Increment(absl::ToDoubleSeconds(wait.value_or(absl::ZeroDuration())));
}

void PrefillFetchMetrics() {
  metrics::Prefill(metrics::kFetchSeconds, {{"kind", {"git", "package", "search"}}});
}

}  // namespace kernelmill::fetcher
