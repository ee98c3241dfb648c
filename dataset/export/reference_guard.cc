#include "dataset/export/reference_guard.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/job/opt_out.h"
#include "common/job/source_spec.h"
#include "common/json/json_documents.h"
#include "common/json/json_strings.h"
#include "common/text/words.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {
namespace {

constexpr size_t kRunWords = 13;
constexpr size_t kLeastRuns = 32;    // a shorter text is anybody's
constexpr size_t kCommonTexts = 25;  // so is a run that so many texts of holdouts have
constexpr char kNoReference[] = "no_reference";

// Returns the hashes of a text's runs of words, each once.
absl::flat_hash_set<uint64_t> RunsOfWords(absl::string_view text) {
  const std::vector<uint64_t> words = HashWords(text);
  absl::flat_hash_set<uint64_t> runs;
  for (size_t at = 0; at + kRunWords <= words.size(); ++at) {
    runs.insert(StableHash64(absl::string_view(reinterpret_cast<const char*>(&words[at]),
                                               kRunWords * sizeof(uint64_t))));
  }
  return runs;
}

bool Reaches(size_t common, size_t of, double share) {
  return of >= kLeastRuns && static_cast<double>(common) / static_cast<double>(of) >= share;
}

// Returns the paths of a source's files that entries name.
absl::StatusOr<absl::flat_hash_set<std::string>> FindOptedOut(
    cas::BlobStore& store, const v1::ManifestSource& source,
    const google::protobuf::RepeatedPtrField<v1::OptOut>& entries) {
  absl::flat_hash_set<std::string> paths;
  ASSIGN_OR_RETURN(const job::SourceOptOut names, job::SourceOptOut::Compile(entries));
  if (names.empty()) return paths;
  ASSIGN_OR_RETURN(const auto tree, cas::GetMessage<v1::SourceTree>(store, source.tree()));
  for (const v1::FileEntry& file : tree.files()) {
    if (names.Names(file.path(), {absl::string_view(file.sha256())})) paths.insert(file.path());
  }
  return paths;
}

}  // namespace

absl::StatusOr<ReferenceGuard> ReferenceGuard::Make(cas::BlobStore& store,
                                                    const v1::DatasetManifest& manifest) {
  ReferenceGuard guard;
  const v1::ContaminationPolicy& policy = manifest.dedup().contamination();
  guard.overlap_ = policy.overlap();
  if (std::all_of(manifest.sources().begin(), manifest.sources().end(),
                  [](const v1::ManifestSource& source) {
                    return source.references().empty() && source.changes().empty() &&
                           !job::KeepsGraphs(source.source());
                  })) {
    return guard;
  }
  RETURN_IF_ERROR(guard.AddOptedOut(store, manifest));
  if (policy.action() != v1::CONTAMINATION_ACTION_LABEL) {
    RETURN_IF_ERROR(guard.AddHoldouts(store, manifest));
  }
  return guard;
}

