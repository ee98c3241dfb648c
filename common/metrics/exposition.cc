#include "common/metrics/exposition.h"

#include <prometheus/text_serializer.h>

#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace kernelmill::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\n", "\\n"}, {"\"", "\\\""}});
}

std::string Number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::isnan(value)) return "NaN";
  return absl::StrFormat("%.17g", value);
}

// {a="x",b="y"}, with `extra` as a last label; empty for none.
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

Labels LabelsOf(const ClientMetric& metric) {
  Labels labels;
  for (const ClientMetric::Label& label : metric.label) labels[label.name] = label.value;
  return labels;
}

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

void AppendFamily(const MetricFamily& family, const Exemplars& exemplars, std::string* text) {
  const bool counter = family.type == MetricType::Counter;
  const bool histogram = family.type == MetricType::Histogram;
  // A counter's family has the name without _total.
  const std::string name(counter ? absl::StripSuffix(family.name, "_total") : family.name);
  absl::StrAppend(text, "# TYPE ", name, " ",
                  counter     ? "counter"
                  : histogram ? "histogram"
                              : "gauge",
                  "\n# HELP ", name, " ", Escaped(family.help), "\n");
  for (const ClientMetric& metric : family.metric) {
    if (histogram) {
      AppendHistogram(name, metric, exemplars.Find(name, LabelsOf(metric)), text);
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

}  // namespace kernelmill::metrics
