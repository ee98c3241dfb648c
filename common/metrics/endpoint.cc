#include "common/metrics/endpoint.h"

#include <CivetServer.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <exception>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/metrics/exposition.h"
#include "common/metrics/metrics.h"
#include "common/metrics/process_metrics.h"

namespace kernelmill::metrics {
namespace {

// Idle connections hold a thread each for as long as a request may take to come.
constexpr char kThreads[] = "32";
constexpr char kRequestTimeoutMs[] = "2000";

std::string Header(mg_connection* connection, const char* name) {
  const char* const value = mg_get_header(connection, name);
  return value == nullptr ? "" : value;
}

void Answer(mg_connection* connection, absl::string_view status, absl::string_view headers,
            absl::string_view body) {
  const std::string head =
      absl::StrCat("HTTP/1.1 ", status, "\r\n", headers,
                   "Connection: close\r\nContent-Length: ", body.size(), "\r\n\r\n");
  mg_write(connection, head.data(), head.size());
  mg_write(connection, body.data(), body.size());
}

class MetricsHandler final : public CivetHandler {
 public:
  explicit MetricsHandler(MayRead may_read) : may_read_(std::move(may_read)) {}

  bool handleGet(CivetServer*, mg_connection* connection) override {
    if (!IsAllowed(Header(connection, "Authorization"))) {
      Answer(connection, "401 Unauthorized", "WWW-Authenticate: Basic realm=\"kernelmill\"\r\n",
             "the user is metrics.NAME, the password its secret\n");
      return true;
    }
    MeasureProcess();
    const std::vector<prometheus::MetricFamily> families = ProcessRegistry()->Collect();
    const bool open =
        absl::StrContains(Header(connection, "Accept"), "application/openmetrics-text");
    Answer(
        connection, "200 OK",
        absl::StrCat("Content-Type: ", open ? kOpenMetricsType : kTextType, "\r\n"),
        open ? OpenMetricsExposition(families, Exemplars::OfProcess()) : TextExposition(families));
    return true;
  }

 private:
  bool IsAllowed(absl::string_view authorization) const {
    if (may_read_ == nullptr) return true;
    std::string plain;
    if (!absl::ConsumePrefix(&authorization, "Basic ") ||
        !absl::Base64Unescape(authorization, &plain)) {
      return false;
    }
    const std::pair<std::string, std::string> user = absl::StrSplit(plain, absl::MaxSplits(':', 1));
    return may_read_(user.first, user.second);
  }

  const MayRead may_read_;
};

}  // namespace

class Endpoint::Http {
 public:
  // Throws where the address cannot be bound.
  Http(const std::string& address, const MayRead& may_read)
      : handler_(may_read),
        server_(std::vector<std::string>{"listening_ports", address, "num_threads", kThreads,
                                         "request_timeout_ms", kRequestTimeoutMs,
                                         "enable_keep_alive", "no"}) {
    server_.addHandler("/metrics", handler_);
  }

  int port() const {
    std::vector<int> ports = server_.getListeningPorts();
    return ports.empty() ? 0 : ports.front();
  }

 private:
  MetricsHandler handler_;  // outlives the server
  mutable CivetServer server_;
};

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Start(const std::string& address,
                                                          const std::string& version,
                                                          const MayRead& may_read) {
  Gauge(kBuildInfo, {{"version", version}}).Set(1);
  try {
    return std::unique_ptr<Endpoint>(new Endpoint(std::make_unique<Http>(address, may_read)));
  } catch (const std::exception& error) {  // civetweb's way to say that bind failed
    return absl::UnavailableError(absl::StrCat("metrics on ", address, ": ", error.what()));
  }
}

Endpoint::Endpoint(std::unique_ptr<Http> http) : http_(std::move(http)) {}
Endpoint::~Endpoint() = default;
int Endpoint::port() const { return http_->port(); }

}  // namespace kernelmill::metrics
