#ifndef KERNELMILL_CLIENT_COMMANDS_KEPT_OUTPUT_H_
#define KERNELMILL_CLIENT_COMMANDS_KEPT_OUTPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/console/summary.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {

// A finished job, as far as it decides whether its dataset may replace an earlier one.
struct FinishedJobResult {
  v1::JobStatus status;
  v1::JobSpec lock;
  std::vector<v1::Failure> failures;  // all of them
};

// The kernels of an earlier dataset that a new one would lose because sources failed, or because it
// is empty.
struct LostKernels {
  int64_t kernels = 0;  // kept kernels and whole files; 0: nothing would be lost
  // The sources that they came from, as the earlier report names them.
  std::vector<std::string> sources;
  bool new_is_empty = false;
};

// Compares the export in `out_dir` with the job's dataset. An earlier source is lost if
//   - it kept something, and the job's source of the same name failed; or
//   - it kept something, the job has no source of its name, and a search of the job failed: that
//     search may have found it; or
//   - it kept something, and the job's dataset is empty.
// Versions of a package are one source: "liger-kernel==0.6.2" and "liger-kernel==0.6.3".
// Nothing is lost if `out_dir` holds no export. Fails only if the export's report cannot be read.
absl::StatusOr<LostKernels> FindLostKernels(const std::string& out_dir,
                                            const FinishedJobResult& job);

// The kept kernels of an export, to say later which of them the export that replaces it lacks.
// Holds some 50 bytes for each kernel and whole file.
class EarlierOutput {
 public:
  // Reads the ledger in `out_dir`. It is empty if the folder has no export, or one of `dataset`.
  // Errors are those of the ledger.
  static absl::StatusOr<EarlierOutput> Read(const std::string& out_dir, const cas::Digest& dataset);

  // Returns the sources that lost something in the export that is in `out_dir` now, those with the
  // most first. A kernel is still there if its text is, at any place; or if its source has a
  // kept kernel with its path and name, whatever the text is now. A ledger without names has
  // paths only.
  absl::StatusOr<std::vector<LostFromSource>> FindLost(const std::string& out_dir) const;

 private:
  struct Kept {
    uint32_t source = 0;  // its place in sources_
    uint64_t place = 0;   // a hash of its source, path and name
    uint64_t text = 0;    // a hash of its text
  };

  std::vector<std::string> sources_;
  std::vector<Kept> kept_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_KEPT_OUTPUT_H_
