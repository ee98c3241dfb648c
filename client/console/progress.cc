// The display of a job's progress. Three printers show them: bars for a terminal, lines for a log,
// JSON for a program. Printers hold a status back while they have written something a moment ago,
// and Tick, which LiveProgress calls on a thread of its own, writes it later.

#include "client/console/progress.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "client/console/output.h"
#include "client/console/watch.h"

namespace kernelmill::client {
namespace {

constexpr int kBarWidth = 24;
constexpr int kMostTroubled = 100;  // the most that a status lists

// Returns the bar of a stage: '=' for the finished share, then '>' until all is finished.
std::string Bar(const StageView& stage) {
  const int64_t finished = std::min(stage.done + stage.failed, stage.total);
  const int filled =
      stage.total == 0 ? 0 : static_cast<int>(kBarWidth * (1.0 * finished / stage.total));
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  return bar;
}

}  // namespace

std::string BarLine(const StageView& stage, int width) {
  std::string line = absl::StrFormat("%-9s [%s] %5d/%-5d", stage.stage, Bar(stage),
                                     stage.done + stage.failed, stage.total);
  if (AtWork(stage)) {
    if (stage.per_second > 0) absl::StrAppendFormat(&line, " %6.1f/s", stage.per_second);
    // The time so far shows that something happens.
    const bool unknown = stage.left == absl::InfiniteDuration();
    absl::StrAppend(&line, "  ", ShortDuration(unknown ? stage.at_work : stage.left),
                    unknown ? " so far" : " left");
  }
  if (stage.cached > 0) absl::StrAppend(&line, "  ", stage.cached, " cached");
  if (stage.failed > 0) absl::StrAppend(&line, "  ", stage.failed, " failed");
  return line.substr(0, std::max(width, 0));
}

std::string PlainLine(const StageView& stage) {
  std::string line = absl::StrCat(stage.stage, " ", stage.done + stage.failed, "/", stage.total);
  if (stage.cached > 0) absl::StrAppend(&line, ", ", stage.cached, " cached");
  if (stage.failed > 0) absl::StrAppend(&line, ", ", stage.failed, " failed");
  return line;
}

// The beginning of the coordinator's error for a task that waits for something.
constexpr absl::string_view kWaits = "waits for ";

std::string WaitLine(const v1::JobStatus& status) {
  const v1::Troubled* first = nullptr;
  int tasks = 0;
  for (const v1::Troubled& task : status.troubled()) {
    if (!absl::StartsWith(task.last_error(), kWaits)) continue;
    // Tasks mostly wait for the same thing, so the first one is shown for all.
    if (++tasks == 1) first = &task;
  }
  if (tasks == 0) return "";
  return OneLine(absl::StrCat(tasks, tasks >= kMostTroubled ? " or more" : "",
                              tasks == 1 ? " task waits for " : " tasks wait for ",
                              absl::StripPrefix(first->last_error(), kWaits)));
}

std::string TroubleLine(const v1::JobStatus& status) {
  // Tasks that wait are more important: they do not advance until something else changes.
  if (std::string waits = WaitLine(status); !waits.empty()) return waits;
  const int tasks = status.troubled_size();
  if (tasks == 0) return "";
  const v1::Troubled* worst = &status.troubled(0);
  for (const v1::Troubled& task : status.troubled()) {
    if (task.attempts() > worst->attempts()) worst = &task;
  }
  std::string line = absl::StrCat(tasks, tasks >= kMostTroubled ? " or more" : "",
                                  tasks == 1 ? " task is" : " tasks are", " tried again: ");
  absl::StrAppend(&line, worst->stage());
  if (!worst->source().empty()) absl::StrAppend(&line, " of ", worst->source());
  return OneLine(absl::StrCat(line, ": ", worst->last_error()));
}

namespace {

constexpr absl::Duration kLongTask = absl::Seconds(10);

}  // namespace

std::optional<HoldUp> FindHoldUp(const std::string& job, const std::vector<v1::WorkerInfo>& workers,
                                 absl::Time now) {
  std::optional<HoldUp> found;
  for (const v1::WorkerInfo& worker : workers) {
    for (const v1::RunningTask& task : worker.running()) {
      if (task.job() != job) continue;
      const absl::Duration time = now - absl::FromUnixMillis(task.leased_unix_ms());
      if (!found.has_value()) found = HoldUp{task.stage(), task.source(), time};
      // Tasks of the whole job have no source.
      if (task.source().empty() || task.source() != found->source) return std::nullopt;
      if (time > found->time) found = HoldUp{task.stage(), task.source(), time};
    }
  }
  if (found.has_value() && found->time < kLongTask) return std::nullopt;
  return found;
}

namespace {

constexpr absl::Duration kRedraw = absl::Milliseconds(100);
constexpr absl::Duration kIdleRedraw = absl::Seconds(1);
// Without a terminal a twentieth of the time so far passes between two lines, within these bounds.
constexpr absl::Duration kShortestPause = absl::Seconds(2);
constexpr absl::Duration kLongestPause = absl::Minutes(1);
constexpr int kPauses = 20;
constexpr absl::Duration kFindPause = absl::Seconds(3);
// The workers of a large cluster are many to list, so they are not while it is busy with the job.
constexpr int64_t kFewTasks = 32;

constexpr int kMaxLine = 200;  // columns of an error line without a terminal

// Returns one line for each problem that delays the job.
std::vector<std::string> FindProblems(const v1::JobStatus& status) {
  if (HasEnded(status)) return {};
  std::vector<std::string> remarks = UnservedLines(status);
  if (std::string trouble = TroubleLine(status); !trouble.empty()) {
    remarks.push_back(std::move(trouble));
  }
  return remarks;
}

std::string ReconnectingLine(const absl::Status& error) {
  return absl::StrCat("the coordinator does not answer; trying again: ", ErrorLine(error));
}

// Returns "only fetch of triton still runs", without the time, which is new each time.
std::string HoldUpLine(const HoldUp& hold_up) {
  return OneLine(absl::StrCat("only ", hold_up.stage, " of ", hold_up.source, " still runs"));
}

// Bars on a terminal. A status that arrives before the next redraw is held back; Tick draws it
// later, and redraws an old one each second, so that its times advance.
class ProgressBars : public ProgressPrinter {
 public:
  ProgressBars(Writer write, std::function<int()> width)
      : write_(std::move(write)), width_(std::move(width)) {}

