#include "dataset/export/job_evidence.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/hash.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/source_spec.h"
#include "common/manifest/walk.h"
#include "common/words/counted.h"
#include "dataset/tasks/task_row.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {
namespace {

constexpr size_t kNamed = 3;            // problems or kernels in a warning
constexpr size_t kListed = 100;         // unmatched kernels in the report
constexpr char kEmptyFile[] = "empty";  // a file's reason that is no loss

using Hashes = std::map<absl::string_view, absl::string_view>;  // hashes of sharded files, by path

// Notes the files that the tree has and the shards have not.
Hashes ReadTree(const std::string& name, const v1::SourceTree& tree, EvidenceIndex* index) {
  Hashes hashes;
  for (const v1::FileEntry& file : tree.files()) {
    if (file.fate() == v1::FILE_FATE_SHARDED) {
      hashes[file.path()] = file.sha256();
    } else if (file.reason() != kEmptyFile) {
      index->AddProblem(name, file.path(), 0, absl::StrCat("was not read: ", file.reason()));
    }
  }
  return hashes;
}

absl::Status ReadSource(cas::BlobStore& store, const v1::ManifestSource& source,
                        EvidenceIndex* index) {
  const std::string name = job::SourceName(source.source());
  ASSIGN_OR_RETURN(const auto tree, cas::GetMessage<v1::SourceTree>(store, source.tree()));
  Hashes hashes = ReadTree(name, tree, index);
  for (const auto& digest : source.files()) {
    ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::FileShard>(store, digest));
    for (const v1::SourceFile& file : shard.files()) {
      const auto listed = hashes.find(file.path());
      if (listed == hashes.end() || listed->second != Sha256Hex(file.content())) {
        return absl::DataLossError(
            absl::StrCat(JsonString(file.path()), " is not the file that the tree lists"));
      }
      const bool tensor = BaseName(file.path()) == listed->second;
      hashes.erase(listed);
      if (tensor) continue;
      RETURN_IF_ERROR(index->AddFile(name, file.path(), file.content()));
    }
  }
  if (hashes.empty()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(JsonString(hashes.begin()->first), " is in the tree and in no shard"));
}

// "4 names" with the first of them.
template <typename List, typename Format>
std::string JoinFirst(const List& list, Format format) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(list.size(), kNamed); ++i) names.push_back(format(list[i]));
  return absl::StrCat(absl::StrJoin(names, ", "), list.size() > kNamed ? ", ..." : "");
}

std::string NameKernel(const ObservedKernel* kernel) {
  return absl::StrCat(kernel->qualname, " of module ", kernel->module_sha256.substr(0, 12));
}

}  // namespace

absl::StatusOr<JobEvidence> JobEvidence::Load(cas::BlobStore& store,
                                              const v1::DatasetManifest& manifest) {
  JobEvidence evidence;
  evidence.min_adequacy_ = manifest.evidence().min_adequacy();
  for (const v1::ManifestSource& source : manifest.sources()) {
    if (!manifest::IsEvidence(source.source())) continue;
    evidence.has_sources_ = true;
    if (source.failed()) continue;
    RETURN_IF_ERROR(Annotate(ReadSource(store, source, &evidence.index_),
                             JsonString(job::SourceName(source.source()))));
  }
  evidence.index_.Finish();
  return evidence;
}

// Rows have U+FFFD for broken bytes, and evidence is made from rows.
const KernelEvidence* JobEvidence::Find(const v1::Kernel& kernel) const {
  if (index_.empty()) return nullptr;
  return index_.Find({Sha256Hex(ToUtf8(kernel.module())), ToUtf8(kernel.qualname())});
}

void JobEvidence::Note(uint32_t number, const KernelEvidence& evidence, bool has_reference) {
  const absl::string_view state = JudgeEvidence(evidence, has_reference, min_adequacy_);
  states_[number] = state;
  ++by_state_[std::string(state)];
  used_.insert(&evidence);
  tasks_ += IsTask(evidence);
}

absl::string_view JobEvidence::GetState(uint32_t number) const {
  const auto found = states_.find(number);
  return found == states_.end() ? absl::string_view() : found->second;
}

std::vector<const ObservedKernel*> JobEvidence::ListUnmatched() const {
  std::vector<const ObservedKernel*> unmatched;
  for (const auto& [kernel, evidence] : index_.kernels()) {
    if (!used_.contains(&evidence)) unmatched.push_back(&kernel);
  }
  return unmatched;
}

