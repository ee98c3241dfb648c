#ifndef KERNELMILL_DATASET_ANALYSIS_ANALYSIS_MARKDOWN_H_
#define KERNELMILL_DATASET_ANALYSIS_ANALYSIS_MARKDOWN_H_

#include <string>

#include "dataset/output/json.h"

namespace kernelmill::dataset {

// ANALYSIS.md: what AnalysisJson has, as tables for people.
std::string AnalysisMarkdown(const Json& analysis);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ANALYSIS_ANALYSIS_MARKDOWN_H_