  void Show(const v1::JobStatus& status, absl::Time now) override {
    tracker_.Update(status, now);
    held_back_ = status;
    if (now >= next_ || HasEnded(status)) Flush(now);
  }

  void ShowReconnecting(const absl::Status& error) override {
    held_back_.reset();
    // The bars are no longer true; the next status is drawn at once.
    shown_.reset();
    next_ = absl::InfinitePast();
    Draw({ReconnectingLine(error)});
  }

  void ShowHoldUp(const std::optional<HoldUp>& hold_up) override { hold_up_ = hold_up; }

  void Tick(absl::Time now) override {
    if (held_back_.has_value() && now >= next_) return Flush(now);
    // Without a new status the times are updated, so that a long task does not look like a hang.
    if (!shown_.has_value() || HasEnded(*shown_) || now < next_ + kIdleRedraw) return;
    tracker_.Update(*shown_, now);
    held_back_ = std::move(shown_);
    Flush(now);
  }

 private:
  void Flush(absl::Time now) {
    next_ = now + kRedraw;
    std::vector<std::string> remarks = FindProblems(*held_back_);
    if (hold_up_.has_value() && !HasEnded(*held_back_)) {
      remarks.push_back(
          absl::StrCat(HoldUpLine(*hold_up_), ", for ", ShortDuration(hold_up_->time)));
    }
    Draw(remarks);
    shown_ = std::move(held_back_);
    held_back_.reset();
  }

  // Draws the bars, and the remarks below them.
  void Draw(const std::vector<std::string>& remarks) {
    const int width = width_() - 1;
    std::vector<std::string> lines;
    for (const StageView& stage : tracker_.stages()) lines.push_back(BarLine(stage, width));
    for (const std::string& remark : remarks) lines.push_back(CutTo(remark, width));
    // Move up over the previous lines, clear and rewrite each, and clear the remaining ones.
    std::string text = drawn_ > 0 ? absl::StrCat("\x1b[", drawn_, "A") : "";
    for (const std::string& line : lines) absl::StrAppend(&text, "\r\x1b[2K", line, "\n");
    if (static_cast<int>(lines.size()) < drawn_) text += "\x1b[J";
    drawn_ = static_cast<int>(lines.size());
    write_(text);
  }

