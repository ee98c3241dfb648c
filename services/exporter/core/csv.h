#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_CSV_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_CSV_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::exporter {

// One record as RFC 4180 has it: fields with a comma, quote or line end in quotes, quotes doubled,
// ended by \r\n.
std::string CsvRow(const std::vector<absl::string_view>& fields);

// Code as text for a CSV field: UTF-8, repaired where need be, with \r\n as \n. Indentation stays.
std::string CsvText(absl::string_view code);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_CSV_H_
