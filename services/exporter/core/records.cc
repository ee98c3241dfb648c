#include "services/exporter/core/records.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/source_files/whole_files.h"
#include "services/exporter/core/compile_json.h"
#include "services/exporter/core/kernel_json.h"
#include "services/exporter/core/place.h"
#include "services/exporter/core/verdict_json.h"

namespace kernelmill::exporter {
namespace {

Json DuplicatesJson(const DatasetIndex& index, uint32_t number) {
  std::vector<std::string> ids;
  for (const auto& [leader, duplicate] : index.DuplicatesOf(number)) {
    ids.push_back(index.kernels[duplicate].id());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

// The holdouts' kernels that a candidate matches, the gravest first, and the sum of the matches
// that decide nothing.
void SetContamination(const DatasetIndex& index, uint32_t number, Json& row) {
  const v1::Decision& decision = index.DecisionOn(number);
  row["contamination"] = Json::array();
  for (int i = 0; i < decision.contamination_size(); ++i) {
    const v1::Contamination& match = decision.contamination(i);
    row["contamination"].push_back({{"rule", match.rule()},
                                    {"score", Number(match.score())},
                                    {"text", match.text()},
                                    {"holdout_text", match.holdout_text()},
                                    {"copies", match.copies()}});
    SetPlace(index, match.holdout(), absl::StrCat("/contamination/", i, "/holdout"), row);
  }
  const bool weak = decision.weak_matches() > 0;
  row["contamination_weak_matches"] = decision.weak_matches();
  row["contamination_weak_score"] = weak ? Number(decision.weak_score()) : Json();
}

// A row with no field that is not UTF-8 yet.
Json NewRow() { return {{"not_utf8", Json::array()}}; }

}  // namespace

Json KernelRecord(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                  const v1::Verdict& verdict, absl::string_view fim_sha1,
                  absl::string_view fim_excluded) {
  const SourceEntry& source = index.SourceOf(number);
  const v1::Decision& decision = index.DecisionOn(number);
  Json row = NewRow();
  SetIdentity(index, number, "", row);
  row["name"] = Text(kernel.name());
  row["qualname"] = Text(kernel.qualname());
  row["found_by"] = TextOrNull(kernel.found_by());
  row["applied_by"] = TextOrNull(kernel.applied_by());
  row["category"] = Text(source.category);
  row["source_tier"] = source.tier;
  row["weight"] = Number(source.weight);
  row["split"] = std::string(index.SplitOf(number));
  row["cluster"] = kernel.id();
  row["duplicates"] = DuplicatesJson(index, number);
  SetTexts(kernel, row);
  SetDerivedFields(kernel, row);
  row["tokens"] = TokensJson(verdict.source_tokens());
  row["module_tokens"] = TokensJson(verdict.module_tokens());
  row["fim_sha1"] = fim_sha1.empty() ? Json() : Json(absl::BytesToHexString(fim_sha1));
  row["fim_excluded"] = TextOrNull(fim_excluded);
  row["license"] = LicenseJson(verdict.license());
  row["checks"] = ChecksJson(verdict);
  row["check_reasons"] = CheckReasonsJson(verdict);
  row["quality"] = QualityJson(verdict.quality(), index.manifest.quality());
  SetKindAndTarget(verdict, row);
  row["compile"] = CompileJson(verdict);
  SetContamination(index, number, row);
  row["word_overlap"] = decision.word_overlap() > 0 ? Number(decision.word_overlap()) : Json();
  return row;
}

Json FileRecord(const DatasetIndex& index, uint32_t number, const v1::Kernel& file,
                const v1::Verdict& verdict, const std::vector<std::string>& kernels) {
  const SourceEntry& source = index.SourceOf(number);
  const FileEntry& entry = index.FileOf(number);
  Json row = NewRow();
  row["id"] = index.kernels[number].id();
  row["repository"] = Text(source.repository);
  row["repository_url"] = TextOrNull(source.url);
  row["commit"] = source.commit;
  row["url"] = TextOrNull(WebLink(source.url, source.commit, entry.path, 0, 0));
  SetText(row, "/path", entry.path);
  row["sha256"] = entry.sha256();
  row["language"] = TextOrNull(source_files::LanguageOfFile(entry.path));
  row["category"] = Text(source.category);
  row["source_tier"] = source.tier;
  row["weight"] = Number(source.weight);
  row["split"] = std::string(index.SplitOf(number));
  SetText(row, "/text", file.source());
  row["bytes"] = entry.size_bytes;
  row["lines"] = entry.lines;
  row["tokens"] = TokensJson(verdict.source_tokens());
  row["license"] = LicenseJson(verdict.license());
  row["generated"] = TextOrNull(verdict.quality().generated());
  row["sensitive"] = SensitiveJson(verdict.quality(), index.manifest.quality());
  row["kernels"] = kernels;
  row["duplicates"] = DuplicatesJson(index, number);
  SetContamination(index, number, row);
  return row;
}

Json LedgerRecord(const DatasetIndex& index, uint32_t number) {
  const v1::Decision& decision = index.DecisionOn(number);
  // Also of what is rejected for the sake of one that is opted out.
  const bool of_another = decision.fate() != v1::FATE_KEPT && decision.leader() != number;
  Json row = NewRow();
  SetIdentity(index, number, "", row);
  row["fate"] = std::string(dataset::FateName(decision.fate()));
  row["reason"] = TextOrNull(decision.reason());
  row["of"] = of_another ? Json(index.kernels[decision.leader()].id()) : Json();
  row["similarity"] = of_another ? Number(decision.similarity()) : Json();
  SetContamination(index, number, row);
  return row;
}

Json NoticeRecord(const SourceEntry& source, const v1::SourceFile& file) {
  Json row = NewRow();
  row["repository"] = Text(source.repository);
  row["repository_url"] = TextOrNull(source.url);
  row["commit"] = source.commit;
  row["url"] = TextOrNull(WebLink(source.url, source.commit, file.path(), 0, 0));
  row["sha256"] = Sha256Hex(file.content());
  SetText(row, "/path", file.path());
  SetText(row, "/text", file.content());
  return row;
}

Json FunctionRecord(const v1::Kernel& kernel) {
  const std::string& text = kernel.module().empty() ? kernel.source() : kernel.module();
  const bool ended = !text.empty() && text.back() == '\n';
  return {{"input", Text(absl::StrCat("```python\n", text, ended ? "" : "\n", "```"))}};
}

Json StagesJson(const v1::DatasetManifest& manifest) {
  Json json = Json::object();
  for (const v1::StageVersion& stage : manifest.stages()) json[stage.stage()] = stage.version();
  return json;
}

}  // namespace kernelmill::exporter
