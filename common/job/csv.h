#ifndef KERNELMILL_COMMON_JOB_CSV_H_
#define KERNELMILL_COMMON_JOB_CSV_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::job {

// Comma-separated values, RFC 4180.

// A row of a CSV file.
struct CsvRecord {
  int line = 0;  // the first of its lines, from 1
  std::vector<std::string> fields;
};

// Returns the rows of a CSV file, its header too. A quoted field may hold commas, line ends and
// doubled quotes. Lines may end in LF alone, and empty lines are skipped. `file` is for error
// messages.
// INVALID_ARGUMENT (FileError): a quote in the middle of an unquoted field, or one that is not
// closed.
absl::StatusOr<std::vector<CsvRecord>> ParseCsv(absl::string_view text, absl::string_view file);

// Checks that the record has as many fields as the header. INVALID_ARGUMENT (FileError) if not.
absl::Status CheckFieldCount(const CsvRecord& header, const CsvRecord& record,
                             absl::string_view file);

// Returns one record to write, ended by \r\n. Fields with a comma, quote or line end are quoted.
std::string CsvRow(const std::vector<absl::string_view>& fields);

// Returns code as text for a field: valid UTF-8, with \r\n as \n. Indentation stays.
std::string CsvText(absl::string_view code);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_CSV_H_
