#include "client/commands/ask.h"

#include <poll.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

// The longest time between two looks at the signal, which does not interrupt a read.
constexpr int kPollMillis = 100;

}  // namespace

bool CanAsk() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1; }

absl::StatusOr<std::string> Ask(absl::string_view question, rpc::TerminationSignal& signal) {
  RETURN_IF_ERROR(WriteAll(STDERR_FILENO, question, "stderr"));
  std::string line;
  while (!signal.WaitFor(absl::ZeroDuration())) {
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, kPollMillis) <= 0) continue;
    char c = 0;
    if (::read(STDIN_FILENO, &c, 1) <= 0) break;
    if (c == '\n') return std::string(absl::StripAsciiWhitespace(line));
    line.push_back(c);
  }
  return absl::CancelledError("interrupted");
}

}  // namespace kernelmill::client
