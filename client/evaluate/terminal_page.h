#ifndef KERNELMILL_CLIENT_EVALUATE_TERMINAL_PAGE_H_
#define KERNELMILL_CLIENT_EVALUATE_TERMINAL_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// Returns a page of ReportPage for a terminal: paragraphs broken at `width` columns, tables with
// aligned columns, and cells cut so that each row fits. Texts of models stay escaped for terminals.
std::string TerminalPage(absl::string_view page, int width);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_TERMINAL_PAGE_H_
