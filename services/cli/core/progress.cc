#include "services/cli/core/progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/cli/core/outcome.h"

namespace kernelmill::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr int kMostTroubled = 100;  // that a status lists

std::string Bar(const StageView& stage) {
  const int64_t finished = std::min(stage.done + stage.failed, stage.total);
  const int filled =
      stage.total == 0 ? 0 : static_cast<int>(kBarWidth * (1.0 * finished / stage.total));
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  return bar;
}

bool AtWork(const StageView& stage) { return stage.done + stage.failed < stage.total; }

}  // namespace

void ProgressTracker::Update(const v1::JobStatus& status, absl::Time now) {
  stages_.clear();
  for (const v1::StageProgress& stage : status.stages()) {
    if (stage.total() == 0) continue;
    const int64_t finished = stage.done() + stage.failed();
    // A stage starts with the first task that runs or is done.
    if (finished > 0 || stage.running() > 0) {
      starts_.try_emplace(stage.stage(), Start{now, finished});
    }
    StageView view = {stage.stage(),           stage.total(),  stage.done(),
                      stage.cached(),          stage.failed(), 0,
                      absl::InfiniteDuration()};
    const auto start = starts_.find(stage.stage());
    if (start != starts_.end() && now > start->second.time) {
      view.per_second = static_cast<double>(finished - start->second.finished) /
                        absl::ToDoubleSeconds(now - start->second.time);
    }
    if (!AtWork(view)) view.left = absl::ZeroDuration();
    if (AtWork(view) && view.per_second > 0) {
      view.left = absl::Seconds(static_cast<double>(view.total - finished) / view.per_second);
    }
    stages_.push_back(view);
  }
}

std::string BarLine(const StageView& stage, int width) {
  std::string line = absl::StrFormat("%-9s [%s] %5d/%-5d", stage.stage, Bar(stage),
                                     stage.done + stage.failed, stage.total);
  if (AtWork(stage)) {
    if (stage.per_second > 0) absl::StrAppendFormat(&line, " %6.1f/s", stage.per_second);
    absl::StrAppend(&line, "  ", ShortDuration(stage.left), " left");
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

std::string TroubleLine(const v1::JobStatus& status) {
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

std::string CutTo(const std::string& line, int width) {
  size_t end = 0;
  for (int columns = 0; end < line.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(line[end]) & 0xc0) != 0x80;
    if (starts && ++columns > width) break;
  }
  return line.substr(0, end);
}

std::string ShortDuration(absl::Duration duration) {
  if (duration > absl::Hours(1000)) return "?";
  const int64_t seconds = absl::ToInt64Seconds(absl::Ceil(duration, absl::Seconds(1)));
  if (seconds < 3600) return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
  return absl::StrFormat("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace kernelmill::cli
