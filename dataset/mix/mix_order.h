#ifndef KERNELMILL_DATASET_MIX_MIX_ORDER_H_
#define KERNELMILL_DATASET_MIX_MIX_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataset/mix/mix_plan.h"

namespace kernelmill::dataset {

// The order in which a phase reads its rows. Each part is read in epochs, each in an order of its
// own; at every step the part comes whose share of what is read so far is furthest behind its share
// of the phase. So every stretch of the order is mixed as the whole is. Depends on the plan and the
// seed alone. An outside corpus is passed over: its rows are not known here.
class MixOrder {
 public:
  // `plan` must outlive it.
  MixOrder(const PhasePlan& plan, uint64_t seed);

  struct Sample {
    uint32_t part = 0;  // of the phase
    uint32_t row = 0;   // MixRow.row
  };

  // False at the end: every part has been read to its tokens.
  bool Next(Sample* sample);

 private:
  struct Reading {
    std::vector<uint32_t> order;  // of the epoch: places in PartPlan.rows
    size_t at = 0;
    uint64_t epoch = 0;
    int64_t read = 0;  // tokens
  };

  // Shuffles a part's rows for its next epoch.
  void StartEpoch(size_t part);

  const PhasePlan& plan_;
  const uint64_t seed_;
  std::vector<Reading> readings_;
};

// A file that numpy.load reads: `samples` rows of two uint32, the part and the row; `head` is what
// stands before them.
std::string NpyHead(int64_t samples);
// A row of it.
void AppendNpyRow(const MixOrder::Sample& sample, std::string* out);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_MIX_MIX_ORDER_H_
