#include "common/metrics/endpoint.h"

#include <CivetServer.h>
#include <dirent.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/log.h"
#include "common/metrics/metrics.h"

// GET /metrics of every process. The handler measures the process (CPU, memory, files, from /proc),
// collects all families and writes them in Prometheus' text format or, if the client accepts it, in
// OpenMetrics, which alone can carry exemplars. With tokens configured, a client has to log in.
namespace kernelmill::metrics {
namespace {

// Indices of fields in /proc/self/stat after the program's name (the number in proc(5), minus 3).
constexpr size_t kUserTime = 11, kSystemTime = 12, kThreads = 17, kStartTime = 19, kVirtual = 20,
                 kResident = 21;

constexpr std::pair<LogLevel, const char*> kLevels[] = {{LogLevel::kDebug, "debug"},
                                                        {LogLevel::kInfo, "info"},
                                                        {LogLevel::kWarning, "warning"},
                                                        {LogLevel::kError, "error"}};

std::string FirstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Returns when the machine started, in seconds since 1970; 0 if unknown.
double BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    double seconds = 0;
    if (words.size() == 2 && words[0] == "btime" && absl::SimpleAtod(words[1], &seconds)) {
      return seconds;
    }
  }
  return 0;
}

// Counts the entries of the folder with the process's descriptors.
double OpenFiles() {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  int entries = 0;
  while (readdir(folder) != nullptr) ++entries;
  closedir(folder);
  return entries - 3;  // ".", ".." and the folder itself
}

}  // namespace

// Measured when a scraper asks, so that no thread is needed. The program's name in /proc/self/stat
// is in parentheses and may itself have blanks and parentheses: the last ") " ends it.
void MeasureProcess() {
  for (const auto& [level, name] : kLevels) {
    RaiseTo(static_cast<double>(LogLines(level)), Counter(kLogLines, {{"level", name}}));
  }
  const std::string stat = FirstLine("/proc/self/stat");
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return;
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(name_end + 2), ' ');
  if (fields.size() <= kResident) return;
  const auto number = [&fields](size_t at) {
    double value = 0;
    return absl::SimpleAtod(fields[at], &value) ? value : 0;
  };
  // Both never change while the process lives.
  static const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const double boot = BootTime();
  RaiseTo((number(kUserTime) + number(kSystemTime)) / ticks, Counter(kProcessCpu));
  Gauge(kProcessThreads).Set(number(kThreads));
  Gauge(kProcessVirtual).Set(number(kVirtual));
  Gauge(kProcessMemory).Set(number(kResident) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  Gauge(kProcessStart).Set(boot + number(kStartTime) / ticks);
  Gauge(kProcessFiles).Set(OpenFiles());
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Gauge(kProcessMaxFiles).Set(static_cast<double>(limit.rlim_cur));
  }
}

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\n", "\\n"}, {"\"", "\\\""}});
}

// 17 digits are enough to read back the same double.
std::string Number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::isnan(value)) return "NaN";
  return absl::StrFormat("%.17g", value);
}

// Returns {a="x",b="y"}, with `extra` as the last label; empty if there are no labels.
std::string LabelText(const ClientMetric& metric, const std::string& extra = "") {
  std::string text;
  for (const ClientMetric::Label& label : metric.label) {
    absl::StrAppend(&text, text.empty() ? "" : ",", label.name, "=\"", Escaped(label.value), "\"");
  }
  if (!extra.empty()) absl::StrAppend(&text, text.empty() ? "" : ",", extra);
  return text.empty() ? "" : absl::StrCat("{", text, "}");
}

void AppendSample(const std::string& name, const std::string& labels, double value,
                  std::string* text) {
  absl::StrAppend(text, name, labels, " ", Number(value), "\n");
}

std::string ExemplarText(const Exemplar& exemplar) {
  return absl::StrFormat(" # {job=\"%s\",task=\"%s\"} %s %.3f", Escaped(exemplar.job),
                         Escaped(exemplar.task), Number(exemplar.value),
                         absl::ToDoubleSeconds(exemplar.time - absl::UnixEpoch()));
}

Labels GetLabels(const ClientMetric& metric) {
  Labels labels;
  for (const ClientMetric::Label& label : metric.label) labels[label.name] = label.value;
  return labels;
}

