#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SESSION_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SESSION_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::compiler {

// Finding and killing all processes of a session, with /proc. A confined process leads a session,
// and its filter forbids setsid. So all its descendants stay in the session, through any number of
// forks, and after their parents ended. The functions are thread-safe.

struct SessionMember {
  pid_t pid = 0;
  bool zombie = false;         // all its threads have ended
  bool works = false;          // a thread runs, or waits for a processor
  bool waits = false;          // a thread waits for the disk
  int tasks = 0;               // threads
  int64_t resident_bytes = 0;  // shared pages count in each process
};

// Parses the line of /proc/PID/stat. Returns false for another session or a malformed line. The
// second field is the program's name, which may contain spaces and brackets.
bool ParseStat(absl::string_view line, pid_t session, SessionMember& member);

// Lists the current members, including zombies.
std::vector<SessionMember> SessionMembers(pid_t session);

struct SessionUsage {
  int tasks = 0;
  int64_t resident_bytes = 0;
  bool works = false;
  bool waits = false;
};
SessionUsage ReadUsage(const std::vector<SessionMember>& members);

// Kills all members, and repeats until none is alive. The leader, whose pid is the session's, must
// be a child of the caller, and stays a zombie until the caller reaps it: until then no other
// session can get this number. Returns false if a process is still alive after 10 seconds because
// it hangs in the kernel.
bool KillSession(pid_t session);

// Registers a session of this process to be killed, and its scratch folder to be removed, if the
// process ends by std::quick_exit, which runs no destructors. The death signal alone would end the
// leader and leave the compiler's programs and files.
void RememberSession(pid_t session, const std::string& scratch);
// Removes a registration. Call it before reaping the leader: afterwards another session may get the
// number.
void ForgetSession(pid_t session);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SESSION_H_
