#ifndef KERNELMILL_DATASET_EXPORT_REFERENCE_GUARD_H_
#define KERNELMILL_DATASET_EXPORT_REFERENCE_GUARD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/reference.pb.h"

namespace kernelmill::dataset {

// Withholds references whose text must not get out: of a file that is opted out, or like a text of
// a holdout. Stages judge kernels alone, and a reference is a text of its own.
//
// The basic idea is that of services/deduplicator/core/pair/holdout_words.h: texts are compared by
// runs of 13 words. A text is like those of holdouts if they have so large a share of its runs as
// the job's `contamination.overlap`, or if it has that share of the runs of one of them. A job that
// only labels contamination withholds nothing for it. A module may hold pieces of opted-out files:
// it does if it has 32 runs of them, of whatever source. Thread-safe once made.
class ReferenceGuard {
 public:
  // Reads the files of the holdouts, and those that are opted out, if the dataset has references,
  // graphs or a history.
  // INVALID_ARGUMENT: a path of an opt-out entry is not a glob. Other errors are those of the
  // store.
  static absl::StatusOr<ReferenceGuard> Make(cas::BlobStore& store,
                                             const v1::DatasetManifest& manifest);

  // Takes out of the references of a shard what must not get out. A test that loses its reference
  // has the status "no_reference"; one of an opted-out file loses all of its text. `source` is the
  // index in the manifest.
  void Apply(int source, v1::ReferenceShard* references) const;

  // Says whether a text is like one of a holdout, or holds a piece of an opted-out file.
  bool Withholds(absl::string_view text) const;

 private:
  ReferenceGuard() = default;

  absl::Status AddOptedOut(cas::BlobStore& store, const v1::DatasetManifest& manifest);
  absl::Status AddHoldouts(cas::BlobStore& store, const v1::DatasetManifest& manifest);
  void AddHoldout(const v1::Kernel& file);
  void AddText(absl::string_view text);
  void DropCommonRuns();

  // By source the opted-out files, and the runs of all of them.
  absl::flat_hash_map<int, absl::flat_hash_set<std::string>> opted_out_;
  absl::flat_hash_set<uint64_t> opted_out_runs_;
  double overlap_ = 0;
  std::vector<size_t> sizes_;  // by text of a holdout the number of its runs that count
  // By run the texts that have it; empty for a run that does not count.
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> by_run_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_REFERENCE_GUARD_H_
