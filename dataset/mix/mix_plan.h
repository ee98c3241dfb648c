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

// The properties of a row of the split train that a mix needs.
struct MixRow {
  uint32_t row = 0;             // its line in the file, from 0
  uint32_t tokens = 0;          // cl100k_base
  int32_t source = 0;           // in the manifest
  int16_t tier = 0;             // its kernel's tier of quality; 0: the kernel is gone
  uint8_t language = 0;         // dsl::GetNumber
  uint8_t template_number = 0;  // a conversation's
};

// The rows of each file, in their order, by config: "kernels", "fim", "instruct", "files".
using MixRows = std::map<std::string, std::vector<MixRow>>;

// The plan of a part of a phase.
struct PartPlan {
  v1::MixPart part;
  std::vector<MixRow> rows;  // the rows that fit; empty for an outside corpus
  int64_t unique_tokens = 0;
  int64_t tokens = 0;   // the tokens that the phase reads from it
  double share = 0;     // its share of the phase's tokens
  double epochs = 0;    // tokens / unique_tokens
  std::string warning;  // or empty
};

struct PhasePlan {
  std::string name;
  int64_t tokens = 0;  // as the job says, or else the sum of the parts
  std::vector<PartPlan> parts;
};

// Divides the tokens of each phase among its parts. Parts with `epochs` get that many times their
// unique tokens; the others share the rest by weight. `fits` returns true if a part wants a row.
std::vector<PhasePlan> PlanMix(const v1::Mix& mix, const MixRows& rows,
                               absl::FunctionRef<bool(const v1::MixPart&, const MixRow&)> fits);

// Returns true if any part draws from the config, so that its rows are needed.
bool MixDrawsFrom(const v1::Mix& mix, absl::string_view config);

// Makes mix.json: the plan, and for each phase the file with its order (`indexes`) and its number
// of samples.
Json MixJson(const v1::Mix& mix, const std::vector<PhasePlan>& phases,
             const std::vector<std::string>& indexes, const std::vector<int64_t>& samples);

// Returns the file that a part draws from, "kernels" by default.
std::string FindConfig(const v1::MixPart& part);
// Returns the template whose conversations a part draws alone; empty if it does not name one.
std::string FindTemplate(const v1::MixPart& part);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_MIX_MIX_PLAN_H_
