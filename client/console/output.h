#ifndef KERNELMILL_CLIENT_CONSOLE_OUTPUT_H_
#define KERNELMILL_CLIENT_CONSOLE_OUTPUT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernelmill/v1/coordinator.pb.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/store.pb.h"

namespace kernelmill::client {

// The answers of a coordinator and of a store as text for a person. All text ends with a newline.
// The end of a job is in summary.h.

// Returns the ledger as a table: files and kernels by fate and reason, stages, failures with their
// paths, and tasks that are tried again. It lists the failures in the status; a coordinator's
// answer has only the first hundred.
std::string ReportText(const v1::JobStatus& status);

// Returns one line for each job, below a heading, with its number of failed inputs; below it one
// line for each of its stages that no worker runs.
std::string JobsText(const std::vector<v1::JobStatus>& jobs);

// Returns "triton-seeds-000007  cancelled". If all sources failed: "triton-seeds-000007  done, all
// 3 sources failed".
std::string StateText(const v1::JobStatus& status);

// Returns MessageJson without the lock. The counters are an object; "unmatched" lists what the job
// asks for and what matches nothing, with the fields of manifest::Unmatched.
nlohmann::ordered_json JobJson(const v1::JobStatus& status);

// Returns one line for each worker, below a heading; below it one line for each of its tasks.
std::string WorkersText(const std::vector<v1::WorkerInfo>& workers, absl::Time now);

// Returns "no worker runs stage extract 7; start kernelmill-extractor: 18 tasks waiting" for each
// stage of the job that no worker runs, without a newline. If workers run other versions of the
// stage, the line says which.
std::vector<std::string> UnservedLines(const v1::JobStatus& status);

std::string StatText(const v1::StatResponse& stat);

// Returns "120 of 4000 blobs, 1.5 GiB of 20.0 GiB read, 1 damaged". `whole` is the store's Stat.
std::string VerifyLine(const v1::VerifyProgress& progress, const v1::StatResponse& whole);
// Returns the totals, then one line for each damaged blob.
std::string VerifyText(const v1::VerifyProgress& last, bool dropped);

std::string GarbageText(const v1::CollectGarbageResponse& response);
std::string ForgetText(const v1::ForgetResultsResponse& response, bool dry_run);
std::string BackupText(const v1::BackupResponse& response);
std::string BackupsText(const v1::ListBackupsResponse& response);
// Returns one line for each dropped backup.
std::string PruneText(const v1::PruneBackupsResponse& response);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_OUTPUT_H_
