#ifndef KERNELMILL_SERVICES_CLI_CORE_OUTCOME_H_
#define KERNELMILL_SERVICES_CLI_CORE_OUTCOME_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::cli {

// What the program exits with.
enum ExitCode {
  kDone = 0,
  kInputsFailed = 1,  // finished, but some inputs failed; or it could not be finished
  kRequestWrong = 2,
  kOutOfReach = 3,
  kInterrupted = 130,  // by the user, as shells have it
};

// Of an error: the request is wrong (2), the cluster is out of reach (3), anything else (1).
int ExitCodeOf(const absl::Status& status);

// Of a job that has ended.
int ExitCodeOf(const v1::JobStatus& status);

// An error as one line, without a newline at its end.
std::string ErrorLine(const absl::Status& status);

// What a person wants to know at the end of a job, on some lines. `out_dir` is where its dataset
// was written, empty if it was not.
std::string SummaryText(const v1::JobStatus& status, const std::string& out_dir);

// The whole ledger as a table: files and kernels by fate and reason, stages, failures with their
// paths, and what is tried again.
std::string ReportText(const v1::JobStatus& status);

// A line a job, below a heading.
std::string JobsText(const std::vector<v1::JobStatus>& jobs);

// "triton-seeds-000007  cancelled": what became of it.
std::string StateText(const v1::JobStatus& status);

// Text of repositories and servers, fit for one line of a terminal: in UTF-8, without control
// characters.
std::string OneLine(absl::string_view text);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CORE_OUTCOME_H_
