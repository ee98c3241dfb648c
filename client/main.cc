// kernelmill: the client. `crawl` runs a whole cluster in this process; the other commands call a
// cluster elsewhere.

#include <malloc.h>

#include <cstdio>
#include <cstdlib>

#include "client/program/command_line.h"
#include "common/rpc/server.h"

namespace {

// glibc gives each thread an arena, and memory freed in one arena is not used by others: an export
// of a million kernels on 16 cores kept 1.1 GiB that way. So use few arenas, and return blocks of
// rows to the system at once.
void TuneAllocator() {
  mallopt(M_ARENA_MAX, 8);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  TuneAllocator();
  kernelmill::rpc::TerminationSignal signal;
  const int code = kernelmill::client::RunProgram(argc, argv, signal);
  // Not exit(): after an interrupt a stage of `crawl` may still run, and would use destroyed
  // statics.
  std::fflush(nullptr);
  std::quick_exit(code);
}
