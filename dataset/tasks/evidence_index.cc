#include "dataset/tasks/evidence_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "common/base/unsafe_text.h"

// Everything here is a function of the set of lines: of two lines on the same thing the result does
// not depend on which comes first. Equal cases may differ in their origin only, so the lesser line
// counts; of adequacies the lowest; results and speeds are all kept, and sorted.
namespace kernelmill::dataset {
namespace {

constexpr size_t kMaxNames = 100;  // names of unknown types, or fields
constexpr char kOtherNames[] = "(others)";

// Returns a text of the evidence's author in a form that may be shown.
std::string Safe(absl::string_view text) {
  constexpr size_t kMost = 512;
  const std::string quoted = EscapeUnsafeJson(JsonString(text.substr(0, kMost)));
  return quoted.substr(1, quoted.size() - 2);
}

void CountName(const std::string& name, std::map<std::string, int64_t>* counts) {
  const bool room = counts->contains(name) || counts->size() < kMaxNames;
  ++(*counts)[room ? name : kOtherNames];
}

auto GetOrder(const ObservedResult& result) {
  return std::tie(result.device, result.toolchain, result.outcome, result.absolute, result.relative,
                  result.out_of_bounds);
}

auto GetOrder(const ObservedSpeed& speed) {
  return std::tie(speed.device, speed.toolchain, speed.case_id, speed.hardware, speed.median,
                  speed.spread, speed.eager, speed.compiled, speed.roofline, speed.eager_spread,
                  speed.compiled_spread, speed.fills, speed.sizes, speed.grown, speed.reason,
                  speed.checked, speed.noisy, speed.launches, speed.bytes, speed.operations,
                  speed.bound, speed.sm_mhz, speed.memory_mhz);
}

// By score, and by mutants where two have the same.
bool IsLower(const ObservedAdequacy& a, const ObservedAdequacy& b) {
  if (a.score != b.score) return a.score < b.score;
  const auto order = [](const auto& x, const auto& y) {
    return std::tie(x.first, x.second.total, x.second.caught, x.second.equivalent) <
           std::tie(y.first, y.second.total, y.second.caught, y.second.equivalent);
  };
  return std::lexicographical_compare(a.mutants.begin(), a.mutants.end(), b.mutants.begin(),
                                      b.mutants.end(), order);
}

bool HasResult(const CaseEvidence& of, Outcome outcome) {
  return std::any_of(of.results.begin(), of.results.end(),
                     [&](const ObservedResult& result) { return result.outcome == outcome; });
}

// Says whether the case is on the hidden side by its id, which is a hash.
bool IsOnHiddenSide(const CaseEvidence& of) {
  const char last = of.of.id.back();
  return (last <= '9' ? last - '0' : last - 'a' + 10) % 2 == 1;
}

}  // namespace

bool CaseEvidence::Differs() const { return HasResult(*this, Outcome::kDifferent); }

bool CaseEvidence::Replays() const {
  return !Differs() && (HasResult(*this, Outcome::kExact) || HasResult(*this, Outcome::kClose));
}

absl::string_view JudgeEvidence(const KernelEvidence& evidence, bool has_reference,
                                double min_adequacy) {
  const auto& cases = evidence.cases;
  if (cases.empty()) return "no_case";
  const auto any = [&](bool (CaseEvidence::*holds)() const) {
    return std::any_of(cases.begin(), cases.end(),
                       [&](const auto& one) { return (one.second.*holds)(); });
  };
  if (any(&CaseEvidence::Differs)) return "different";
  if (!any(&CaseEvidence::Replays)) return "not_replayed";
  if (!has_reference) return "no_reference";
  if (!evidence.adequacy.has_value()) return "no_adequacy";
  if (evidence.adequacy->score < min_adequacy) return "low_adequacy";
  if (DivideCases(evidence).hidden.empty()) return "no_hidden_case";
  return kVerified;
}

DividedCases DivideCases(const KernelEvidence& evidence) {
  DividedCases divided;
  size_t taken = 0;
  for (const auto& [id, one] : evidence.cases) {
    if (!one.Replays()) continue;
    if (taken++ == kMaxTaskCases) break;
    (IsOnHiddenSide(one) ? divided.hidden : divided.shown).push_back(&one);
  }
  if (divided.shown.empty() && !divided.hidden.empty()) {
    divided.shown.push_back(divided.hidden.front());
    divided.hidden.erase(divided.hidden.begin());
  } else if (divided.hidden.empty() && divided.shown.size() > 1) {
    divided.hidden.push_back(divided.shown.back());
    divided.shown.pop_back();
  }
  return divided;
}

absl::Status EvidenceIndex::AddFile(absl::string_view source, absl::string_view file,
                                    absl::string_view content) {
  bytes_ += static_cast<int64_t>(content.size());
  if (bytes_ > kMaxBytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("the evidence of a job must have at most ", kMaxBytes,
                     " bytes; name fewer of its files in include"));
  }
  ++counts_.files;
  Place place = {std::string(source), std::string(file), 0};
  for (const absl::string_view line : absl::StrSplit(content, '\n')) {
    ++place.line;
    // The last line ends the file.
    if (line.empty() && line.data() == content.data() + content.size()) break;
    AddLine(place, line);
  }
  return absl::OkStatus();
}

