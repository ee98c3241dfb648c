#include "services/cli/core/reporter.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "services/cli/core/outcome.h"
#include "services/cli/core/progress.h"
#include "services/cli/core/status_json.h"
#include "services/cli/core/watch.h"

namespace kernelmill::cli {
namespace {

constexpr absl::Duration kRedraw = absl::Milliseconds(100);
constexpr absl::Duration kPlainPause = absl::Seconds(2);

constexpr int kMaxLine = 200;  // columns, of errors where no terminal sets a limit

std::string LostLine(const absl::Status& error) {
  return absl::StrCat("the coordinator does not answer; trying again: ", ErrorLine(error));
}

class BarReporter : public Reporter {
 public:
  BarReporter(Writer write, std::function<int()> width)
      : write_(std::move(write)), width_(std::move(width)) {}

  void Show(const v1::JobStatus& status, absl::Time now) override {
    tracker_.Update(status, now);
    if (now < next_ && !HasEnded(status)) return;
    next_ = now + kRedraw;
    Draw(HasEnded(status) ? "" : TroubleLine(status));
  }

  void ShowLost(const absl::Status& error) override {
    next_ = absl::InfinitePast();
    Draw(LostLine(error));
  }

 private:
  // The bars, and `remark` below them unless it is empty.
  void Draw(const std::string& remark) {
    const int width = width_() - 1;
    std::vector<std::string> lines;
    for (const StageView& stage : tracker_.stages()) lines.push_back(BarLine(stage, width));
    if (!remark.empty()) lines.push_back(CutTo(remark, width));
    // Up over the lines of last time; each is cleared before it is written anew, and what is left
    // of them below.
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
      if (std::exchange(shown_[stage.stage], line) != line) write_(line + "\n");
    }
    const std::string trouble = HasEnded(status) ? "" : CutTo(TroubleLine(status), kMaxLine);
    if (std::exchange(trouble_, trouble) != trouble && !trouble.empty()) write_(trouble + "\n");
  }

  void ShowLost(const absl::Status& error) override {
    write_(CutTo(LostLine(error), kMaxLine) + "\n");
  }

 private:
  const Writer write_;
  ProgressTracker tracker_;
  absl::Time next_ = absl::InfinitePast();
  std::map<std::string, std::string> shown_;  // the last line, by stage
  std::string trouble_;                       // as last shown
};

class JsonReporter : public Reporter {
 public:
  explicit JsonReporter(Writer write) : write_(std::move(write)) {}
  void Show(const v1::JobStatus& status, absl::Time) override { write_(StatusJson(status) + "\n"); }
  void ShowLost(const absl::Status& error) override {
    write_(absl::StrCat("{\"reconnecting\":", JsonString(ErrorLine(error)), "}\n"));
  }

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

}  // namespace kernelmill::cli
