#ifndef KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_
#define KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/console/progress.h"

namespace kernelmill::client {

// Where a command writes: results to stdout, progress and errors to stderr. Not thread-safe.
class Console {
 public:
  explicit Console(bool json) : json_(json) {}

  bool json() const { return json_; }

  // One piece of the command's result. Fails only where stdout does, which Flush reports.
  void Result(absl::string_view text);
  // A remark for people; nothing with --json.
  void Note(absl::string_view line);
  // The error on one line of stderr; answers the exit code.
  int Fail(const absl::Status& status);
  // Whether all of the result was written (a pipe may be closed, a disk full).
  absl::Status Flush();

  // How far something is, on stderr: a line redrawn in place on a terminal, elsewhere one at most
  // every two seconds; with --json, where `text` is an object, all of them.
  void Progress(absl::string_view text);
  // After the last, before anything else is written.
  void EndProgress();

  // Bars on a terminal, lines elsewhere, JSON lines with --json; on stderr, also while nothing is
  // shown to it. Write nothing else before it is gone, or the job has ended.
  std::unique_ptr<ProgressPrinter> NewProgressPrinter();

 private:
  const bool json_;
  bool progress_drawn_ = false;
  absl::Time next_progress_ = absl::InfinitePast();
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_
