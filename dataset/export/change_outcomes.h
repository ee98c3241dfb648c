#ifndef KERNELMILL_DATASET_EXPORT_CHANGE_OUTCOMES_H_
#define KERNELMILL_DATASET_EXPORT_CHANGE_OUTCOMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/history.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// The compilers' results for the versions of a source's kernels. Holds all results of the source,
// and no text. Thread-safe once made.
class VersionResults {
 public:
  // DATA_LOSS: a shard has results of another number of kernels. Other errors are those of the
  // store.
  static absl::StatusOr<VersionResults> Read(cas::BlobStore& store,
                                             const v1::ManifestSource& source);

  // Returns the results of a version; null if it has none: no compiler takes it, its shard's
  // compilation failed, or the job does not compile. DATA_LOSS: the version names a kernel that is
  // not there, or one of another module.
  absl::StatusOr<const v1::CompiledKernel*> Find(const v1::KernelVersion& version) const;

  // The kernels that were compiled.
  int64_t kernels() const { return kernels_; }

 private:
  struct Entry {
    std::string module_sha256;
    std::optional<v1::CompiledKernel> compiled;
  };
  std::vector<Entry> entries_;  // by the versions' `compiled`
  int64_t kernels_ = 0;
};

// Fills `turns`, `repair` and `breaks` from the results of both sides.
//
// An error counts if it is about the code: one of the bounds or of the sandbox says nothing of it.
// So does an error of the import: what another package lacks is `unknown`.
void FillTurns(v1::HistoryRow* row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_CHANGE_OUTCOMES_H_
