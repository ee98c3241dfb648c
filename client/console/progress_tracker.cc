// The basic idea of the time left: it is a time of day, the expected end, and the display counts
// down to it. So it does not climb while nothing finishes.
//
// The end is unknown while an earlier stage may still make tasks, and until some tasks have
// finished. It is estimated anew when a task has finished, from the rate of the last minute, or
// of the last 16 tasks if they are slow. An earlier end is approached in steps. A later one is
// shown only if the time left grows by more than a quarter: that is the reason for a climb. An end
// that has passed is unknown again.

#include "client/console/progress_tracker.h"

#include <algorithm>

namespace kernelmill::client {
namespace {

constexpr absl::Duration kWindow = absl::Minutes(1);
constexpr int64_t kWindowTasks = 16;
// Before that an estimate says nothing.
constexpr int64_t kFewestTasks = 3;
constexpr absl::Duration kShort = absl::Seconds(2);

constexpr double kStep = 0.3;
constexpr double kClimb = 1.25;
constexpr absl::Duration kClimbAtLeast = absl::Seconds(5);

}  // namespace

bool AtWork(const StageView& stage) { return stage.done + stage.failed < stage.total; }

void TimeLeft::Update(int64_t finished, int64_t total, bool total_known, absl::Time now) {
  total_ = total;
  const bool now_known = total_known && !total_known_;
  total_known_ = total_known;
  if (first_ < 0) {
    first_ = finished;
    samples_.emplace_back(now, finished);
    return;
  }
  const bool is_news = finished != samples_.back().second;
  if (is_news) samples_.emplace_back(now, finished);
  while (samples_.size() > 2 && now - samples_[1].first >= kWindow &&
         finished - samples_[1].second >= kWindowTasks) {
    samples_.pop_front();
  }
  if (is_news || now_known) Estimate(now);
  if (!total_known_) end_ = absl::InfiniteFuture();
}

void TimeLeft::Estimate(absl::Time now) {
  const int64_t finished = samples_.back().second;
  const absl::Duration time = now - samples_.front().first;
  if (finished - first_ < kFewestTasks || time < kShort) return;
  rate_ = static_cast<double>(finished - samples_.front().second) / absl::ToDoubleSeconds(time);
  if (rate_ <= 0) return;
  const absl::Duration left = absl::Seconds(static_cast<double>(total_ - finished) / rate_);
  const absl::Duration shown = end_ - now;
  if (shown <= absl::ZeroDuration() || end_ == absl::InfiniteFuture()) {
    end_ = now + left;
  } else if (left < shown) {
    end_ -= (shown - left) * kStep;
  } else if (left > shown * kClimb + kClimbAtLeast) {
    end_ = now + left;
  }
}

absl::Duration TimeLeft::Get(absl::Time now) const {
  if (end_ == absl::InfiniteFuture() || end_ <= now) return absl::InfiniteDuration();
  return end_ - now;
}

void ProgressTracker::Update(const v1::JobStatus& status, absl::Time now) {
  stages_.clear();
  bool total_known = true;  // no earlier stage is at work
  for (const v1::StageProgress& stage : status.stages()) {
    // A stage without tasks is not shown: it may not have begun, or the job does not need it.
    if (stage.total() == 0) continue;
    const int64_t finished = stage.done() + stage.failed();
    StageView view = {stage.stage(),           stage.total(),  stage.done(),
                      stage.cached(),          stage.failed(), 0,
                      absl::InfiniteDuration()};
    // A stage starts with the first task that runs or is done.
    if (finished > 0 || stage.running() > 0) {
      Stage& begun = begun_.try_emplace(stage.stage(), Stage{now, {}}).first->second;
      begun.left.Update(finished, stage.total(), total_known, now);
      view.at_work = now - begun.begin;
      view.per_second = begun.left.GetRate();
      view.left = begun.left.Get(now);
    }
    if (AtWork(view)) {
      total_known = false;
    } else {
      view.left = absl::ZeroDuration();
    }
    stages_.push_back(std::move(view));
  }
}

}  // namespace kernelmill::client
