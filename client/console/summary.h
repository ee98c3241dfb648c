#ifndef KERNELMILL_CLIENT_CONSOLE_SUMMARY_H_
#define KERNELMILL_CLIENT_CONSOLE_SUMMARY_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/console/busy_times.h"
#include "client/console/style.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// Kernels and whole files of a source that an output folder had before, and what it lacks of them.
struct LostFromSource {
  std::string source;
  int64_t before = 0;
  int64_t lost = 0;
  std::map<std::string, int64_t> reasons;  // why they are lost: "no longer found"
};

// The end of a job, as the commands that wait for it show it.
struct Summary {
  v1::JobStatus status;
  std::string out_dir;               // the dataset was written to; empty: it was not
  absl::Duration write_time;         // of that folder
  std::vector<LostFromSource> lost;  // what that folder lacks, those with the most first
  // Kept kernels by what came of their references and of their tasks; nullopt: the job has none, or
  // they were not counted, since nothing was written.
  std::optional<std::map<std::string, int64_t>> references;
  std::optional<std::map<std::string, int64_t>> tasks;
  // Changes of kernels that are rows, and those withheld by reason; nullopt as above.
  std::optional<std::map<std::string, int64_t>> history;
  // Rows of these that are "judged" by a compiler on both sides, "repairs" and "breaks".
  std::optional<std::map<std::string, int64_t>> turns;
  std::optional<BusyTimes> busy;  // nullopt: unknown
  bool is_embedded = false;       // the job's coordinator ends with the command
  std::string cluster_flags;      // that further commands need, " --coordinator host:1"; or empty
};

// Returns what a person wants to know, on one screen for a usual job: what was kept and what not,
// with the reasons; the problems; where the time went; where the dataset is; and what to do next.
std::vector<LabelledLine> SummaryLines(const Summary& summary);

// Returns the same as a line of type "summary".
std::string SummaryJson(const Summary& summary);

// Returns the lines for missed gates, for what matches nothing (at most `most` of these) and for
// failures (likewise). `rest` says where those are that are not shown.
std::vector<LabelledLine> ProblemLines(const v1::JobStatus& status, int64_t most,
                                       absl::string_view rest);

// Returns the lines about changes of kernels; none if no source of the job has a history.
std::vector<LabelledLine> HistoryLines(const v1::JobStatus& status);

// Returns the first lines of a summary and of a report: the job with its state and time, and its
// dataset.
std::vector<LabelledLine> HeadLines(const v1::JobStatus& status);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_SUMMARY_H_
