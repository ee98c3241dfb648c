#ifndef KERNELMILL_CLIENT_JOBS_PAGE_PAGE_STATE_H_
#define KERNELMILL_CLIENT_JOBS_PAGE_PAGE_STATE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/console/timeline.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// The content of the page of jobs, as JSON; web/src/api.ts has the types. Times are milliseconds
// since 1970, states are words: "running", "done", ...

// Returns the jobs, in the given order, without their stages and failures.
nlohmann::ordered_json JobsJson(const std::vector<v1::JobStatus>& jobs);

// Returns the workers with their running tasks.
nlohmann::ordered_json WorkersJson(const std::vector<v1::WorkerInfo>& workers);

// Returns all about a job: stages, failures (the first hundred), troubled tasks, counters, and of
// each stage how many of its tasks ran in each of 120 equal parts of the job's time.
nlohmann::ordered_json JobJson(const v1::JobStatus& status, const Timeline& timeline);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_JOBS_PAGE_PAGE_STATE_H_
