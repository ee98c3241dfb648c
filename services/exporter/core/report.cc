#include "services/exporter/core/report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/time/time.h"
#include "common/dataset/ledger.h"
#include "services/exporter/core/place.h"
#include "services/exporter/core/records.h"
#include "services/exporter/core/verdict_json.h"

namespace kernelmill::exporter {
namespace {

// The sums of a category, or of all sources.
struct Group {
  dataset::LedgerSums sums;
  FateCounts fates;
  CheckCounts checks;
  std::map<std::string, int64_t> licenses;
  TokenSums tokens;
  int64_t unselected_files = 0;
};

void AddAll(const std::map<std::string, int64_t>& from, std::map<std::string, int64_t>* to) {
  for (const auto& [key, count] : from) (*to)[key] += count;
}

void AddTo(const SourceEntry& source, Group* group) {
  group->sums.files_seen += source.sums.files_seen;
  group->sums.files_extracted += source.sums.files_extracted;
  group->sums.files_support += source.sums.files_support;
  AddAll(source.sums.files_skipped, &group->sums.files_skipped);
  AddAll(source.sums.files_failed, &group->sums.files_failed);
  AddAll(source.sums.strings_skipped, &group->sums.strings_skipped);
  AddAll(source.sums.other_dsls, &group->sums.other_dsls);
  group->sums.kernels_found += source.sums.kernels_found;
  group->sums.kept += source.sums.kept;
  AddAll(source.sums.rejected, &group->sums.rejected);
  AddAll(source.sums.duplicates, &group->sums.duplicates);
  AddAll(source.sums.contaminated, &group->sums.contaminated);
  group->sums.holdout += source.sums.holdout;
  for (const auto& [fate, count] : source.fates) group->fates[fate] += count;
  for (const auto& [check, outcomes] : source.checks) AddAll(outcomes, &group->checks[check]);
  AddAll(source.licenses, &group->licenses);
  AddTokens(source.tokens.source, &group->tokens.source);
  AddTokens(source.tokens.module, &group->tokens.module);
  group->unselected_files += source.unselected_files;
}

Json FilesJson(const Group& group) {
  return {{"seen", group.sums.files_seen},
          {"extracted", group.sums.files_extracted},
          {"support", group.sums.files_support},
          {"skipped", dataset::Total(group.sums.files_skipped)},
          {"skipped_by_reason", group.sums.files_skipped},
          {"failed", dataset::Total(group.sums.files_failed)},
          {"failed_by_reason", group.sums.files_failed},
          {"skipped_strings_by_reason", group.sums.strings_skipped},
          {"unselected", group.unselected_files}};
}

Json KernelsJson(const Group& group) {
  Json reasons = Json::object();
  for (const auto& [fate, count] : group.fates) {
    if (!fate.second.empty()) reasons[fate.first][fate.second] = count;
  }
  return {{"found", group.sums.kernels_found},
          {"kept", group.sums.kept},
          {"rejected", dataset::Total(group.sums.rejected)},
          {"duplicate", dataset::Total(group.sums.duplicates)},
          {"contaminated", dataset::Total(group.sums.contaminated)},
          {"holdout", group.sums.holdout},
          {"functions_of_other_dsls", group.sums.other_dsls},
          {"by_reason", std::move(reasons)}};
}

Json TokenSumsJson(const TokenSums& tokens) {
  return {{"source", TokensJson(tokens.source)}, {"module", TokensJson(tokens.module)}};
}

Json SourceJson(const SourceEntry& source) {
  Group alone;
  AddTo(source, &alone);
  return {{"repository", Text(source.repository)},
          {"repository_url", TextOrNull(source.url)},
          {"commit", TextOrNull(source.commit)},
          {"category", Text(source.category)},
          {"source_tier", source.tier},
          {"weight", Number(source.weight)},
          {"role", source.holdout ? "holdout" : "candidate"},
          {"failed", source.failed},
          {"files", FilesJson(alone)},
          {"kernels", KernelsJson(alone)},
          {"tokens", TokenSumsJson(alone.tokens)}};
}

Json CategoriesJson(const DatasetIndex& index) {
  std::map<std::string, Group> groups;
  for (const SourceEntry& source : index.sources) {
    if (!source.holdout) AddTo(source, &groups[source.category]);
  }
  Json json = Json::object();
  for (const auto& [category, group] : groups) {
    json[std::string(Text(category))] = {{"files", FilesJson(group)},
                                         {"kernels", KernelsJson(group)},
                                         {"checks", group.checks},
                                         {"tokens", TokenSumsJson(group.tokens)}};
  }
  return json;
}

Json FailuresJson(std::vector<v1::Failure> failures) {
  std::sort(failures.begin(), failures.end(), [](const v1::Failure& a, const v1::Failure& b) {
    return std::forward_as_tuple(a.source(), a.stage(), a.path(), a.code(), a.message(),
                                 a.files()) <
           std::forward_as_tuple(b.source(), b.stage(), b.path(), b.code(), b.message(), b.files());
  });
  Json json = Json::array();
  for (const v1::Failure& failure : failures) {
    Json entry = {{"source", Text(failure.source())},
                  {"stage", failure.stage()},
                  {"code", failure.code()},
                  {"message", Text(failure.message())},
                  {"files", failure.files()}};
    SetTextOrNull(entry, "/path", failure.path());
    json.push_back(std::move(entry));
  }
  return json;
}

Json ContaminationPolicyJson(const v1::ContaminationPolicy& policy) {
  return {{"threshold", Number(policy.threshold())},
          {"overlap", Number(policy.overlap())},
          {"structural", Number(policy.structural())},
          {"action", policy.action() == v1::CONTAMINATION_ACTION_LABEL ? "label" : "drop"}};
}

// How many candidates that were not rejected are of each holdout kernel, by rule; a candidate
// counts with its gravest match. And how many of these were kept, labelled or without their
// launcher's text.
Json ContaminationCounts(const DatasetIndex& index) {
  std::map<uint32_t, std::map<std::string, int64_t>> by_item;
  int64_t kept = 0;
  int64_t withheld = 0;
  for (const uint32_t number : index.candidates) {
    const v1::Decision& decision = index.DecisionOn(number);
    if (decision.contamination().empty()) continue;
    if (decision.fate() == v1::FATE_REJECTED) continue;
    ++by_item[decision.contamination(0).holdout()][decision.contamination(0).rule()];
    kept += decision.fate() == v1::FATE_KEPT;
    withheld += dataset::WithholdsLauncher(decision, index.manifest.dedup().contamination());
  }
  Json items = Json::array();
  for (const auto& [holdout, by_rule] : by_item) {
    Json item = {{"kernels", by_rule}};
    SetPlace(index, holdout, "/holdout", item);
    items.push_back(std::move(item));
  }
  return {{"items", std::move(items)}, {"kept", kept}, {"launchers_withheld", withheld}};
}

// Kept kernels whose prompt has most words of the completion.
int64_t CountWordOverlaps(const DatasetIndex& index) {
  int64_t count = 0;
  for (const uint32_t number : index.candidates) {
    const v1::Decision& decision = index.DecisionOn(number);
    count += decision.fate() == v1::FATE_KEPT && decision.word_overlap() > 0;
  }
  return count;
}

std::string SensitivePolicyWord(v1::SensitivePolicy policy) {
  return EnumWord(v1::SensitivePolicy_Name(policy), "SENSITIVE_POLICY_");
}

Json PairsJson(const DatasetIndex& index, const PairCounts& counts) {
  Json unmade = Json::array();
  for (size_t i = 0; i < index.pairs.size(); ++i) {
    if (index.pairs[i].problem.empty()) continue;
    unmade.push_back({{"pair", i}, {"problem", Text(index.pairs[i].problem)}});
  }
  return {{"candidates", counts.candidates},
          {"curated", counts.curated},
          {"unmade", std::move(unmade)}};
}

Json SplitPolicyJson(const v1::DatasetManifest& manifest) {
  if (!manifest.has_split_policy()) return nullptr;
  const v1::SplitPolicy& policy = manifest.split_policy();
  Json validation = Json::array();
  for (const std::string& name : policy.validation_repositories()) validation.push_back(Text(name));
  Json test = Json::array();
  for (const std::string& name : policy.test_repositories()) test.push_back(Text(name));
  return {{"validation", Number(policy.validation())},
          {"test", Number(policy.test())},
          {"seed", Text(policy.seed())},
          {"validation_repositories", std::move(validation)},
          {"test_repositories", std::move(test)}};
}

Json SplitsJson(const DatasetIndex& index) {
  Json json = Json::object();
  for (const auto& [name, split] : index.by_split) {
    json[name] = {{"kernels", split.kernels},
                  {"repositories", split.repositories},
                  {"tokens", TokenSumsJson(split.tokens)}};
  }
  return json;
}

Json PoliciesJson(const v1::DatasetManifest& manifest) {
  return {
      {"licenses", std::vector<std::string>(manifest.licenses().allow().begin(),
                                            manifest.licenses().allow().end())},
      {"licenses_adapted",
       manifest.licenses().adapted() == v1::ADAPTED_POLICY_REJECT ? "reject" : "label"},
      {"dedup_threshold", Number(manifest.dedup().threshold())},
      {"dedup_structural_threshold",
       manifest.dedup().structural() ? Number(manifest.dedup().structural_threshold()) : Json()},
      {"contamination", ContaminationPolicyJson(manifest.dedup().contamination())},
      {"quality_require", std::vector<std::string>(manifest.quality().require().begin(),
                                                   manifest.quality().require().end())},
      {"quality_min_score", Number(manifest.quality().min_score())},
      {"quality_min_tokens", manifest.quality().min_tokens()},
      {"quality_exclude_kinds", std::vector<std::string>(manifest.quality().exclude_kinds().begin(),
                                                         manifest.quality().exclude_kinds().end())},
      {"quality_targets", std::vector<std::string>(manifest.quality().targets().begin(),
                                                   manifest.quality().targets().end())},
      {"splits", SplitPolicyJson(manifest)},
      {"secrets", SensitivePolicyWord(manifest.quality().secrets())},
      {"emails", SensitivePolicyWord(manifest.quality().emails())}};
}

std::string Created(const DatasetIndex& index) {
  int64_t newest = 0;
  for (const SourceEntry& source : index.sources) newest = std::max(newest, source.commit_time);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(newest), absl::UTCTimeZone());
}

Json FileJson(const FileEntry& file, const SourceEntry& source) {
  Json json = Json::object();
  SetText(json, "/path", file.path);
  json["repository"] = Text(source.repository);
  json["commit"] = source.commit;
  json["size_bytes"] = file.size_bytes;
  json["lines"] = file.lines;
  json["has_triton_jit"] = file.has_triton_jit;
  json["hash_sha256"] = file.sha256;
  return json;
}

// Sums over files.
struct FileTotals {
  int64_t files = 0;
  int64_t size_bytes = 0;
  int64_t lines = 0;

