#ifndef KERNELMILL_CLIENT_CONSOLE_WORKERS_H_
#define KERNELMILL_CLIENT_CONSOLE_WORKERS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// A line a worker, below a heading, and one for each task that it holds.
std::string WorkersText(const std::vector<v1::WorkerInfo>& workers, absl::Time now);

// "no worker for extract 7 (2 of version 6 are connected): 18 tasks wait", for each stage of the
// job that no worker serves; without a newline.
std::vector<std::string> UnservedLines(const v1::JobStatus& status);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_WORKERS_H_
