#ifndef KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_
#define KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/console/progress.h"
#include "client/console/style.h"

namespace google::protobuf {
class Message;
}

namespace kernelmill::client {

// The output of a command: results go to stdout, progress and errors to stderr. With --json both
// are lines of JSON with a type (docs/reference/json.md). Not thread-safe, but ShowInterrupt is.
class Console {
 public:
  explicit Console(bool json, ColorChoice color = ColorChoice::kNever)
      : json_(json), color_(color) {}

  bool json() const { return json_; }

  // Writes a piece of the command's result. Flush reports errors of stdout.
  void Result(absl::string_view text);
  void Result(const std::vector<LabelledLine>& lines);
  // Returns the columns of a line of the result: the terminal's, or 100 without one.
  static int result_width();
  // Writes a result: with --json the message as a line of this type, else the text.
  void Answer(absl::string_view type, const google::protobuf::Message& message,
              absl::string_view text);
  // Writes an event to stderr. Only with --json.
  void Event(absl::string_view type, const nlohmann::ordered_json& fields);
  // Writes a remark for people, or an event "note" or "warning".
  void Note(absl::string_view line);
  void Warn(absl::string_view line);
  // Writes the error on one line of stderr, and returns the exit code.
  int Fail(const absl::Status& status);
  // Returns an error if a part of the result could not be written, as on a full disk. The process
  // ends by SIGPIPE if the reader of the result is gone, here or in a Result before.
  absl::Status Flush();

  // Writes the progress of long work to stderr: on a terminal one line, redrawn in place; elsewhere
  // rare lines, the first after some seconds. With --json all are events, with these fields.
  void Progress(const nlohmann::ordered_json& fields, absl::string_view text);
  // Call after the last Progress, before other output.
  void EndProgress();

  // Returns a display of a job's progress on stderr: bars on a terminal, lines elsewhere, events
  // with --json. Write nothing else until it is destroyed or the job has ended.
  std::unique_ptr<LiveProgress> NewProgressPrinter();

  // Sets what an interrupt does: "stopping the running tasks".
  void SetInterruptText(std::string text);
  // Says at once that a signal came and what follows; no progress is drawn after it. `waits`: the
  // command ends in order, and a second signal ends it. Thread-safe.
  void ShowInterrupt(bool waits);

 private:
  // Writes to stderr, unless an interrupt was shown.
  void Draw(absl::string_view text);
  // Paints the text if stderr has colours.
  std::string PaintError(Tone tone, absl::string_view text) const;

  const bool json_;
  const ColorChoice color_;
  bool progress_drawn_ = false;
  absl::Time next_progress_ = absl::InfinitePast();
  absl::Duration pause_ = absl::ZeroDuration();
  absl::Mutex mutex_;
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;
  std::string interrupt_text_ ABSL_GUARDED_BY(mutex_) = "stopping";
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_
