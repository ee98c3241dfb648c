#ifndef KERNELMILL_DATASET_MIX_MIX_PLAN_H_
#define KERNELMILL_DATASET_MIX_MIX_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "dataset/output/json.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::dataset {

// What a mix has to know of a row of the split train.
struct MixRow {
  uint32_t row = 0;     // its line in the file, from 0
  uint32_t number = 0;  // of its kernel
  uint32_t tokens = 0;  // cl100k_base
  int32_t tier = 0;     // of the kernel's quality
};

// The rows of each file, in their order, by config: "kernels", "fim", "instruct", "files".
using MixRows = std::map<std::string, std::vector<MixRow>>;

// What a part of a phase comes to.
struct PartPlan {
  v1::MixPart part;
  std::vector<MixRow> rows;  // that it draws from; none of an outside corpus
  int64_t unique_tokens = 0;
  int64_t tokens = 0;   // that the phase reads of it
  double share = 0;     // of the phase's tokens
  double epochs = 0;    // tokens / unique_tokens
  std::string warning;  // empty: none
};

struct PhasePlan {
  std::string name;
  int64_t tokens = 0;  // asked for; where the job gives none, the sum of the parts'
  std::vector<PartPlan> parts;
};

// Divides the tokens of each phase among its parts: those with `epochs` get that many times their
// unique tokens, the others share what is left by weight. `fits` says whether a part wants a row.
std::vector<PhasePlan> PlanMix(const v1::Mix& mix, const MixRows& rows,
                               absl::FunctionRef<bool(const v1::MixPart&, const MixRow&)> fits);

// Whether any part draws from the config, so that its rows need to be known.
bool MixDrawsFrom(const v1::Mix& mix, absl::string_view config);

// mix.json: the plan, the file with the order of each phase (`indexes`, by phase) and how many
// samples it has.
Json MixJson(const v1::Mix& mix, const std::vector<PhasePlan>& phases,
             const std::vector<std::string>& indexes, const std::vector<int64_t>& samples);

// The config of a part: what it names, else kernels.
std::string FindConfig(const v1::MixPart& part);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_MIX_MIX_PLAN_H_
