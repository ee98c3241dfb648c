#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/file.h"

namespace kernelmill::fetcher {

// A program to run, without a shell, and what it may use.
struct ChildCommand {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::vector<std::string> env;   // NAME=value; nothing else is handed down
  std::string directory = "/";
  std::string input;  // its standard input
  absl::Duration timeout = absl::Minutes(10);
  int64_t cpu_seconds = 600;                // of each process
  int64_t file_bytes = int64_t{4} << 30;    // of each file that it writes
  int64_t memory_bytes = int64_t{2} << 30;  // of each process's own data; files mapped to be read
                                            // are not counted
  size_t max_output = 16 << 20;             // more standard output than this ends it
  size_t max_errors = 64 << 10;             // of standard error, the last bytes are kept
};

struct ChildResult {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  bool output_overflow = false;
  std::string output;
  std::string errors;
  bool ok() const { return exit_code == 0 && !timed_out && !output_overflow; }
};

// A program that runs while its input is still being made: ChildCommand.input is not used. When its
// time is over, or this object goes, it and all that it started in its process group is killed. Not
// thread-safe; different ones may be used at once.
class RunningChild {
 public:
  // FAILED_PRECONDITION: there is no such program.
  static absl::StatusOr<std::unique_ptr<RunningChild>> Start(ChildCommand command);
  RunningChild(const RunningChild&) = delete;
  RunningChild& operator=(const RunningChild&) = delete;
  ~RunningChild();

  // Waits until the program has taken all of `input`. False: it takes no more, or it is over a
  // limit; Finish tells why.
  bool Write(absl::string_view input);

  // Ends the program's input and waits for its end. Nothing may follow.
  ChildResult Finish();

 private:
  explicit RunningChild(ChildCommand command);

  absl::Status Launch();
  void Feed(absl::string_view& input);
  // Reads what is there into `into`; false at the end of the stream.
  static bool Drain(FileDescriptor& fd, std::string& into);
  // Waits a little for one of the pipes, and serves those that are ready; false if none was.
  bool Step(absl::string_view& input, int wait_ms);
  bool OverLimit() const { return result_.output_overflow || result_.timed_out; }
  // Whether the child has ended; with `kill`, ends it and its group first.
  bool Reap(bool kill);
  void TrimErrors();

  const ChildCommand command_;
  const absl::Time deadline_;
  pid_t pid_ = -1;
  int wait_status_ = 0;
  FileDescriptor in_, out_, err_;  // our ends of its pipes
  ChildResult result_;
};

// Runs a program to its end, or to the end of its time, as RunningChild does. Thread-safe.
// FAILED_PRECONDITION: there is no such program.
absl::StatusOr<ChildResult> RunChild(const ChildCommand& command);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_
