#ifndef KERNELMILL_CLIENT_DIFF_PUBLISHED_ROWS_H_
#define KERNELMILL_CLIENT_DIFF_PUBLISHED_ROWS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::client {

// Returns whether the folder is a version that `kernelmill publish` wrote without JSON lines.
bool IsWithoutLines(const std::string& dir);

// Writes ledger.jsonl and kernels.jsonl, with what a diff reads of them, into the folder `to`, from
// the Parquet files of such a version. The Python module of the wheel does that
// (python/kernelmill/publication.py): this program writes Parquet and reads none.
// FAILED_PRECONDITION: there is no Python with the module and pyarrow.
absl::Status WritePublishedRows(const std::string& dir, const std::string& to);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_DIFF_PUBLISHED_ROWS_H_
