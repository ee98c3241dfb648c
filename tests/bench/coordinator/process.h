#ifndef KERNELMILL_TESTS_BENCH_COORDINATOR_PROCESS_H_
#define KERNELMILL_TESTS_BENCH_COORDINATOR_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kernelmill::bench {

// A program that runs until this object goes; then SIGKILL. Its logs go to /dev/null.
class Process {
 public:
  static absl::StatusOr<std::unique_ptr<Process>> Start(const std::vector<std::string>& argv);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Memory that is resident now; 0 if it has ended.
  int64_t ResidentBytes() const;

 private:
  explicit Process(pid_t pid) : pid_(pid) {}
  const pid_t pid_;
};

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_COORDINATOR_PROCESS_H_