Json JobEvidence::ToJson() const {
  if (!has_sources_) return nullptr;
  const EvidenceCounts& counts = index_.counts();
  Json problems = Json::array();
  for (const EvidenceProblem& problem : index_.problems()) {
    problems.push_back({{"source", problem.source},
                        {"file", problem.file},
                        {"line", problem.line},
                        {"message", problem.message}});
  }
  const std::vector<const ObservedKernel*> unmatched = ListUnmatched();
  Json names = Json::array();
  for (size_t i = 0; i < std::min(unmatched.size(), kListed); ++i) {
    names.push_back(
        {{"module_sha256", unmatched[i]->module_sha256}, {"kernel", unmatched[i]->qualname}});
  }
  std::map<std::string, int64_t> not_verified = by_state_;
  not_verified.erase(std::string(kVerified));
  const auto verified = by_state_.find(std::string(kVerified));
  return {{"files", counts.files},
          {"lines", counts.lines},
          {"types", counts.types},
          {"repeated", counts.repeated},
          {"unknown_types", counts.unknown_types},
          {"unknown_fields", counts.unknown_fields},
          {"results_without_case", counts.results_without_case},
          {"problems", {{"count", counts.problems}, {"first", std::move(problems)}}},
          {"tasks", tasks_},
          {"verified", verified == by_state_.end() ? 0 : verified->second},
          {"not_verified", std::move(not_verified)},
          {"unmatched", {{"kernels", unmatched.size()}, {"first", std::move(names)}}}};
}

std::optional<std::map<std::string, int64_t>> JobEvidence::CountStates() const {
  if (!has_sources_) return std::nullopt;
  return by_state_;
}

std::vector<std::string> JobEvidence::ListWarnings() const {
  std::vector<std::string> warnings;
  const EvidenceCounts& counts = index_.counts();
  if (counts.problems > 0) {
    warnings.push_back(
        absl::StrCat("evidence: ", Counted(counts.problems, "problem"), ": ",
                     JoinFirst(index_.problems(), [](const EvidenceProblem& problem) {
                       return absl::StrCat(problem.file, ":", problem.line, ": ", problem.message);
                     })));
  }
  for (const auto& [what, names] : {std::make_pair("types", &counts.unknown_types),
                                    std::make_pair("fields", &counts.unknown_fields)}) {
    if (names->empty()) continue;
    const std::vector<std::pair<std::string, int64_t>> list(names->begin(), names->end());
    warnings.push_back(absl::StrCat("evidence: unknown ", what,
                                    " are ignored: ", JoinFirst(list, [](const auto& name) {
                                      return absl::StrCat(name.first, " ", name.second);
                                    })));
  }
  if (counts.results_without_case > 0) {
    warnings.push_back(absl::StrCat("evidence: ", Counted(counts.results_without_case, "result"),
                                    " of a case that the evidence lacks"));
  }
  const std::vector<const ObservedKernel*> unmatched = ListUnmatched();
  if (used_.empty() && !unmatched.empty()) {
    warnings.push_back(absl::StrCat(
        "evidence: the dataset has none of its kernels (", unmatched.size(),
        "); evidence is bound to a kernel's text: ", JoinFirst(unmatched, NameKernel)));
  }
  return warnings;
}

// Evidence is collected over sources and commits, so that most of it is usually of other kernels.
std::vector<std::string> JobEvidence::ListNotes() const {
  std::vector<std::string> notes;
  const std::vector<const ObservedKernel*> unmatched = ListUnmatched();
  if (!used_.empty() && !unmatched.empty()) {
    notes.push_back(
        absl::StrCat("evidence: the dataset has ", used_.size(), " of its ",
                     Counted(static_cast<int64_t>(index_.kernels().size()), "kernel"),
                     "; the others are of other texts: ", JoinFirst(unmatched, NameKernel)));
  }
  std::map<std::string, int64_t> not_verified = by_state_;
  not_verified.erase(std::string(kVerified));
  if (not_verified.empty()) return notes;
  notes.push_back(absl::StrCat("evidence: kernels that are not verified: ",
                               absl::StrJoin(not_verified, ", ", absl::PairFormatter(" ")),
                               "; `kernelmill rejected DATASET --reason unverified` names them"));
  return notes;
}

}  // namespace kernelmill::dataset
