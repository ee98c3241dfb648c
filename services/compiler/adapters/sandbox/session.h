#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SESSION_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SESSION_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::compiler {

// All processes of a session, as /proc lists them. A confined process leads a session, and its
// filter refuses setsid: whatever it starts stays in it, through any number of forks and after its
// parent has ended.

struct SessionMember {
  pid_t pid = 0;
  bool zombie = false;         // none of its threads is left
  bool works = false;          // a thread of it runs, waits for a processor or for the disk
  int tasks = 0;               // threads
  int64_t resident_bytes = 0;  // pages that are shared count in each process
};

// What the line of a /proc/PID/stat says; false if it is of another session or is no such line. Its
// second field is the program's name, which may hold spaces and brackets.
bool ParseStat(absl::string_view line, pid_t session, SessionMember& member);

// Those that live now, zombies included.
std::vector<SessionMember> SessionMembers(pid_t session);

struct SessionUsage {
  int tasks = 0;
  int64_t resident_bytes = 0;
  bool works = false;
};
SessionUsage UsageOf(const std::vector<SessionMember>& members);

// Kills all members, and looks until none is alive. The leader, whose pid is the session's and
// which must be a child of the caller, remains a zombie for the caller to reap: until then no other
// session can have this number. False: something could not be killed within 10 seconds (a process
// that hangs in the kernel).
bool KillSession(pid_t session);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SESSION_H_
