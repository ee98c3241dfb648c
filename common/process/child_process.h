#ifndef KERNELMILL_COMMON_PROCESS_CHILD_PROCESS_H_
#define KERNELMILL_COMMON_PROCESS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/file.h"

namespace kernelmill {

// A program to run, without a shell, and its limits.
struct ChildCommand {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::vector<std::string> env;   // NAME=value; no other variable is passed on
  std::string directory = "/";
  std::string input;  // its standard input
  absl::Duration timeout = absl::Minutes(10);
  int64_t cpu_seconds = 600;              // for each process
  int64_t file_bytes = int64_t{4} << 30;  // for each file that it writes
  // For each process's own data; mapped files are not counted.
  int64_t memory_bytes = int64_t{2} << 30;
  size_t max_output = 16 << 20;  // more standard output than this ends the program
  size_t max_errors = 64 << 10;  // standard error; the last bytes are kept
  // Looks at the program's process group, given its id, about once a second. An error ends the
  // program. May be null.
  std::function<absl::Status(pid_t)> watch = nullptr;
  // Takes standard output as it comes, which is then neither kept nor bounded. May be null.
  std::function<void(absl::string_view)> on_output = nullptr;
};

// How a program ended, and its output.
struct ChildResult {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  bool output_overflow = false;
  absl::Status stopped = absl::OkStatus();  // the error of ChildCommand.watch
  std::string output;
  std::string errors;
  bool ok() const { return exit_code == 0 && !timed_out && !output_overflow && stopped.ok(); }
};

// A running program whose input is still being made; ChildCommand.input is not used. When its time
// is over, or this object is destroyed, the program and every process of its process group are
// killed. Not thread-safe; different objects may be used at once.
class RunningChild {
 public:
  // FAILED_PRECONDITION: the program does not exist.
  static absl::StatusOr<std::unique_ptr<RunningChild>> Start(ChildCommand command);
  RunningChild(const RunningChild&) = delete;
  RunningChild& operator=(const RunningChild&) = delete;
  ~RunningChild();

  // Waits until the program has read all of `input`. Returns false if it reads no more or is over a
  // limit; Finish says why.
  bool Write(absl::string_view input);

  // Closes the program's input and waits for its end. No call may follow.
  ChildResult Finish();

 private:
  explicit RunningChild(ChildCommand command);

  absl::Status Launch();
  void Feed(absl::string_view& input);
  // Reads what the pipe holds into `into`. Returns false at the end of the stream.
  static bool Drain(FileDescriptor& fd, std::string& into);
  // Waits a moment for one of the pipes and serves those that are ready. Returns false if none was
  // ready.
  bool Step(absl::string_view& input, int wait_ms);
  bool OverLimit() const {
    return result_.output_overflow || result_.timed_out || !result_.stopped.ok();
  }
  // Returns whether the child has ended. With `kill`, kills it and its group first.
  bool Reap(bool kill);
  void TrimErrors();
  void Watch(absl::Time now);

  const ChildCommand command_;
  const absl::Time deadline_;
  absl::Time next_watch_;
  pid_t pid_ = -1;
  int wait_status_ = 0;
  FileDescriptor in_, out_, err_;  // our ends of its pipes
  ChildResult result_;
};

// Runs a program until it ends or its time is over, as RunningChild does. Thread-safe.
// FAILED_PRECONDITION: the program does not exist.
absl::StatusOr<ChildResult> RunChild(const ChildCommand& command);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_PROCESS_CHILD_PROCESS_H_
