#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_MARKDOWN_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_MARKDOWN_H_

#include <string>

#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// ANALYSIS.md: what AnalysisJson has, as tables for people.
std::string AnalysisMarkdown(const Json& analysis);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_MARKDOWN_H_
