#ifndef KERNELMILL_COMMON_JOB_CSV_H_
#define KERNELMILL_COMMON_JOB_CSV_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::job {

// Comma-separated values as RFC 4180 has them.

// A row of a CSV file.
struct CsvRecord {
  int line = 0;  // that it begins on, from 1
  std::vector<std::string> fields;
};

// A field may stand in quotes, and then hold commas, line ends and quotes that are doubled. Lines
// may end in LF alone; empty ones are passed over.
// INVALID_ARGUMENT, by FileError: a quote in the middle of a field, or one that is never closed.
absl::StatusOr<std::vector<CsvRecord>> ParseCsv(absl::string_view text, absl::string_view file);

// INVALID_ARGUMENT, by FileError: the record has not as many fields as the header.
absl::Status CheckFieldCount(const CsvRecord& header, const CsvRecord& record,
                             absl::string_view file);

// One record to write: fields with a comma, quote or line end in quotes, ended by \r\n.
std::string CsvRow(const std::vector<absl::string_view>& fields);

// Code as text for a field: UTF-8, repaired where need be, with \r\n as \n. Indentation stays.
std::string CsvText(absl::string_view code);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_CSV_H_
