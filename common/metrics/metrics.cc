#include "common/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::metrics {
namespace {

// Lives as long as the process: instruments are handed out by reference.
const std::shared_ptr<prometheus::Registry>& ProcessRegistry() {
  static auto* registry =
      new std::shared_ptr<prometheus::Registry>(std::make_shared<prometheus::Registry>());
  return *registry;
}

}  // namespace

prometheus::Counter& Counter(const std::string& name, const std::string& help,
                             const Labels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(*ProcessRegistry()).Add(labels);
}

prometheus::Gauge& Gauge(const std::string& name, const std::string& help, const Labels& labels) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(*ProcessRegistry()).Add(labels);
}

prometheus::Histogram& Seconds(const std::string& name, const std::string& help,
                               const Labels& labels) {
  static const prometheus::Histogram::BucketBoundaries kBuckets = {
      0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300};
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(*ProcessRegistry())
      .Add(labels, kBuckets);
}

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Start(const std::string& address,
                                                          const std::string& version,
                                                          const MayRead& may_read) {
  Gauge("kernelmill_build_info", "Always 1; the label says which release runs.",
        {{"version", version}})
      .Set(1);
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(address, 2);
    if (may_read != nullptr) exposer->RegisterAuth(may_read, "kernelmill");
    exposer->RegisterCollectable(ProcessRegistry());
    return std::unique_ptr<Endpoint>(new Endpoint(std::move(exposer)));
  } catch (const std::exception& error) {  // civetweb's way to say that bind failed
    return absl::UnavailableError(absl::StrCat("metrics on ", address, ": ", error.what()));
  }
}

Endpoint::Endpoint(std::unique_ptr<prometheus::Exposer> exposer) : exposer_(std::move(exposer)) {}
Endpoint::~Endpoint() = default;
int Endpoint::port() const { return exposer_->GetListeningPorts().front(); }

}  // namespace kernelmill::metrics