// A failed source has no tree.
absl::Status ReferenceGuard::AddOptedOut(cas::BlobStore& store,
                                         const v1::DatasetManifest& manifest) {
  if (manifest.opt_out().empty()) return absl::OkStatus();
  const job::OptOutIndex index(manifest.opt_out());
  for (int i = 0; i < manifest.sources_size(); ++i) {
    const v1::ManifestSource& source = manifest.sources(i);
    google::protobuf::RepeatedPtrField<v1::OptOut> entries;
    for (const int entry : index.Naming(source.source())) *entries.Add() = manifest.opt_out(entry);
    if (entries.empty() || !source.has_tree()) continue;
    ASSIGN_OR_RETURN(opted_out_[i], FindOptedOut(store, source, entries));
    if (opted_out_[i].empty()) continue;
    for (const auto& digest : source.files()) {
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::FileShard>(store, digest));
      for (const v1::SourceFile& file : shard.files()) {
        if (opted_out_[i].contains(file.path())) opted_out_runs_.merge(RunsOfWords(file.content()));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ReferenceGuard::AddHoldouts(cas::BlobStore& store,
                                         const v1::DatasetManifest& manifest) {
  for (const v1::ManifestSource& source : manifest.sources()) {
    if (source.source().role() != v1::SOURCE_ROLE_HOLDOUT) continue;
    for (const auto& digest : source.kernels()) {
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::KernelShard>(store, digest));
      for (const v1::Kernel& kernel : shard.kernels()) {
        if (kernel.form() == v1::KERNEL_FORM_FILE) AddHoldout(kernel);
      }
    }
  }
  DropCommonRuns();
  return absl::OkStatus();
}

// The strings of a JSON value are one text: a notebook has a line of code in each.
void ReferenceGuard::AddHoldout(const v1::Kernel& file) {
  if (!json::IsJsonPath(file.path()) && !absl::EndsWith(file.path(), ".ipynb")) {
    return AddText(file.source());
  }
  json::Documents documents(file.path(), file.source());
  json::Document document;
  while (documents.Next(&document)) {
    std::string text;
    json::StringReader reader(document.text);
    while (reader.Next()) absl::StrAppend(&text, json::Unescape(reader.raw()), "\n");
    AddText(text);
  }
}

void ReferenceGuard::AddText(absl::string_view text) {
  const auto number = static_cast<uint32_t>(sizes_.size());
  const absl::flat_hash_set<uint64_t> runs = RunsOfWords(text);
  sizes_.push_back(runs.size());
  for (const uint64_t run : runs) by_run_[run].push_back(number);
}

void ReferenceGuard::DropCommonRuns() {
  for (auto& [run, texts] : by_run_) {
    if (texts.size() < kCommonTexts) continue;
    for (const uint32_t text : texts) --sizes_[text];
    texts = {};
  }
}

bool ReferenceGuard::Withholds(absl::string_view text) const {
  if ((by_run_.empty() && opted_out_runs_.empty()) || text.empty()) return false;
  absl::flat_hash_map<uint32_t, size_t> common;  // by text of a holdout
  size_t own = 0;
  size_t covered = 0;
  size_t opted_out = 0;
  for (const uint64_t run : RunsOfWords(text)) {
    if (opted_out_runs_.contains(run)) ++opted_out;
    const auto found = by_run_.find(run);
    if (found != by_run_.end() && found->second.empty()) continue;
    ++own;
    if (found == by_run_.end()) continue;
    ++covered;
    for (const uint32_t number : found->second) ++common[number];
  }
  return opted_out >= kLeastRuns || Reaches(covered, own, overlap_) ||
         std::any_of(common.begin(), common.end(), [&](const auto& entry) {
           return Reaches(entry.second, sizes_[entry.first], overlap_);
         });
}

void ReferenceGuard::Apply(int source, v1::ReferenceShard* references) const {
  const auto found = opted_out_.find(source);
  const auto is_opted_out = [&](const std::string& path) {
    return found != opted_out_.end() && found->second.contains(path);
  };
  for (v1::KernelReferences& kernel : *references->mutable_kernels()) {
    if (kernel.has_launcher() &&
        (is_opted_out(kernel.launcher().path()) || Withholds(kernel.launcher().module()))) {
      kernel.clear_launcher();
    }
    for (v1::TestReference& test : *kernel.mutable_tests()) {
      if (is_opted_out(test.path())) {
        test.clear_comparisons();
        test.clear_cases();
        test.clear_open_parameters();
        test.set_cases_total(0);
      } else if (!test.has_reference() ||
                 !(is_opted_out(test.reference().path()) || Withholds(test.reference().text()) ||
                   Withholds(test.reference().module()))) {
        continue;
      }
      if (test.has_reference()) test.set_status(kNoReference);
      test.clear_reference();
    }
    // Those with a reference stay first.
    std::stable_partition(kernel.mutable_tests()->pointer_begin(),
                          kernel.mutable_tests()->pointer_end(),
                          [](const v1::TestReference* test) { return test->has_reference(); });
  }
}

}  // namespace kernelmill::dataset
