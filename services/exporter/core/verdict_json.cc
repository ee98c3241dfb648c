#include "services/exporter/core/verdict_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <utility>

#include "services/exporter/core/redact.h"

namespace kernelmill::exporter {
namespace {

Json SensitiveJson(const v1::Quality& quality, const v1::QualityPolicy& policy) {
  Json list = Json::array();
  for (const v1::Sensitive& finding : quality.sensitive()) {
    list.push_back({{"kind", finding.kind()},
                    {"text", EnumWord(v1::Sensitive::Text_Name(finding.text()), "TEXT_")},
                    {"begin", finding.begin()},
                    {"size", finding.size()},
                    {"redacted", IsRedacted(finding, policy)}});
  }
  return list;
}

}  // namespace

Json LicenseJson(const v1::License& license) {
  Json found = Json::array();
  for (const v1::LicenseEvidence& evidence : license.found()) {
    found.push_back({{"expression", evidence.expression()},
                     {"path", Text(evidence.path())},
                     {"first_line", evidence.first_line()},
                     {"last_line", evidence.last_line()},
                     {"rule", evidence.rule()},
                     {"text", Text(evidence.text())},
                     {"score", Number(evidence.score())}});
  }
  return {{"expression", license.expression()},           {"evidence", license.evidence()},
          {"confidence", Number(license.confidence())},   {"found", std::move(found)},
          {"copyrights", TextList(license.copyrights())}, {"notices", TextList(license.notices())}};
}

Json ChecksJson(const v1::Checks& checks) {
  Json json = Json::object();
  const auto& type = *v1::Checks::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    json[type.field(i)->name()] = checks.GetReflection()->GetBool(checks, type.field(i));
  }
  return json;
}

Json RulesJson(const v1::Verdict& verdict) {
  Json json = Json::object();
  for (const v1::RuleResult& result : verdict.rules()) {
    json[result.rule()] = {
        {"outcome", EnumWord(v1::RuleResult::Outcome_Name(result.outcome()), "OUTCOME_")},
        {"reason", Text(result.reason())}};
  }
  return json;
}

Json QualityJson(const v1::Quality& quality, const v1::QualityPolicy& policy) {
  return {{"score", Number(quality.score())},
          {"tier", quality.tier()},
          {"loads", quality.masks().loads()},
          {"masked_loads", quality.masks().masked_loads()},
          {"stores", quality.masks().stores()},
          {"masked_stores", quality.masks().masked_stores()},
          {"longest_line", quality.longest_line()},
          {"mean_line", Number(quality.mean_line())},
          {"comment_ratio", Number(quality.comment_ratio())},
          {"generated", quality.generated()},
          {"sensitive", SensitiveJson(quality, policy)}};
}

Json TokensJson(const v1::TokenCounts& counts) {
  return {{"cl100k_base", counts.cl100k_base()}, {"o200k_base", counts.o200k_base()}};
}

}  // namespace kernelmill::exporter
