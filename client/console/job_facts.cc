// Facts that a job's status has. A job's numbers come as counters with names such as
// "dataset.rejected.license"; a fate's number is the sum of all counters below its name. Texts of
// repositories and servers go through OneLine.

#include "client/console/job_facts.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "common/words/counted.h"
#include "common/words/enum_words.h"

namespace kernelmill::client {
namespace {

// The number of sources of a job that has ended. A source that a search or the pin stage lost has
// no fetch task, so these are added to the fetch tasks.
struct SourceCount {
  int64_t all = 0;
  int64_t failed = 0;
};

// Returns the sources of an ended job. Each source has one fetch task; of the stages before it only
// the failed tasks count, because a source that passed them is among the fetch tasks.
SourceCount CountSources(const v1::JobStatus& status) {
  SourceCount sources;
  for (const v1::StageProgress& stage : status.stages()) {
    const bool fetch = stage.stage() == "fetch";
    if (!fetch && stage.stage() != "pin" && stage.stage() != "discover") continue;
    sources.failed += stage.failed();
    sources.all += fetch ? stage.total() : stage.failed();
  }
  return sources;
}

}  // namespace

JobCounters::JobCounters(const v1::JobStatus& status) {
  for (const v1::Counter& counter : status.counters()) counters_[counter.name()] = counter.value();
}

int64_t JobCounters::Sum(const std::string& name) const {
  int64_t sum = 0;
  for (const auto& [key, value] : counters_) {
    if (key == name || absl::StartsWith(key, name + ".")) sum += value;
  }
  return sum;
}

std::vector<std::pair<std::string, int64_t>> JobCounters::Below(const std::string& name) const {
  std::vector<std::pair<std::string, int64_t>> below;
  for (const auto& [key, value] : counters_) {
    absl::string_view rest = key;
    if (value != 0 && absl::ConsumePrefix(&rest, name + ".")) below.emplace_back(rest, value);
  }
  std::stable_sort(below.begin(), below.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return below;
}

bool LostAllSources(const v1::JobStatus& status) {
  const SourceCount sources = CountSources(status);
  return status.state() == v1::JOB_STATE_DONE && sources.all > 0 && sources.failed >= sources.all;
}

std::string StateWords(const v1::JobStatus& status) {
  std::string word = ToWord(status.state());
  // A job whose sources all failed is DONE with an empty dataset; the words must not look like
  // success.
  if (!LostAllSources(status)) return word;
  const SourceCount sources = CountSources(status);
  if (sources.all == 1) return word + ", its source failed";
  return absl::StrCat(word, ", all ", sources.all, " sources failed");
}

int64_t CountListed(const v1::JobStatus& status) {
  return status.failures_size() -
         std::count_if(status.failures().begin(), status.failures().end(), IsUnmatched);
}

int64_t CountFailures(const v1::JobStatus& status) {
  return std::max<int64_t>(status.failure_count(), CountListed(status));
}

int64_t CountMissedGates(const v1::JobStatus& status) {
  return std::count_if(status.failures().begin(), status.failures().end(), IsMissedGate);
}

std::vector<manifest::Unmatched> ReadAllUnmatched(const v1::JobStatus& status) {
  std::vector<manifest::Unmatched> all;
  for (const v1::Failure& failure : status.failures()) {
    if (IsUnmatched(failure)) all.push_back(manifest::ReadUnmatched(failure.message()));
  }
  return all;
}

std::string FailureLine(const v1::Failure& failure) {
  std::string line = absl::StrCat(OneLine(failure.source()), "  ");
  if (!failure.path().empty()) absl::StrAppend(&line, OneLine(failure.path()), "  ");
  absl::StrAppend(&line, failure.stage(), "  ", failure.code(), ": ", OneLine(failure.message()));
  if (failure.files() > 0) absl::StrAppend(&line, " (", Counted(failure.files(), "file"), ")");
  return line;
}

std::string MissedGateLine(const v1::Failure& failure) {
  return absl::StrCat(OneLine(absl::StripPrefix(failure.path(), "gates.")), "  ",
                      OneLine(failure.message()));
}

}  // namespace kernelmill::client
