// kernelmill: the client. `crawl` runs a whole cluster in this process; the other commands call a
// cluster elsewhere.

#include <cstdio>
#include <cstdlib>

#include "client/program/command_line.h"
#include "common/base/locks.h"
#include "common/rpc/server.h"

int main(int argc, char** argv) {
  kernelmill::EndDeadlockSearch();
  kernelmill::rpc::TerminationSignal signal;
  const int code = kernelmill::client::RunProgram(argc, argv, signal);
  // Not exit(): after an interrupt a stage of `crawl` may still run, and would use destroyed
  // statics.
  std::fflush(nullptr);
  std::quick_exit(code);
}
