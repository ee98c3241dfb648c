#ifndef KERNELMILL_CLIENT_CONSOLE_JOB_FACTS_H_
#define KERNELMILL_CLIENT_CONSOLE_JOB_FACTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/manifest/unmatched.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// Facts that a job's status has, for texts and JSON.

// The counters of a job, such as "dataset.rejected.license".
class JobCounters {
 public:
  explicit JobCounters(const v1::JobStatus& status);

  // Returns the sum of a counter and of the counters below it: "dataset.rejected" includes
  // "dataset.rejected.*".
  int64_t Sum(const std::string& name) const;
  // Returns the counters below a name, without it: "license" for "dataset.rejected.license". The
  // largest first.
  std::vector<std::pair<std::string, int64_t>> Below(const std::string& name) const;

 private:
  std::map<std::string, int64_t> counters_;
};

// Returns whether all sources of a job failed that is done: its dataset is empty.
bool LostAllSources(const v1::JobStatus& status);
// Returns "done", "cancelled" or "done, all 3 sources failed".
std::string StateWords(const v1::JobStatus& status);

// Returns the number of failures. A status lists only the first ones, but counts all.
int64_t CountFailures(const v1::JobStatus& status);
// Returns the number of failures that the status lists, without what only matches nothing.
int64_t CountListed(const v1::JobStatus& status);
int64_t CountMissedGates(const v1::JobStatus& status);

std::vector<manifest::Unmatched> ReadAllUnmatched(const v1::JobStatus& status);

// Returns one line without a newline: source, path, stage, code and message, and the number of
// files if the failure covers several.
std::string FailureLine(const v1::Failure& failure);
// Returns "min_kept  480, but at least 500 is asked for".
std::string MissedGateLine(const v1::Failure& failure);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_JOB_FACTS_H_
