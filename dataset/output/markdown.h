#ifndef KERNELMILL_DATASET_OUTPUT_MARKDOWN_H_
#define KERNELMILL_DATASET_OUTPUT_MARKDOWN_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// Text in a cell of a Markdown table: what would end the cell, or be read as markup, is escaped.
std::string MarkdownCell(absl::string_view text);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_OUTPUT_MARKDOWN_H_
