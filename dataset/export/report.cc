#include "dataset/export/report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/manifest/ledger.h"
#include "common/words/counted.h"
#include "common/words/enum_words.h"
#include "dataset/export/place.h"
#include "dataset/output/json.h"
#include "dataset/rows/row_json.h"
#include "kernelmill/v1/rows.pb.h"

// report.json: the sums of the ledger for all, by source and by category, and the policies that the
// job had. Everything comes from the index; nothing is read from the store. Keys and words are a
// format, which docs describe and other programs read.
namespace kernelmill::dataset {
namespace {

// The sums of a category, or of all sources.
struct Group {
  manifest::LedgerSums sums;
  SourceCounts counts;
  int64_t unselected_files = 0;
};

void AddAll(const std::map<std::string, int64_t>& from, std::map<std::string, int64_t>* to) {
  for (const auto& [key, count] : from) (*to)[key] += count;
}

// Adds everything that a report sums; a single source is a group of its own.
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
  AddCounts(source.counts, &group->counts);
  const manifest::TrainingFileSums& files = source.sums.training_files;
  group->sums.training_files.found += files.found;
  group->sums.training_files.kept += files.kept;
  AddAll(files.rejected, &group->sums.training_files.rejected);
  AddAll(files.duplicates, &group->sums.training_files.duplicates);
  AddAll(files.contaminated, &group->sums.training_files.contaminated);
  group->unselected_files += source.unselected_files;
}

Json FilesJson(const Group& group) {
  return {{"seen", group.sums.files_seen},
          {"extracted", group.sums.files_extracted},
          {"support", group.sums.files_support},
          {"skipped", manifest::Total(group.sums.files_skipped)},
          {"skipped_by_reason", group.sums.files_skipped},
          {"failed", manifest::Total(group.sums.files_failed)},
          {"failed_by_reason", group.sums.files_failed},
          {"skipped_strings_by_reason", group.sums.strings_skipped},
          {"unselected", group.unselected_files}};
}

// Returns the counts by fate and reason. Kept kernels have no reason and are left out.
Json ReasonsJson(const FateCounts& fates) {
  Json reasons = Json::object();
  for (const auto& [fate, count] : fates) {
    if (!fate.second.empty()) reasons[fate.first][fate.second] = count;
  }
  return reasons;
}

// Whole files of sources that keep files.
Json TokensJson(const v1::TokenCounts& counts) {
  return {{"cl100k_base", counts.cl100k_base()}, {"o200k_base", counts.o200k_base()}};
}

// These sums are of whole files and count nowhere else.
Json TrainingFilesJson(const Group& group) {
  const manifest::TrainingFileSums& sums = group.sums.training_files;
  return {{"found", sums.found},
          {"kept", sums.kept},
          {"rejected", manifest::Total(sums.rejected)},
          {"duplicate", manifest::Total(sums.duplicates)},
          {"contaminated", manifest::Total(sums.contaminated)},
          {"tokens", TokensJson(group.counts.file_tokens)},
          {"by_reason", ReasonsJson(group.counts.file_fates)}};
}

Json KernelsJson(const Group& group) {
  return {{"found", group.sums.kernels_found},
          {"kept", group.sums.kept},
          {"rejected", manifest::Total(group.sums.rejected)},
          {"duplicate", manifest::Total(group.sums.duplicates)},
          {"contaminated", manifest::Total(group.sums.contaminated)},
          {"holdout", group.sums.holdout},
          {"functions_of_other_dsls", group.sums.other_dsls},
          {"by_reason", ReasonsJson(group.counts.fates)}};
}

Json ChecksJson(const CheckCounts& checks) {
  Json json = Json::object();
  for (const auto& [check, outcomes] : checks) {
    json[check] = {{"pass", outcomes.pass}, {"fail", outcomes.fail}, {"exempt", outcomes.exempt}};
  }
  return json;
}

// Null where the job compiles nothing.
Json CompileJson(const DatasetIndex& index, const SourceCounts& counts) {
  return index.manifest.has_compile() ? CompileCountsJson(counts.compile) : Json();
}

Json TokenSumsJson(const TokenSums& tokens) {
  return {{"source", TokensJson(tokens.source)}, {"module", TokensJson(tokens.module)}};
}

// An empty URL and an empty commit are null: nothing is known.
Json SourceJson(const DatasetIndex& index, const SourceEntry& source) {
  Group alone;
  AddTo(source, &alone);
  return {{"repository", Text(source.repository)},
          {"repository_url", TextOrNull(source.url)},
          {"commit", TextOrNull(source.commit)},
          {"category", Text(source.category)},
          {"source_tier", source.tier},
          {"weight", Number(source.weight)},
          {"role", source.evidence  ? "evidence"
                   : source.holdout ? "holdout"
                                    : "candidate"},
          {"failed", source.failed},
          {"files", FilesJson(alone)},
          {"kernels", KernelsJson(alone)},
          {"compile", CompileJson(index, alone.counts)},
          {"training_files", TrainingFilesJson(alone)},
          {"tokens", TokenSumsJson(alone.counts.tokens)}};
}

// Holdouts and evidence have no part in categories: no kernel of theirs is in a row.
Json CategoriesJson(const DatasetIndex& index) {
  std::map<std::string, Group> groups;
  for (const SourceEntry& source : index.sources) {
    if (!source.holdout && !source.evidence) AddTo(source, &groups[source.category]);
  }
  Json json = Json::object();
  for (const auto& [category, group] : groups) {
    json[std::string(Text(category))] = {{"files", FilesJson(group)},
                                         {"kernels", KernelsJson(group)},
                                         {"training_files", TrainingFilesJson(group)},
                                         {"checks", ChecksJson(group.counts.checks)},
                                         {"compile", CompileJson(index, group.counts)},
                                         {"tokens", TokenSumsJson(group.counts.tokens)}};
  }
  return json;
}

// Sorted, since failures come in the order in which tasks ended.
Json FailuresJson(std::vector<v1::Failure> failures) {
  std::sort(failures.begin(), failures.end(), [](const v1::Failure& a, const v1::Failure& b) {
    return std::forward_as_tuple(a.source(), a.stage(), a.path(), a.code(), a.message(),
                                 a.files()) <
           std::forward_as_tuple(b.source(), b.stage(), b.path(), b.code(), b.message(), b.files());
  });
  Json json = Json::array();
  for (const v1::Failure& failure : failures) {
    if (manifest::IsUnmatched(failure.path())) continue;  // `unmatched` has them
    Json entry = {{"source", Text(failure.source())},
                  {"stage", failure.stage()},
                  {"code", failure.code()},
                  {"message", Text(failure.message())},
                  {"files", failure.files()}};
    entry["path"] = nullptr;
    if (!failure.path().empty()) SetText(entry, "/path", failure.path());
    json.push_back(std::move(entry));
  }
  return json;
}

// The bounds are those that the job was run with, so defaults are written out.
Json ContaminationPolicyJson(const v1::ContaminationPolicy& policy) {
  return {{"threshold", Number(policy.threshold())},
          {"overlap", Number(policy.overlap())},
          {"structural", Number(policy.structural())},
          {"action", policy.action() == v1::CONTAMINATION_ACTION_LABEL ? "label" : "drop"}};
}

// A holdout's kernel, and how many match it by each rule.
Json ContaminatedJson(const DatasetIndex& index, uint32_t holdout,
                      const std::map<std::string, int64_t>& by_rule) {
  v1::Place place;
  FillPlace(index, holdout, &place);
  Json item = {{"holdout", ToJson(place)}, {"kernels", by_rule}};
  SetText(item, "/holdout/path", place.path());
  if (place.has_json_pointer()) SetText(item, "/holdout/json_pointer", place.json_pointer());
  return item;
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
    if (decision.contamination().empty() || index.IsFile(number)) continue;
    if (decision.fate() == v1::FATE_REJECTED) continue;
    ++by_item[decision.contamination(0).holdout()][decision.contamination(0).rule()];
    kept += decision.fate() == v1::FATE_KEPT;
    withheld += manifest::WithholdsLauncher(decision, index.manifest.dedup().contamination());
  }
  Json items = Json::array();
  for (const auto& [holdout, by_rule] : by_item) {
    items.push_back(ContaminatedJson(index, holdout, by_rule));
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

// Lists the pairs of the job that name no usable kernels, with their problems.
Json PairsJson(const DatasetIndex& index, const PairCounts& counts) {
  Json unmade = Json::array();
  for (size_t i = 0; i < index.pairs.size(); ++i) {
    if (index.pairs[i].problem.empty()) continue;
    unmade.push_back({{"pair", i}, {"problem", Text(index.pairs[i].problem)}});
  }
  return {{"candidates", counts.candidates},
          {"curated", counts.curated},
          {"repeats", counts.repeats},
          {"word_overlaps", counts.word_overlaps},
          {"across_splits", counts.across_splits},
          {"unmade", std::move(unmade)}};
}

// Returns for each gate its bound, the value, and whether it is passed.
Json GatesJson(const DatasetIndex& index) {
  Json gates = Json::object();
  for (const manifest::GateResult& gate : manifest::CheckGates(index.manifest, index.sums)) {
    const auto number = [&](double value) {
      return gate.is_share ? Number(value) : Json(static_cast<int64_t>(value));
    };
    gates[std::string(gate.name)] = {
        {"bound", number(gate.bound)}, {"value", number(gate.value)}, {"passed", gate.passed}};
  }
  return gates;
}

// Returns the effect of each entry, for the people who asked for it.
Json OptOutJson(const DatasetIndex& index) {
  Json entries = Json::array();
  for (size_t i = 0; i < index.opt_out.size(); ++i) {
    const v1::OptOut& entry = index.manifest.opt_out(static_cast<int>(i));
    const manifest::OptOutCount& count = index.opt_out[i];
    entries.push_back({{"repository", TextOrNull(entry.repository())},
                       {"owner", TextOrNull(entry.owner())},
                       {"path", TextOrNull(entry.path())},
                       {"sha256", TextOrNull(entry.sha256())},
                       {"sources", count.sources},
                       {"kernels", count.kernels},
                       {"copies", count.copies},
                       {"carriers", count.carriers}});
  }
  return entries;
}

// Returns what the job asks for and what matches nothing. Evidence is matched by the export alone.
Json UnmatchedJson(const DatasetIndex& index, const Json& evidence) {
  Json list = Json::array();
  for (const manifest::Unmatched& one : index.unmatched) {
    list.push_back({{"what", one.what},
                    {"where", one.where},
                    {"source", TextOrNull(one.source)},
                    {"asked", TextOrNull(one.asked)},
                    {"message", Text(one.message)},
                    {"paths", one.paths}});
  }
  const size_t kernels =
      evidence.is_null() ? 0 : evidence.at("unmatched").at("kernels").get<size_t>();
  if (kernels > 0) {
    list.push_back(
        {{"what", "evidence"},
         {"where", "evidence"},
         {"source", nullptr},
         {"asked", nullptr},
         {"message", absl::StrCat("names ", Counted(static_cast<int64_t>(kernels), "kernel"),
                                  " that the dataset lacks")},
         {"paths", Json::array()}});
  }
  return list;
}

// Decisions by what they are on and which way they went, and those that name nothing.
Json ReviewsJson(const DatasetIndex& index, const manifest::FollowedReviews& reviews) {
  Json accepted = Json::object();
  Json rejected = Json::object();
  for (const v1::Review& review : index.manifest.reviews()) {
    Json& counts = review.decision() == v1::REVIEW_DECISION_ACCEPT ? accepted : rejected;
    counts[review.flag()] = counts.value(review.flag(), 0) + 1;
  }
  Json unmatched = Json::array();
  for (const manifest::ReviewProblem& problem : reviews.problems) {
    unmatched.push_back({{"review", problem.review}, {"problem", Text(problem.problem)}});
  }
  return {{"accepted", std::move(accepted)},
          {"rejected", std::move(rejected)},
          {"unmatched", std::move(unmatched)}};
}

// null if the job does not divide the dataset.
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

// Null where nothing is compiled.
Json CompilePolicyJson(const v1::DatasetManifest& manifest) {
  if (!manifest.has_compile()) return nullptr;
  const v1::CompilePolicy& policy = manifest.compile();
  return {{"toolchains", TextList(policy.toolchains())},
          {"targets", TextList(policy.targets())},
          {"keep", TextList(policy.keep())},
          {"max_seconds", policy.max_seconds()}};
}

// Lists each split that the job has, also one without kernels.
Json SplitsJson(const DatasetIndex& index) {
  Json json = Json::object();
  for (const auto& [name, split] : index.by_split) {
    json[name] = {{"kernels", split.kernels},
                  {"repositories", split.repositories},
                  {"tokens", TokenSumsJson(split.tokens)}};
  }
  return json;
}

// The policies as they were applied, with all defaults written out.
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
      {"compile", CompilePolicyJson(manifest)},
      {"min_adequacy",
       manifest.has_evidence() ? Number(manifest.evidence().min_adequacy()) : Json()},
      {"secrets", ToWord(manifest.quality().secrets())},
      {"emails", ToWord(manifest.quality().emails())}};
}

}  // namespace

