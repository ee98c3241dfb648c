#include "services/kernelmill/core/reporter.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/kernelmill/core/outcome.h"
#include "services/kernelmill/core/progress.h"
#include "services/kernelmill/core/watch.h"

namespace kernelmill::client {
namespace {

constexpr absl::Duration kRedraw = absl::Milliseconds(100);
constexpr absl::Duration kPlainPause = absl::Seconds(2);

class BarReporter : public Reporter {
 public:
  BarReporter(Writer write, std::function<int()> width)
      : write_(std::move(write)), width_(std::move(width)) {}

  void Show(const v1::JobStatus& status, absl::Time now) override {
    tracker_.Update(status, now);
    if (now < next_ && !HasEnded(status)) return;
    next_ = now + kRedraw;
    // Up over the bars of last time; each line is cleared before it is written anew.
    std::string text = drawn_ > 0 ? absl::StrCat("\x1b[", drawn_, "A") : "";
    for (const StageView& stage : tracker_.stages()) {
      absl::StrAppend(&text, "\r\x1b[2K", BarLine(stage, width_() - 1), "\n");
    }
    drawn_ = static_cast<int>(tracker_.stages().size());
    write_(text);
  }

 private:
  const Writer write_;
  const std::function<int()> width_;
  ProgressTracker tracker_;
  absl::Time next_ = absl::InfinitePast();
  int drawn_ = 0;  // lines
};

class PlainReporter : public Reporter {
 public:
  explicit PlainReporter(Writer write) : write_(std::move(write)) {}

  void Show(const v1::JobStatus& status, absl::Time now) override {
    if (now < next_ && !HasEnded(status)) return;
    next_ = now + kPlainPause;
    tracker_.Update(status, now);
    for (const StageView& stage : tracker_.stages()) {
      const std::string line = PlainLine(stage);
      std::string& shown = shown_[stage.stage];
      if (line == shown) continue;
      shown = line;
      write_(line + "\n");
    }
  }

 private:
  const Writer write_;
  ProgressTracker tracker_;
  absl::Time next_ = absl::InfinitePast();
  std::map<std::string, std::string> shown_;  // the last line, by stage
};

class JsonReporter : public Reporter {
 public:
  explicit JsonReporter(Writer write) : write_(std::move(write)) {}
  void Show(const v1::JobStatus& status, absl::Time) override { write_(StatusJson(status) + "\n"); }

 private:
  const Writer write_;
};

}  // namespace

std::unique_ptr<Reporter> NewBarReporter(Writer write, std::function<int()> width) {
  return std::make_unique<BarReporter>(std::move(write), std::move(width));
}

std::unique_ptr<Reporter> NewPlainReporter(Writer write) {
  return std::make_unique<PlainReporter>(std::move(write));
}

std::unique_ptr<Reporter> NewJsonReporter(Writer write) {
  return std::make_unique<JsonReporter>(std::move(write));
}

}  // namespace kernelmill::client
