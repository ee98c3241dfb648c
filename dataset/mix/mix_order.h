#ifndef KERNELMILL_DATASET_MIX_MIX_ORDER_H_
#define KERNELMILL_DATASET_MIX_MIX_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataset/mix/mix_plan.h"

namespace kernelmill::dataset {

// The order in which a phase reads its rows. It depends only on the plan and the seed. It skips
// outside corpora, whose rows are unknown. Not thread-safe.
//
// The basic idea: each part is read in epochs, each shuffled anew. Every step reads from the part
// that is furthest behind: the one with the smallest share of its tokens read. So every stretch of
// the order is mixed like the whole.
class MixOrder {
 public:
  // `plan` must outlive it.
  MixOrder(const PhasePlan& plan, uint64_t seed);

  struct Sample {
    uint32_t part = 0;  // the index in the phase
    uint32_t row = 0;   // MixRow.row
  };

  // Returns the next sample, or false when every part has been read to its tokens.
  bool Next(Sample* sample);

 private:
  struct Reading {
    std::vector<uint32_t> order;  // this epoch's, as indices in PartPlan.rows
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

// Makes the head of a file for numpy.load, which has `samples` rows of two uint32: part and row.
std::string NpyHead(int64_t samples);
// Appends a row of that file.
void AppendNpyRow(const MixOrder::Sample& sample, std::string* out);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_MIX_MIX_ORDER_H_
