#include "dataset/export/records.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/base/hash.h"
#include "common/source_files/whole_files.h"
#include "dataset/export/compile_json.h"
#include "dataset/export/kernel_json.h"
#include "dataset/export/place.h"
#include "dataset/export/verdict_json.h"
#include "dataset/output/row_writer.h"

namespace kernelmill::dataset {
namespace {

void WriteDuplicates(const DatasetIndex& index, uint32_t number, RowWriter& row) {
  std::vector<std::string> ids;
  for (const auto& [leader, duplicate] : index.DuplicatesOf(number)) {
    ids.push_back(index.kernels[duplicate].id());
  }
  std::sort(ids.begin(), ids.end());
  row.TextList("duplicates", ids);
}

// The holdouts' kernels that a candidate matches, the gravest first, and the sum of the matches
// that decide nothing.
void WriteContamination(const DatasetIndex& index, uint32_t number, RowWriter& row) {
  const v1::Decision& decision = index.DecisionOn(number);
  row.StructList("contamination", decision.contamination(), [&](const v1::Contamination& match) {
    row.Text("rule", match.rule());
    row.Number("score", match.score());
    row.Text("text", match.text());
    row.Text("holdout_text", match.holdout_text());
    row.Integer("copies", match.copies());
    row.Struct("holdout", [&] { WritePlace(index, match.holdout(), row); });
  });
  row.Integer("contamination_weak_matches", decision.weak_matches());
  row.NumberOrNull("contamination_weak_score", decision.weak_matches() > 0, decision.weak_score());
}

// What rows of kept kernels and files say of the job's wishes for their source.
void WriteSourceTerms(const DatasetIndex& index, uint32_t number, RowWriter& row) {
  const SourceEntry& source = index.SourceOf(number);
  row.Text("category", source.category);
  row.Integer("source_tier", source.tier);
  row.Number("weight", source.weight);
  row.Text("split", index.SplitOf(number));
}

void EndLine(RowWriter& row, std::string* out) {
  row.NotUtf8();
  row.End();
  out->push_back('\n');
}

}  // namespace

void AppendKernelRow(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                     const v1::Verdict& verdict, absl::string_view fim_sha1,
                     absl::string_view fim_excluded, std::string* out) {
  const v1::Decision& decision = index.DecisionOn(number);
  RowWriter row(out);
  WriteIdentity(index, number, row);
  row.Text("name", kernel.name());
  row.Text("qualname", kernel.qualname());
  row.TextOrNull("found_by", kernel.found_by());
  row.TextOrNull("applied_by", kernel.applied_by());
  WriteSourceTerms(index, number, row);
  row.Text("cluster", kernel.id());
  WriteDuplicates(index, number, row);
  WriteTexts(kernel, row);
  WriteDerivedFields(kernel, row);
  WriteTokens("tokens", verdict.source_tokens(), row);
  WriteTokens("module_tokens", verdict.module_tokens(), row);
  row.TextOrNull("fim_sha1", absl::BytesToHexString(fim_sha1));
  row.TextOrNull("fim_excluded", fim_excluded);
  WriteLicense(verdict.license(), row);
  WriteChecks(verdict, row);
  WriteQuality(verdict.quality(), index.manifest.quality(), row);
  WriteKindAndTarget(verdict, row);
  WriteCompile(verdict, row);
  WriteContamination(index, number, row);
  row.NumberOrNull("word_overlap", decision.word_overlap() > 0, decision.word_overlap());
  EndLine(row, out);
}

void AppendFileRow(const DatasetIndex& index, uint32_t number, const v1::Kernel& file,
                   const v1::Verdict& verdict, const std::vector<std::string>& kernels,
                   std::string* out) {
  const SourceEntry& source = index.SourceOf(number);
  const FileEntry& entry = index.FileOf(number);
  RowWriter row(out);
  row.Text("id", index.kernels[number].id());
  row.Text("repository", source.repository);
  row.TextOrNull("repository_url", source.url);
  row.Text("commit", source.commit);
  row.TextOrNull("url", WebLink(source.url, source.commit, entry.path, 0, 0));
  row.ExactText("path", entry.path);
  row.Text("sha256", entry.sha256());
  row.TextOrNull("language", source_files::LanguageOfFile(entry.path));
  WriteSourceTerms(index, number, row);
  row.ExactText("text", file.source());
  row.Integer("bytes", entry.size_bytes);
  row.Integer("lines", entry.lines);
  WriteTokens("tokens", verdict.source_tokens(), row);
  WriteLicense(verdict.license(), row);
  row.TextOrNull("generated", verdict.quality().generated());
  WriteSensitive(verdict.quality(), index.manifest.quality(), row);
  row.TextList("kernels", kernels);
  WriteDuplicates(index, number, row);
  WriteContamination(index, number, row);
  EndLine(row, out);
}

void AppendLedgerRow(const DatasetIndex& index, uint32_t number, std::string* out) {
  const v1::Decision& decision = index.DecisionOn(number);
  // Also of what is rejected for the sake of one that is opted out.
  const bool of_another = decision.fate() != v1::FATE_KEPT && decision.leader() != number;
  RowWriter row(out);
  WriteIdentity(index, number, row);
  row.Text("fate", manifest::FateName(decision.fate()));
  row.TextOrNull("reason", decision.reason());
  row.TextOrNull("of", of_another ? index.kernels[decision.leader()].id() : "");
  row.NumberOrNull("similarity", of_another, decision.similarity());
  WriteContamination(index, number, row);
  EndLine(row, out);
}

void AppendNoticeRow(const SourceEntry& source, const v1::SourceFile& file, std::string* out) {
  RowWriter row(out);
  row.Text("repository", source.repository);
  row.TextOrNull("repository_url", source.url);
  row.Text("commit", source.commit);
  row.TextOrNull("url", WebLink(source.url, source.commit, file.path(), 0, 0));
  row.Text("sha256", Sha256Hex(file.content()));
  row.ExactText("path", file.path());
  row.ExactText("text", file.content());
  EndLine(row, out);
}

Json StagesJson(const v1::DatasetManifest& manifest) {
  Json json = Json::object();
  for (const v1::StageVersion& stage : manifest.stages()) json[stage.stage()] = stage.version();
  return json;
}

}  // namespace kernelmill::dataset
