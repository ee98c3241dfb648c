#ifndef KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_
#define KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/console/progress.h"

namespace google::protobuf {
class Message;
}

namespace kernelmill::client {

// The output of a command: results go to stdout, progress and errors to stderr. Not thread-safe.
class Console {
 public:
  explicit Console(bool json) : json_(json) {}

  bool json() const { return json_; }

  // Writes a piece of the command's result. Flush reports errors of stdout.
  void Result(absl::string_view text);
  // Writes a result: with --json the message on one line, else the text.
  void Answer(const google::protobuf::Message& message, absl::string_view text);
  // Writes a remark for people; nothing with --json.
  void Note(absl::string_view line);
  // Writes the error on one line of stderr, and returns the exit code.
  int Fail(const absl::Status& status);
  // Returns an error if a part of the result could not be written: a closed pipe, a full disk.
  absl::Status Flush();

  // Writes the progress of long work to stderr: on a terminal one line, redrawn in place; elsewhere
  // a line at most every two seconds. With --json `text` is an object, and all are written.
  void Progress(absl::string_view text);
  // Call after the last Progress, before other output.
  void EndProgress();

  // Returns a display of a job's progress on stderr: bars on a terminal, lines elsewhere, JSON
  // lines with --json. Write nothing else until it is destroyed or the job has ended.
  std::unique_ptr<ProgressPrinter> NewProgressPrinter();

 private:
  const bool json_;
  bool progress_drawn_ = false;
  absl::Time next_progress_ = absl::InfinitePast();
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_CONSOLE_H_