  void Add(const FileEntry& file) {
    ++files;
    size_bytes += file.size_bytes;
    lines += file.lines;
  }
  void Write(Json& json) const {
    json["total_files"] = files;
    json["total_size_bytes"] = size_bytes;
    json["total_lines"] = lines;
  }
};

}  // namespace

Json Report(const DatasetIndex& index, const cas::Digest& dataset, const TrainingCounts& training,
            std::vector<v1::Failure> failures) {
  Group all;
  Json sources = Json::array();
  for (const SourceEntry& source : index.sources) {
    AddTo(source, &all);
    sources.push_back(SourceJson(source));
  }
  return {{"generator", "kernelmill"},
          {"schema", 1},
          {"name", index.manifest.name()},
          {"dataset", cas::ToString(dataset)},
          {"stages", StagesJson(index.manifest)},
          {"policies", PoliciesJson(index.manifest)},
          {"files", FilesJson(all)},
          {"kernels", KernelsJson(all)},
          {"checks", all.checks},
          {"licenses", all.licenses},
          {"contamination", ContaminationCounts(index)},
          {"word_overlaps", CountWordOverlaps(index)},
          {"tokens", TokenSumsJson(all.tokens)},
          {"splits", SplitsJson(index)},
          {"sources", std::move(sources)},
          {"categories", CategoriesJson(index)},
          {"fim", {{"rows", training.fim.rows}, {"excluded", training.fim.excluded}}},
          {"instruct", training.instruct},
          {"pairs", PairsJson(index, training.pairs)},
          {"failures", FailuresJson(std::move(failures))}};
}

Json FileManifest(const DatasetIndex& index, const cas::Digest& dataset) {
  std::vector<const FileEntry*> files;
  for (const FileEntry& file : index.files) {
    if (file.kept > 0) files.push_back(&file);
  }
  std::sort(files.begin(), files.end(), [](const FileEntry* a, const FileEntry* b) {
    return std::tie(a->source, a->path) < std::tie(b->source, b->path);
  });
  Json categories = Json::object();
  std::map<std::string, FileTotals> totals;
  FileTotals all;
  for (const FileEntry* file : files) {
    const SourceEntry& source = index.sources[file->source];
    const std::string category = Text(source.category);
    categories[category]["files"].push_back(FileJson(*file, source));
    totals[category].Add(*file);
    all.Add(*file);
  }
  for (const auto& [category, sums] : totals) sums.Write(categories[category]);
  Json json = {{"created", Created(index)},
               {"extraction_dir", "."},
               {"categories", std::move(categories)},
               {"dataset", cas::ToString(dataset)},
               {"stages", StagesJson(index.manifest)}};
  all.Write(json);
  return json;
}

}  // namespace kernelmill::exporter
