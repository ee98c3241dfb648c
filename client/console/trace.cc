#include "client/console/trace.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kQueueProcess = 1;  // workers follow
constexpr size_t kPieceBytes = 1 << 20;

// Writes the events of a list, with commas between them.
class Events {
 public:
  explicit Events(const std::function<absl::Status(absl::string_view)>& write) : write_(write) {}

  void Raw(absl::string_view text) { absl::StrAppend(&piece_, text); }
  absl::Status Add(const Json& event) {
    absl::StrAppend(&piece_, first_ ? "\n" : ",\n",
                    event.dump(-1, ' ', false, Json::error_handler_t::replace));
    first_ = false;
    return piece_.size() < kPieceBytes ? absl::OkStatus() : Flush();
  }
  absl::Status Flush() {
    const std::string piece = std::exchange(piece_, "");
    return write_(piece);
  }

 private:
  const std::function<absl::Status(absl::string_view)>& write_;
  std::string piece_;
  bool first_ = true;
};

Json NameEvent(const char* kind, int process, int row, const std::string& name) {
  return {{"ph", "M"}, {"name", kind}, {"pid", process}, {"tid", row}, {"args", {{"name", name}}}};
}

Json Slice(int process, int row, const std::string& name, int64_t ts, int64_t dur) {
  return {{"ph", "X"},  {"name", name}, {"cat", "task"}, {"pid", process},
          {"tid", row}, {"ts", ts},     {"dur", dur}};
}

class Trace {
 public:
  Trace(const Timeline& timeline, Events& events)
      : timeline_(timeline), events_(events), zero_us_(timeline.begin_ms() * 1000) {}

  absl::Status Write() {
    RETURN_IF_ERROR(events_.Add(NameEvent("process_name", kQueueProcess, 0, "queue")));
    std::vector<const Span*> ran;
    for (const Span& span : timeline_.spans()) {
      RETURN_IF_ERROR(AddWait(span));
      if (span.leased_ms > 0 && span.ended_ms > 0) ran.push_back(&span);
    }
    std::sort(ran.begin(), ran.end(),
              [](const Span* a, const Span* b) { return a->began_us() < b->began_us(); });
    for (const Span* const span : ran) RETURN_IF_ERROR(AddRun(*span));
    return absl::OkStatus();
  }

 private:
  struct Worker {
    int process = 0;
    std::vector<int64_t> free_from;  // by row
  };

  absl::Status AddWait(const Span& span) {
    if (span.leased_ms == 0) return absl::OkStatus();
    const std::string id = absl::StrCat(span.task, "/", span.attempt);
    const int64_t begin = span.ready_ms * 1000 - zero_us_;
    for (const auto& [phase, ts] : {std::pair("b", begin), std::pair("e", begin + Wait(span))}) {
      RETURN_IF_ERROR(events_.Add({{"ph", phase},
                                   {"name", timeline_.name(span.stage)},
                                   {"cat", "queue"},
                                   {"id", id},
                                   {"pid", kQueueProcess},
                                   {"tid", 0},
                                   {"ts", ts}}));
    }
    return absl::OkStatus();
  }
  static int64_t Wait(const Span& span) { return std::max<int64_t>(span.queued_us(), 0); }

  absl::Status AddRun(const Span& span) {
    Worker& worker = workers_[span.worker];
    if (worker.process == 0) {
      worker.process = kQueueProcess + static_cast<int>(workers_.size());
      const std::string& name = timeline_.name(span.worker);
      RETURN_IF_ERROR(events_.Add(NameEvent("process_name", worker.process, 0,
                                            name.empty() ? "a worker without a name" : name)));
    }
    ASSIGN_OR_RETURN(const int row, RowFor(span, worker));
    const int64_t begin = span.began_us() - zero_us_;
    Json slice = Slice(worker.process, row, timeline_.name(span.stage), begin,
                       span.done_us() - span.began_us());
    slice["args"] = {{"source", timeline_.name(span.source)},
                     {"task", std::to_string(span.task)},
                     {"attempt", span.attempt},
                     {"outcome", timeline_.name(span.outcome)}};
    RETURN_IF_ERROR(events_.Add(slice));
    int64_t ts = begin;
    for (const auto& [name, took] :
         {std::pair("lookup", span.lookup_us), std::pair("run", span.run_us),
          std::pair("store", span.store_us)}) {
      if (took > 0) RETURN_IF_ERROR(events_.Add(Slice(worker.process, row, name, ts, took)));
      ts += took;
    }
    return absl::OkStatus();
  }

  // The worker's first row that is free: what ran at the same time lies on rows of its own.
  absl::StatusOr<int> RowFor(const Span& span, Worker& worker) {
    size_t row = 0;
    while (row < worker.free_from.size() && worker.free_from[row] > span.began_us()) ++row;
    if (row == worker.free_from.size()) {
      worker.free_from.push_back(0);
      RETURN_IF_ERROR(
          events_.Add(NameEvent("thread_name", worker.process, static_cast<int>(row) + 1,
                                absl::StrCat("slot ", row + 1))));
    }
    worker.free_from[row] = span.done_us();
    return static_cast<int>(row) + 1;
  }

  const Timeline& timeline_;
  Events& events_;
  const int64_t zero_us_;
  std::map<uint32_t, Worker> workers_;
};

}  // namespace

absl::Status WriteTrace(const Timeline& timeline, const std::string& job,
                        const std::function<absl::Status(absl::string_view)>& write) {
  Events events(write);
  events.Raw(absl::StrCat(R"({"displayTimeUnit":"ms","otherData":)", Json({{"job", job}}).dump(),
                          R"(,"traceEvents":[)"));
  RETURN_IF_ERROR(Trace(timeline, events).Write());
  events.Raw("\n]}\n");
  return events.Flush();
}

}  // namespace kernelmill::client