Json StagesJson(const v1::DatasetManifest& manifest) {
  Json json = Json::object();
  for (const v1::StageVersion& stage : manifest.stages()) json[stage.stage()] = stage.version();
  return json;
}

// The sums over all sources include the files of holdouts; kernels_found counts candidates only.
Json Report(const DatasetIndex& index, const cas::Digest& dataset, const TrainingCounts& training,
            const manifest::FollowedReviews& reviews, std::vector<v1::Failure> failures) {
  Group all;
  Json sources = Json::array();
  for (const SourceEntry& source : index.sources) {
    AddTo(source, &all);
    sources.push_back(SourceJson(index, source));
  }
  return {{"generator", "kernelmill"},
          {"schema", 1},
          {"name", index.manifest.name()},
          {"dataset", cas::ToString(dataset)},
          {"stages", StagesJson(index.manifest)},
          {"policies", PoliciesJson(index.manifest)},
          {"rows", training.rows},
          {"files", FilesJson(all)},
          {"kernels", KernelsJson(all)},
          {"training_files", TrainingFilesJson(all)},
          {"checks", ChecksJson(all.counts.checks)},
          {"compile", CompileJson(index, all.counts)},
          {"licenses", all.counts.licenses},
          {"contamination", ContaminationCounts(index)},
          {"word_overlaps", CountWordOverlaps(index)},
          {"tokens", TokenSumsJson(all.counts.tokens)},
          {"splits", SplitsJson(index)},
          {"sources", std::move(sources)},
          {"categories", CategoriesJson(index)},
          {"fim", {{"rows", training.fim.rows}, {"excluded", training.fim.excluded}}},
          {"instruct", training.instruct.rows},
          {"instruct_excluded", training.instruct.excluded},
          {"pairs", PairsJson(index, training.pairs)},
          {"parallel", training.parallel},
          {"references", training.references},
          {"graphs", training.graphs},
          {"history", training.history},
          {"evidence", training.evidence},
          {"opt_out", OptOutJson(index)},
          {"unmatched", UnmatchedJson(index, training.evidence)},
          {"gates", GatesJson(index)},
          {"reviews", ReviewsJson(index, reviews)},
          {"failures", FailuresJson(std::move(failures))}};
}

}  // namespace kernelmill::dataset
