#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_MARKDOWN_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_MARKDOWN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// ANALYSIS.md: what AnalysisJson has, as tables for people.
std::string AnalysisMarkdown(const Json& analysis);

// Text in a cell of a Markdown table: what would end the cell, or be read as markup, is escaped.
std::string Cell(absl::string_view text);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_ANALYSIS_ANALYSIS_MARKDOWN_H_
