#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
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

// Runs a program to its end, or to the end of its time; then it and all that it started in its
// process group is killed. Thread-safe. FAILED_PRECONDITION: there is no such program.
absl::StatusOr<ChildResult> RunChild(const ChildCommand& command);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_PROCESS_CHILD_PROCESS_H_
