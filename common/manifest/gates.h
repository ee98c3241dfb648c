#ifndef KERNELMILL_COMMON_MANIFEST_GATES_H_
#define KERNELMILL_COMMON_MANIFEST_GATES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/manifest/ledger.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::manifest {

// A bound that a job sets its dataset, and whether it is met.
struct GateResult {
  absl::string_view name;  // as job files have it: "min_kept"
  bool is_share = false;   // of a whole; else a number
  double bound = 0;
  double value = 0;
  bool passed = false;
};

// The gates that the job sets, in the order of job.proto: a dataset with just its bound passes. A
// share of nothing is 0. `sums` are the whole dataset's.
std::vector<GateResult> CheckGates(const v1::DatasetManifest& manifest, const LedgerSums& sums);

// "480, but at least 500 is asked for": of a gate that is not passed.
std::string GateText(const GateResult& gate);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_GATES_H_