// Prometheus' library cannot write exemplars, so OpenMetrics is written here. An exemplar goes with
// the bucket into which its value falls: above the bound below and at most the bucket's own.
void AppendHistogram(const std::string& name, const ClientMetric& metric,
                     const std::optional<Exemplar>& exemplar, std::string* text) {
  double below = -std::numeric_limits<double>::infinity();
  for (const ClientMetric::Bucket& bucket : metric.histogram.bucket) {
    const std::string le = absl::StrCat("le=\"", Number(bucket.upper_bound), "\"");
    absl::StrAppend(text, name, "_bucket", LabelText(metric, le), " ", bucket.cumulative_count);
    const bool falls_here =
        exemplar.has_value() && exemplar->value > below && exemplar->value <= bucket.upper_bound;
    absl::StrAppend(text, falls_here ? ExemplarText(*exemplar) : "", "\n");
    below = bucket.upper_bound;
  }
  AppendSample(name + "_count", LabelText(metric), metric.histogram.sample_count, text);
  AppendSample(name + "_sum", LabelText(metric), metric.histogram.sample_sum, text);
}

// Writes one family: its type, its help, and a line or more for each series.
void AppendFamily(const MetricFamily& family, const Exemplars& exemplars, std::string* text) {
  const bool counter = family.type == MetricType::Counter;
  const bool histogram = family.type == MetricType::Histogram;
  // In OpenMetrics the family of a counter has the name without _total.
  const std::string name(counter ? absl::StripSuffix(family.name, "_total") : family.name);
  absl::StrAppend(text, "# TYPE ", name, " ",
                  counter     ? "counter"
                  : histogram ? "histogram"
                              : "gauge",
                  "\n# HELP ", name, " ", Escaped(family.help), "\n");
  for (const ClientMetric& metric : family.metric) {
    if (histogram) {
      AppendHistogram(name, metric, exemplars.Find(name, GetLabels(metric)), text);
    } else if (counter) {
      AppendSample(name + "_total", LabelText(metric), metric.counter.value, text);
    } else {
      AppendSample(name, LabelText(metric), metric.gauge.value, text);
    }
  }
}

}  // namespace

std::string TextExposition(const std::vector<MetricFamily>& families) {
  return prometheus::TextSerializer().Serialize(families);
}

std::string OpenMetricsExposition(const std::vector<MetricFamily>& families,
                                  const Exemplars& exemplars) {
  std::string text;
  for (const MetricFamily& family : families) AppendFamily(family, exemplars, &text);
  absl::StrAppend(&text, "# EOF\n");
  return text;
}

namespace {

// Each idle connection holds a thread until the request timeout.
constexpr char kHttpThreads[] = "32";
constexpr char kRequestTimeoutMs[] = "2000";

std::string Header(mg_connection* connection, const char* name) {
  const char* const value = mg_get_header(connection, name);
  return value == nullptr ? "" : value;
}

// Each answer ends its connection, so that idle scrapers hold no thread.
void Answer(mg_connection* connection, absl::string_view status, absl::string_view headers,
            absl::string_view body) {
  const std::string head =
      absl::StrCat("HTTP/1.1 ", status, "\r\n", headers,
                   "Connection: close\r\nContent-Length: ", body.size(), "\r\n\r\n");
  mg_write(connection, head.data(), head.size());
  mg_write(connection, body.data(), body.size());
}

// civetweb calls it on its own threads, several at a time.
class MetricsHandler final : public CivetHandler {
 public:
  explicit MetricsHandler(MayRead may_read) : may_read_(std::move(may_read)) {}

  // Returns true in any case: the request has been answered.
  bool handleGet(CivetServer*, mg_connection* connection) override {
    if (!IsAllowed(Header(connection, "Authorization"))) {
      Answer(connection, "401 Unauthorized", "WWW-Authenticate: Basic realm=\"kernelmill\"\r\n",
             "log in with the user metrics.NAME and the token's secret as password\n");
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
  // Parses HTTP's Basic scheme: base64 of USER:PASSWORD.
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
  // Throws if the address cannot be bound.
  Http(const std::string& address, const MayRead& may_read)
      : handler_(may_read),
        server_(std::vector<std::string>{"listening_ports", address, "num_threads", kHttpThreads,
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

// UNAVAILABLE: the address cannot be bound. The version is a label of a gauge that is always 1, as
// is usual with Prometheus.
absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Start(const std::string& address,
                                                          const std::string& version,
                                                          const MayRead& may_read) {
  Gauge(kBuildInfo, {{"version", version}}).Set(1);
  try {
    return std::unique_ptr<Endpoint>(new Endpoint(std::make_unique<Http>(address, may_read)));
  } catch (const std::exception& error) {  // civetweb throws if bind fails
    return absl::UnavailableError(absl::StrCat("metrics on ", address, ": ", error.what()));
  }
}

Endpoint::Endpoint(std::unique_ptr<Http> http) : http_(std::move(http)) {}
Endpoint::~Endpoint() = default;
int Endpoint::port() const { return http_->port(); }

}  // namespace kernelmill::metrics
