#ifndef KERNELMILL_CLIENT_CONSOLE_OUTPUT_H_
#define KERNELMILL_CLIENT_CONSOLE_OUTPUT_H_

#include <string>
#include <vector>

#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/store.pb.h"

namespace kernelmill::client {

// What the answers of a coordinator and of a store look like: as text for a person, or as a JSON
// object on one line.

// What a person wants to know at the end of a job, on some lines. `out_dir` is where its dataset
// was written, empty if it was not.
std::string SummaryText(const v1::JobStatus& status, const std::string& out_dir);

// {"job":{...},"dataset":"hash/size","out":"...","exit":0}
std::string SummaryJson(const v1::JobStatus& status, const std::string& out_dir);

// The whole ledger as a table: files and kernels by fate and reason, stages, failures with their
// paths, and what is tried again. Those failures that the status has: a coordinator's answer names
// the first hundred.
std::string ReportText(const v1::JobStatus& status);

// A line a job, below a heading, with how many inputs failed; and one for each of its stages that
// no worker serves.
std::string JobsText(const std::vector<v1::JobStatus>& jobs);

// "triton-seeds-000007  cancelled": what became of it. A job whose every source failed is not just
// done: "triton-seeds-000007  done, all 3 sources failed".
std::string StateText(const v1::JobStatus& status);

// MessageJson with the paths of failures as text: what is not UTF-8 of them is replaced, and the
// exact bytes are then in "path_base64".
std::string StatusJson(const v1::JobStatus& status);

std::string StatText(const v1::StatResponse& stat);

// "120 of 4000 blobs, 1.5 GiB of 20.0 GiB read, 1 damaged"; `whole` is what the store said before.
std::string VerifyLine(const v1::VerifyProgress& progress, const v1::StatResponse& whole);
// What was read, then a line a damaged blob.
std::string VerifyText(const v1::VerifyProgress& last, bool dropped);

std::string GarbageText(const v1::CollectGarbageResponse& response);
std::string ForgetText(const v1::ForgetResultsResponse& response, bool dry_run);
std::string BackupText(const v1::BackupResponse& response);
// A line a backup that was dropped.
std::string PruneText(const v1::PruneBackupsResponse& response);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_OUTPUT_H_
