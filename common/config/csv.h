#ifndef KERNELMILL_COMMON_CONFIG_CSV_H_
#define KERNELMILL_COMMON_CONFIG_CSV_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::config {

// A row of a CSV file.
struct CsvRecord {
  int line = 0;  // that it begins on, from 1
  std::vector<std::string> fields;
};

// Comma-separated values as RFC 4180 has them: a field may stand in quotes, and then hold commas,
// line ends and quotes that are doubled. Lines may end in LF alone; empty ones are passed over.
// INVALID_ARGUMENT, by FileError: a quote in the middle of a field, or one that is never closed.
absl::StatusOr<std::vector<CsvRecord>> ParseCsv(absl::string_view text, absl::string_view file);

// INVALID_ARGUMENT, by FileError: the record has not as many fields as the header.
absl::Status CheckFieldCount(const CsvRecord& header, const CsvRecord& record,
                             absl::string_view file);

}  // namespace kernelmill::config

#endif  // KERNELMILL_COMMON_CONFIG_CSV_H_