  const Writer write_;
  const std::function<int()> width_;
  ProgressTracker tracker_;
  absl::Time next_ = absl::InfinitePast();
  std::optional<v1::JobStatus> held_back_;  // shown at next_
  std::optional<v1::JobStatus> shown_;      // the status that the bars show
  std::optional<HoldUp> hold_up_;
  int drawn_ = 0;  // lines on the terminal
};

// Lines without a terminal. Only lines that changed since the last status are written.
class ProgressLines : public ProgressPrinter {
 public:
  explicit ProgressLines(Writer write) : write_(std::move(write)) {}

  void Show(const v1::JobStatus& status, absl::Time now) override {
    lost_.clear();
    ended_ = HasEnded(status);
    held_back_ = status;
    if (now >= next_ || ended_) Flush(now);
  }

  void ShowReconnecting(const absl::Status& error) override {
    lost_ = CutTo(ReconnectingLine(error), kMaxLine);
    WriteLine(lost_);
  }

  void ShowHoldUp(const std::optional<HoldUp>& hold_up) override {
    const std::string line = hold_up.has_value() ? CutTo(HoldUpLine(*hold_up), kMaxLine) : "";
    if (!line.empty() && line != hold_up_) WriteLine(line);
    hold_up_ = line;
  }

  void Tick(absl::Time now) override {
    now_ = now;
    if (quiet_since_ == absl::InfinitePast()) quiet_since_ = now;
    if (held_back_.has_value() && now >= next_) Flush(now);
    if (now >= quiet_since_ + kHeartbeat && !ended_) WriteLine(Heartbeat());
  }

 private:
  void WriteLine(const std::string& line) {
    write_(line + "\n");
    quiet_since_ = now_;
  }

  void Flush(absl::Time now) {
    now_ = now;
    if (begin_ == absl::InfinitePast()) begin_ = now;
    next_ = now + std::clamp((now - begin_) / kPauses, kShortestPause, kLongestPause);
    tracker_.Update(*held_back_, now);
    std::vector<std::string> news;
    for (const StageView& stage : tracker_.stages()) {
      std::string text = PlainLine(stage);
      // Only texts that changed are news.
      if (std::exchange(shown_[stage.stage], text) != text) news.push_back(std::move(text));
    }
    if (!news.empty()) WriteLine(absl::StrJoin(news, "; "));
    std::vector<std::string> remarks = FindProblems(*held_back_);
    // Cut first: two errors that differ only beyond the cut are the same news.
    for (std::string& remark : remarks) remark = CutTo(remark, kMaxLine);
    for (const std::string& remark : remarks) {
      if (std::count(remarks_.begin(), remarks_.end(), remark) == 0) WriteLine(remark);
    }
    remarks_ = std::move(remarks);
    held_back_.reset();
  }

  // Returns the line for a job that was silent for kHeartbeat: the stages at work and the open
  // problems, or that the coordinator does not answer.
  std::string Heartbeat() const {
    if (!lost_.empty()) return lost_;
    std::vector<std::string> at_work;
    for (const StageView& stage : tracker_.stages()) {
      if (AtWork(stage)) at_work.push_back(PlainLine(stage));
    }
    std::string line =
        absl::StrCat("still running", at_work.empty() ? "" : ": ", absl::StrJoin(at_work, "; "),
                     remarks_.empty() ? "" : "; ", absl::StrJoin(remarks_, "; "));
    if (!hold_up_.empty()) absl::StrAppend(&line, "; ", hold_up_);
    return CutTo(line, kMaxLine);
  }

