#ifndef KERNELMILL_DATASET_EXPORT_JOB_EVIDENCE_H_
#define KERNELMILL_DATASET_EXPORT_JOB_EVIDENCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "dataset/output/json.h"
#include "dataset/tasks/evidence_index.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// The evidence of a job, joined with the kept kernels by their modules and names. Thread-safe but
// for Note.
class JobEvidence {
 public:
  // Reads the files of all sources of evidence; of a job without such a source there is nothing.
  // DATA_LOSS: a file is not the one that its tree names. FAILED_PRECONDITION: there is too much.
  // Other errors are those of the store.
  static absl::StatusOr<JobEvidence> Load(cas::BlobStore& store,
                                          const v1::DatasetManifest& manifest);

  // Returns null if there is no evidence of the kernel, whose module is as the rows have it.
  const KernelEvidence* Find(const v1::Kernel& kernel) const;
  bool empty() const { return index_.empty(); }
  double min_adequacy() const { return min_adequacy_; }

  // Counts a kept kernel whose evidence Find has returned.
  void Note(uint32_t number, const KernelEvidence& evidence, bool has_reference);

  // Returns what JudgeEvidence says of a noted kernel; "" of another one.
  absl::string_view GetState(uint32_t number) const;

  // Once all kept kernels are noted: `evidence` of report.json, null for a job without any; and the
  // same in lines for a person: what somebody should look at, and what is no fault.
  Json ToJson() const;
  // Returns the noted kernels by GetState; nullopt for a job without any sources of evidence.
  std::optional<std::map<std::string, int64_t>> CountStates() const;
  std::vector<std::string> ListWarnings() const;
  std::vector<std::string> ListNotes() const;

 private:
  // Evidence of no kept kernel.
  std::vector<const ObservedKernel*> ListUnmatched() const;

  bool has_sources_ = false;
  double min_adequacy_ = 0;
  EvidenceIndex index_;
  absl::flat_hash_map<uint32_t, absl::string_view> states_;  // by the number of a kept kernel
  absl::flat_hash_set<const KernelEvidence*> used_;
  std::map<std::string, int64_t> by_state_;
  int64_t tasks_ = 0;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_JOB_EVIDENCE_H_
