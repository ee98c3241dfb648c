#ifndef KERNELMILL_DATASET_ANALYSIS_ANALYSIS_JSON_H_
#define KERNELMILL_DATASET_ANALYSIS_ANALYSIS_JSON_H_

#include "absl/strings/string_view.h"
#include "dataset/analysis/analysis.h"
#include "dataset/output/json.h"

namespace kernelmill::dataset {

// ANALYSIS.json. No field's name is data: what is counted by word is a list with a `name` each, the
// most kept first, then by name.
Json AnalysisJson(absl::string_view name, absl::string_view dataset, const Analysis& analysis);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ANALYSIS_ANALYSIS_JSON_H_