  const Writer write_;
  ProgressTracker tracker_;
  absl::Time now_ = absl::InfinitePast();
  absl::Time begin_ = absl::InfinitePast();  // the time of the first line
  absl::Time next_ = absl::InfinitePast();
  absl::Time quiet_since_ = absl::InfinitePast();  // the last line's time, set by the first Tick
  std::optional<v1::JobStatus> held_back_;         // shown at next_
  bool ended_ = false;
  std::string lost_;  // the line about a coordinator that does not answer; empty: it answers
  std::map<std::string, std::string> shown_;  // the last line, by stage
  std::vector<std::string> remarks_;          // the last problems shown
  std::string hold_up_;                       // the last line about a source; empty: none
};

// One line of JSON for each status.
// A status is never held back: a program decides by itself what it reads. The heartbeat repeats the
// last line.
class ProgressJson : public ProgressPrinter {
 public:
  explicit ProgressJson(Writer write) : write_(std::move(write)) {}
  void Show(const v1::JobStatus& status, absl::Time now) override {
    now_ = now;
    ended_ = HasEnded(status);
    WriteLine(JsonLine("job", JobJson(status)));
  }
  void ShowReconnecting(const absl::Status& error) override {
    WriteLine(JsonLine("reconnecting", {{"error", ErrorLine(error)}}));
  }
  void ShowHoldUp(const std::optional<HoldUp>& hold_up) override {
    if (!hold_up.has_value()) return;
    write_(JsonLine("waiting", {{"stage", hold_up->stage},
                                {"source", hold_up->source},
                                {"seconds", absl::ToInt64Seconds(hold_up->time)}}));
  }
  void Tick(absl::Time now) override {
    now_ = now;
    if (quiet_since_ == absl::InfinitePast()) quiet_since_ = now;
    if (now >= quiet_since_ + kHeartbeat && !ended_ && !last_.empty()) {
      WriteLine(std::string(last_));
    }
  }

 private:
  void WriteLine(std::string line) {
    last_ = std::move(line);
    write_(last_);
    quiet_since_ = now_;
  }

  const Writer write_;
  absl::Time now_ = absl::InfinitePast();
  absl::Time quiet_since_ = absl::InfinitePast();
  std::string last_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ProgressPrinter> NewProgressBars(Writer write, std::function<int()> width) {
  return std::make_unique<ProgressBars>(std::move(write), std::move(width));
}

std::unique_ptr<ProgressPrinter> NewProgressLines(Writer write) {
  return std::make_unique<ProgressLines>(std::move(write));
}

std::unique_ptr<ProgressPrinter> NewProgressJson(Writer write) {
  return std::make_unique<ProgressJson>(std::move(write));
}

LiveProgress::LiveProgress(std::unique_ptr<ProgressPrinter> printer, absl::Duration interval)
    : interval_(interval), printer_(std::move(printer)), thread_([this] { Run(); }) {}

LiveProgress::~LiveProgress() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void LiveProgress::SetFindHoldUp(std::function<std::optional<HoldUp>()> find) {
  absl::MutexLock lock(&mutex_);
  find_ = std::move(find);
}

void LiveProgress::Show(const v1::JobStatus& status, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  int64_t running = 0;
  for (const v1::StageProgress& stage : status.stages()) running += stage.running();
  runs_few_ = !HasEnded(status) && running > 0 && running <= kFewTasks;
  printer_->Show(status, now);
}

void LiveProgress::ShowReconnecting(const absl::Status& error) {
  absl::MutexLock lock(&mutex_);
  runs_few_ = false;
  printer_->ShowReconnecting(error);
}

void LiveProgress::ShowHoldUp(const std::optional<HoldUp>& hold_up) {
  absl::MutexLock lock(&mutex_);
  printer_->ShowHoldUp(runs_few_ ? hold_up : std::nullopt);
}

void LiveProgress::Tick(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  printer_->Tick(now);
}

std::function<std::optional<HoldUp>()> LiveProgress::TakeFindHoldUp() {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  if (!runs_few_ || now < next_find_) return nullptr;
  next_find_ = now + kFindPause;
  return find_;
}

// Runs on the printer's own thread. The mutex is free while it waits or asks, and held while the
// printer works.
void LiveProgress::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stopping_), interval_)) return;
      printer_->Tick(absl::Now());
    }
    if (const auto find = TakeFindHoldUp()) ShowHoldUp(find());
  }
}

}  // namespace kernelmill::client
