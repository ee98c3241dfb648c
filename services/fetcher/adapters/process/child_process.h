#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

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
  virtual ~RunningChild() = default;

  // Waits until the program has taken all of `input`. False: it takes no more, or it is over a
  // limit; Finish tells why.
  virtual bool Write(absl::string_view input) = 0;

  // Ends the program's input and waits for its end. Nothing may follow.
  virtual ChildResult Finish() = 0;
};

// Runs a program to its end, or to the end of its time, as RunningChild does. Thread-safe.
// FAILED_PRECONDITION: there is no such program.
absl::StatusOr<ChildResult> RunChild(const ChildCommand& command);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_
