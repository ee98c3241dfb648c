// kernelmill: the client. `crawl` runs a whole cluster in this process; the other commands speak to
// one elsewhere.

#include <cstdio>
#include <cstdlib>

#include "common/rpc/server.h"
#include "services/cli/program/program.h"

int main(int argc, char** argv) {
  kernelmill::rpc::TerminationSignal signal;
  const int code = kernelmill::cli::RunProgram(argc, argv, signal);
  // Not exit(): after an interrupt a stage of `crawl` may still run, and would meet destroyed
  // statics. What it compiles ends with it.
  std::fflush(nullptr);
  std::quick_exit(code);
}
