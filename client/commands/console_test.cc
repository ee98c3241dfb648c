#include "client/commands/console.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace kernelmill::client {
namespace {

// Writes to a pipe without a reader, in a process that ignores SIGPIPE.
void WriteToClosedPipe() {
  int ends[2];
  if (::pipe(ends) != 0) ::_exit(1);
  ::close(ends[0]);
  ::dup2(ends[1], STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_IGN);
  Console console(/*json=*/false);
  console.Result("a line\n");
  static_cast<void>(console.Flush());
  ::_exit(2);
}

TEST(ConsoleDeathTest, AResultWithoutAReaderEndsTheCommandSilently) {
  EXPECT_EXIT(WriteToClosedPipe(), ::testing::KilledBySignal(SIGPIPE), "^$");
}

}  // namespace
}  // namespace kernelmill::client
