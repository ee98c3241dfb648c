#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_JSON_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_JSON_H_

#include "absl/strings/string_view.h"
#include "services/exporter/core/analysis/analysis.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// ANALYSIS.json. No field's name is data: what is counted by word is a list with a `name` each, the
// most kept first, then by name.
Json AnalysisJson(absl::string_view name, absl::string_view dataset, const Analysis& analysis);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_JSON_H_
