#ifndef KERNELMILL_DATASET_TASKS_EVIDENCE_INDEX_H_
#define KERNELMILL_DATASET_TASKS_EVIDENCE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataset/tasks/observation.h"

namespace kernelmill::dataset {

// A line that is no evidence, or a file that could not be read. All texts are safe to show.
struct EvidenceProblem {
  std::string source;
  std::string file;
  int64_t line = 0;  // from 1; 0: the file itself
  std::string message;

  friend auto operator<=>(const EvidenceProblem&, const EvidenceProblem&) = default;
};

// Counts of the lines of evidence.
struct EvidenceCounts {
  int64_t files = 0;
  int64_t lines = 0;
  std::map<std::string, int64_t> types;           // lines by the type of evidence
  int64_t repeated = 0;                           // lines that an earlier one has word for word
  std::map<std::string, int64_t> unknown_types;   // lines that are ignored
  std::map<std::string, int64_t> unknown_fields;  // by type and field: "case.color"
  int64_t problems = 0;
  int64_t results_without_case = 0;
};

// A case with what came of its executions.
struct CaseEvidence {
  ObservedCase of;
  std::vector<ObservedResult> results;

  bool Replays() const;  // exact or close somewhere, and different nowhere
  bool Differs() const;  // different somewhere
};

// All that is known of a kernel.
struct KernelEvidence {
  std::map<std::string, CaseEvidence> cases;  // by id
  std::optional<ObservedAdequacy> adequacy;   // the lowest, if it was measured several times
  std::vector<ObservedSpeed> speed;           // by device, toolchain and case
};

// Returns `verified`, or the first of these that holds:
//   no_case        the evidence has no case of the kernel
//   different      an execution was different
//   not_replayed   no execution was exact or close
//   no_reference   no test is known to compare the kernel with a reference: the cases say only that
//                  the kernel does what it does
//   no_adequacy    the adequacy of the cases was not measured
//   low_adequacy   it is below `min_adequacy`
//   no_hidden_case the only case that replays is shown
absl::string_view JudgeEvidence(const KernelEvidence& evidence, bool has_reference,
                                double min_adequacy);

inline constexpr absl::string_view kVerified = "verified";

// The cases of a task, by id.
struct DividedCases {
  std::vector<const CaseEvidence*> shown;
  std::vector<const CaseEvidence*> hidden;
};

// A task has no more cases, shown and hidden ones together.
inline constexpr size_t kMaxTaskCases = 256;

// Divides the cases that replay, the first kMaxTaskCases by id. Half of them are hidden, by their
// ids alone, so that a case stays on its side when others come; if all were on one side, the first
// or the last one changes it. A single case is shown.
DividedCases DivideCases(const KernelEvidence& evidence);

// Evidence by the kernels that it is of. The result does not depend on the order of files and
// lines. Filled by one thread; then it may be read by several.
class EvidenceIndex {
 public:
  // The most bytes of lines, of all files. They stay in memory.
  static constexpr int64_t kMaxBytes = int64_t{1} << 30;
  // The most problems that are kept; all are counted. So are names of unknown types and fields.
  static constexpr size_t kMaxProblems = 100;

  // Reads the lines of a file. A line that is no evidence is a problem and nothing else.
  // FAILED_PRECONDITION: the evidence has more than kMaxBytes.
  absl::Status AddFile(absl::string_view source, absl::string_view file, absl::string_view content);

  // Notes a file that has no content here.
  void AddProblem(absl::string_view source, absl::string_view file, int64_t line,
                  absl::string_view message);

  // Joins results with their cases, once all files are read.
  void Finish();

  bool empty() const { return kernels_.empty(); }
  // Returns null if there is no evidence of the kernel.
  const KernelEvidence* Find(const ObservedKernel& kernel) const;
  const std::map<ObservedKernel, KernelEvidence>& kernels() const { return kernels_; }

  const EvidenceCounts& counts() const { return counts_; }
  // The first ones by source, file and line.
  const std::vector<EvidenceProblem>& problems() const { return problems_; }

 private:
  // The place of a line.
  struct Place {
    std::string source;
    std::string file;
    int64_t line = 0;
  };
  struct PlacedResult {
    ObservedResult result;
    Place place;
  };

  void AddLine(const Place& place, absl::string_view line);
  void Add(const Place& place, Observation observation);

  std::map<ObservedKernel, KernelEvidence> kernels_;
  std::vector<PlacedResult> results_;      // until Finish
  absl::flat_hash_set<std::string> seen_;  // hashes of lines, until Finish
  EvidenceCounts counts_;
  std::vector<EvidenceProblem> problems_;
  int64_t bytes_ = 0;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TASKS_EVIDENCE_INDEX_H_
