#include "dataset/export/verdict_json.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "dataset/export/redact.h"
#include "dataset/output/json.h"

namespace kernelmill::dataset {

void WriteSensitive(const v1::Quality& quality, const v1::QualityPolicy& policy, RowWriter& row) {
  row.StructList("sensitive", quality.sensitive(), [&](const v1::Sensitive& finding) {
    row.Text("kind", finding.kind());
    row.Text("text", EnumWord(v1::Sensitive::Text_Name(finding.text()), "TEXT_"));
    row.Integer("begin", finding.begin());
    row.Integer("size", finding.size());
    row.Boolean("redacted", IsRedacted(finding, policy));
  });
}

void WriteLicense(const v1::License& license, RowWriter& row) {
  row.Struct("license", [&] {
    row.Text("expression", license.expression());
    row.TextOrNull("evidence", license.evidence());
    row.Number("confidence", license.confidence());
    row.StructList("found", license.found(), [&](const v1::LicenseEvidence& evidence) {
      row.TextOrNull("expression", evidence.expression());
      row.TextOrNull("path", evidence.path());
      row.LineOrNull("first_line", evidence.first_line());
      row.LineOrNull("last_line", evidence.last_line());
      row.Text("rule", evidence.rule());
      row.TextOrNull("text", evidence.text());
      row.Number("score", evidence.score());
    });
    row.TextList("copyrights", license.copyrights());
    row.TextList("notices", license.notices());
    row.StructList("adapted_from", license.adapted_from(), [&](const v1::Adaptation& adaptation) {
      row.Text("origin", adaptation.origin());
      row.Text("path", adaptation.path());
      row.Integer("line", adaptation.line());
    });
    row.TextOrNull("vendored", license.vendored());
  });
}

std::string OutcomeWord(const v1::RuleResult& result) {
  return EnumWord(v1::RuleResult::Outcome_Name(result.outcome()), "OUTCOME_");
}

void WriteChecks(const v1::Verdict& verdict, RowWriter& row) {
  const auto& results = verdict.rules();
  row.Struct("checks", [&] {
    for (const v1::RuleResult& result : results) row.Text(result.rule(), OutcomeWord(result));
    const google::protobuf::Descriptor& checks = *v1::Checks::descriptor();
    for (int i = 0; i < checks.field_count(); ++i) {
      const std::string& name = checks.field(i)->name();
      const bool asked =
          std::any_of(results.begin(), results.end(),
                      [&](const v1::RuleResult& result) { return result.rule() == name; });
      if (!asked) row.Null(name);
    }
  });
  std::vector<const v1::RuleResult*> with_reason;
  for (const v1::RuleResult& result : results) {
    if (!result.reason().empty()) with_reason.push_back(&result);
  }
  row.StructList("check_reasons", with_reason, [&](const v1::RuleResult* result) {
    row.Text("check", result->rule());
    row.Text("reason", result->reason());
  });
}

void WriteQuality(const v1::Quality& quality, const v1::QualityPolicy& policy, RowWriter& row) {
  row.Struct("quality", [&] {
    row.Number("score", quality.score());
    row.Integer("tier", quality.tier());
    row.Integer("loads", quality.masks().loads());
    row.Integer("masked_loads", quality.masks().masked_loads());
    row.Integer("stores", quality.masks().stores());
    row.Integer("masked_stores", quality.masks().masked_stores());
    row.Integer("longest_line", quality.longest_line());
    row.Number("mean_line", quality.mean_line());
    row.Number("comment_ratio", quality.comment_ratio());
    row.TextOrNull("generated", quality.generated());
    WriteSensitive(quality, policy, row);
  });
}

void WriteTokens(absl::string_view name, const v1::TokenCounts& counts, RowWriter& row) {
  row.Struct(name, [&] {
    row.Integer("cl100k_base", counts.cl100k_base());
    row.Integer("o200k_base", counts.o200k_base());
  });
}

void WriteKindAndTarget(const v1::Verdict& verdict, RowWriter& row) {
  row.Text("kind", verdict.kind());
  row.Text("kind_rule", verdict.kind_rule());
  row.Text("target", verdict.target());
  row.TextOrNull("target_rule", verdict.target_rule());
}

}  // namespace kernelmill::dataset
