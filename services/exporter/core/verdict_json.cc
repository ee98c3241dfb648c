#include "services/exporter/core/verdict_json.h"

#include <google/protobuf/descriptor.h>

#include <utility>

#include "services/exporter/core/redact.h"

namespace kernelmill::exporter {
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

Json LicenseJson(const v1::License& license) {
  Json found = Json::array();
  for (const v1::LicenseEvidence& evidence : license.found()) {
    found.push_back({{"expression", TextOrNull(evidence.expression())},
                     {"path", TextOrNull(evidence.path())},
                     {"first_line", LineOrNull(evidence.first_line())},
                     {"last_line", LineOrNull(evidence.last_line())},
                     {"rule", evidence.rule()},
                     {"text", TextOrNull(evidence.text())},
                     {"score", Number(evidence.score())}});
  }
  Json adapted = Json::array();
  for (const v1::Adaptation& adaptation : license.adapted_from()) {
    adapted.push_back({{"origin", Text(adaptation.origin())},
                       {"path", Text(adaptation.path())},
                       {"line", adaptation.line()}});
  }
  return {
      {"expression", license.expression()},           {"evidence", TextOrNull(license.evidence())},
      {"confidence", Number(license.confidence())},   {"found", std::move(found)},
      {"copyrights", TextList(license.copyrights())}, {"notices", TextList(license.notices())},
      {"adapted_from", std::move(adapted)},           {"vendored", TextOrNull(license.vendored())}};
}

std::string OutcomeWord(const v1::RuleResult& result) {
  return EnumWord(v1::RuleResult::Outcome_Name(result.outcome()), "OUTCOME_");
}

Json ChecksJson(const v1::Verdict& verdict) {
  Json json = Json::object();
  const google::protobuf::Descriptor& checks = *v1::Checks::descriptor();
  for (int i = 0; i < checks.field_count(); ++i) json[checks.field(i)->name()] = nullptr;
  for (const v1::RuleResult& result : verdict.rules()) json[result.rule()] = OutcomeWord(result);
  return json;
}

Json CheckReasonsJson(const v1::Verdict& verdict) {
  Json list = Json::array();
  for (const v1::RuleResult& result : verdict.rules()) {
    if (result.reason().empty()) continue;
    list.push_back({{"check", result.rule()}, {"reason", Text(result.reason())}});
  }
  return list;
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
          {"generated", TextOrNull(quality.generated())},
          {"sensitive", SensitiveJson(quality, policy)}};
}

Json TokensJson(const v1::TokenCounts& counts) {
  return {{"cl100k_base", counts.cl100k_base()}, {"o200k_base", counts.o200k_base()}};
}

void SetKindAndTarget(const v1::Verdict& verdict, Json& row) {
  row["kind"] = verdict.kind();
  row["kind_rule"] = verdict.kind_rule();
  row["target"] = verdict.target();
  row["target_rule"] = TextOrNull(verdict.target_rule());
}

}  // namespace kernelmill::exporter
