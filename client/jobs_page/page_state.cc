// The answers of a coordinator as the page needs them. Texts of repositories and servers go through
// SafeLine, so that no name turns or hides text.

#include "client/jobs_page/page_state.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/console/exit_code.h"
#include "client/console/job_facts.h"
#include "common/cas/digest.h"
#include "common/manifest/unmatched.h"
#include "common/text/safe_text.h"
#include "common/words/enum_words.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kParts = 120;  // a job is divided into so many equal times

Json HeadJson(const v1::JobStatus& status) {
  int64_t total = 0, done = 0, running = 0;
  for (const v1::StageProgress& stage : status.stages()) {
    total += stage.total();
    done += stage.done() + stage.failed();
    running += stage.running();
  }
  return {{"job", status.job()},
          {"name", SafeLine(status.name())},
          {"state", ToWord(status.state())},
          {"words", StateWords(status)},
          {"lost", LostAllSources(status)},
          {"owner", SafeLine(status.owner())},
          {"submitted", status.submitted_unix_ms()},
          {"ended", status.ended_unix_ms()},
          {"priority", status.priority()},
          {"runs", status.runs()},
          {"total", total},
          {"done", done},
          {"running", running},
          {"failures", CountFailures(status)}};
}

// Returns for each stage, in the order of their first attempts, the number of attempts that ran in
// each part of the time. An attempt counts in every part that it touches.
Json TimelineJson(const Timeline& timeline) {
  const int64_t begin = timeline.begin_ms();
  const int64_t time = std::max<int64_t>(1, timeline.end_ms() - begin);
  const auto part = [&](int64_t ms) {
    const int64_t at = (ms - begin) * static_cast<int64_t>(kParts) / time;
    return static_cast<size_t>(std::clamp<int64_t>(at, 0, kParts - 1));
  };
  std::vector<uint32_t> order;
  std::map<uint32_t, std::vector<int64_t>> changes;  // by stage: begins minus ends, by part
  for (const Span& span : timeline.spans()) {
    if (span.leased_ms == 0) continue;
    const auto [at, is_new] = changes.try_emplace(span.stage, kParts + 1, 0);
    if (is_new) order.push_back(span.stage);
    const int64_t end = span.ended_ms > 0 ? span.ended_ms : timeline.end_ms();
    ++at->second[part(span.leased_ms)];
    --at->second[part(end) + 1];
  }
  Json stages = Json::array();
  for (const uint32_t stage : order) {
    std::vector<int64_t> counts(kParts);
    int64_t running = 0;
    for (size_t i = 0; i < kParts; ++i) counts[i] = running += changes[stage][i];
    stages.push_back({{"stage", timeline.name(stage)}, {"counts", counts}});
  }
  return {{"begin", begin}, {"end", timeline.end_ms()}, {"stages", std::move(stages)}};
}

Json StagesJson(const v1::JobStatus& status) {
  Json stages = Json::array();
  for (const v1::StageProgress& stage : status.stages()) {
    if (stage.total() == 0) continue;
    stages.push_back({{"stage", stage.stage()},
                      {"total", stage.total()},
                      {"done", stage.done()},
                      {"cached", stage.cached()},
                      {"failed", stage.failed()},
                      {"running", stage.running()}});
  }
  return stages;
}

Json FailuresJson(const v1::JobStatus& status) {
  Json failures = Json::array();
  for (const v1::Failure& failure : status.failures()) {
    if (IsUnmatched(failure)) continue;
    failures.push_back({{"source", SafeLine(failure.source())},
                        {"path", SafeLine(failure.path())},
                        {"stage", failure.stage()},
                        {"code", failure.code()},
                        {"message", SafeLine(failure.message())}});
  }
  return failures;
}

// Returns the wishes of the job that match nothing. They are no failures.
Json UnmatchedJson(const v1::JobStatus& status) {
  Json list = Json::array();
  for (const manifest::Unmatched& one : ReadAllUnmatched(status)) {
    list.push_back(
        {{"where", SafeLine(one.where)}, {"text", SafeLine(manifest::UnmatchedText(one))}});
  }
  return list;
}

}  // namespace

Json JobsJson(const std::vector<v1::JobStatus>& jobs) {
  Json list = Json::array();
  for (const v1::JobStatus& status : jobs) list.push_back(HeadJson(status));
  return list;
}

Json WorkersJson(const std::vector<v1::WorkerInfo>& workers) {
  Json list = Json::array();
  for (const v1::WorkerInfo& worker : workers) {
    Json stages = Json::array();
    for (const v1::StageSupport& stage : worker.stages()) {
      stages.push_back(absl::StrCat(stage.stage(), " ", stage.version()));
    }
    Json running = Json::array();
    for (const v1::RunningTask& task : worker.running()) {
      running.push_back({{"job", task.job()},
                         {"stage", task.stage()},
                         {"source", SafeLine(task.source())},
                         {"attempt", task.attempt()},
                         {"leased", task.leased_unix_ms()}});
    }
    list.push_back({{"name", SafeLine(worker.name())},
                    {"caller", SafeLine(worker.caller())},
                    {"version", SafeLine(worker.version())},
                    {"stages", std::move(stages)},
                    {"slots", worker.slots()},
                    {"heard", worker.last_heard_unix_ms()},
                    {"running", std::move(running)}});
  }
  return list;
}

Json JobJson(const v1::JobStatus& status, const Timeline& timeline) {
  Json job = HeadJson(status);
  job["dataset"] = status.has_dataset() ? cas::ToString(status.dataset()) : "";
  job["stages"] = StagesJson(status);
  job["listed"] = FailuresJson(status);
  job["unmatched"] = UnmatchedJson(status);
  Json troubled = Json::array();
  for (const v1::Troubled& task : status.troubled()) {
    troubled.push_back({{"source", SafeLine(task.source())},
                        {"stage", task.stage()},
                        {"attempts", task.attempts()},
                        {"error", SafeLine(task.last_error())}});
  }
  job["troubled"] = std::move(troubled);
  Json unserved = Json::array();
  for (const v1::Unserved& stage : status.unserved()) {
    unserved.push_back(
        {{"stage", absl::StrCat(stage.stage(), " ", stage.version())}, {"tasks", stage.tasks()}});
  }
  job["unserved"] = std::move(unserved);
  Json counters = Json::object();
  for (const v1::Counter& counter : status.counters()) counters[counter.name()] = counter.value();
  job["counters"] = std::move(counters);
  job["timeline"] = TimelineJson(timeline);
  return job;
}

}  // namespace kernelmill::client