void EvidenceIndex::AddLine(const Place& place, absl::string_view line) {
  ++counts_.lines;
  absl::StatusOr<EvidenceLine> read = ReadEvidenceLine(line);
  if (!read.ok()) return AddProblem(place.source, place.file, place.line, read.status().message());
  if (!read->known) return CountName(read->type, &counts_.unknown_types);
  ++counts_.types[read->type];
  if (!seen_.insert(Sha256(line)).second) {
    ++counts_.repeated;
    return;
  }
  for (const std::string& field : read->unknown_fields) {
    CountName(absl::StrCat(read->type, ".", field), &counts_.unknown_fields);
  }
  if (read->observation.has_value()) Add(place, *std::move(read->observation));
}

void EvidenceIndex::Add(const Place& place, Observation observation) {
  if (auto* one = std::get_if<ObservedCase>(&observation)) {
    const std::string id = one->id;
    const auto [at, added] = kernels_[one->kernel].cases.try_emplace(id);
    if (added || one->line < at->second.of.line) at->second.of = std::move(*one);
  } else if (auto* result = std::get_if<ObservedResult>(&observation)) {
    results_.push_back({std::move(*result), place});
  } else if (auto* adequacy = std::get_if<ObservedAdequacy>(&observation)) {
    std::optional<ObservedAdequacy>& lowest = kernels_[adequacy->kernel].adequacy;
    if (!lowest.has_value() || IsLower(*adequacy, *lowest)) lowest = std::move(*adequacy);
  } else if (auto* speed = std::get_if<ObservedSpeed>(&observation)) {
    kernels_[speed->kernel].speed.push_back(std::move(*speed));
  }
}

void EvidenceIndex::AddProblem(absl::string_view source, absl::string_view file, int64_t line,
                               absl::string_view message) {
  ++counts_.problems;
  EvidenceProblem problem = {Safe(source), Safe(file), line, Safe(message)};
  const auto at = std::lower_bound(problems_.begin(), problems_.end(), problem);
  if (at == problems_.end() && problems_.size() == kMaxProblems) return;
  problems_.insert(at, std::move(problem));
  if (problems_.size() > kMaxProblems) problems_.pop_back();
}

// A result names its case by its id; one that says that the case is of another module is wrong.
void EvidenceIndex::Finish() {
  std::map<absl::string_view, std::pair<const ObservedKernel*, CaseEvidence*>> cases;
  for (auto& [kernel, evidence] : kernels_) {
    for (auto& [id, one] : evidence.cases) cases[id] = {&kernel, &one};
  }
  for (PlacedResult& placed : results_) {
    const auto of = cases.find(placed.result.case_id);
    if (of == cases.end()) {
      ++counts_.results_without_case;
    } else if (of->second.first->module_sha256 != placed.result.module_sha256) {
      AddProblem(placed.place.source, placed.place.file, placed.place.line,
                 "module_sha256: is not that of the case");
    } else {
      of->second.second->results.push_back(std::move(placed.result));
    }
  }
  for (auto& [kernel, evidence] : kernels_) {
    const auto by_order = [](const auto& a, const auto& b) { return GetOrder(a) < GetOrder(b); };
    std::sort(evidence.speed.begin(), evidence.speed.end(), by_order);
    for (auto& [id, one] : evidence.cases) {
      std::sort(one.results.begin(), one.results.end(), by_order);
    }
  }
  results_ = {};
  seen_ = {};
}

const KernelEvidence* EvidenceIndex::Find(const ObservedKernel& kernel) const {
  const auto found = kernels_.find(kernel);
  return found == kernels_.end() ? nullptr : &found->second;
}

}  // namespace kernelmill::dataset
