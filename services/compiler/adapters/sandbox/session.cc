// The basic idea: Linux has no list of a process's descendants that survives the death of their
// parents, but every process has a session, which its children inherit and which the filter forbids
// to change. So a scan of /proc for the session's number finds them all. Killing repeats the scan
// until nothing is left, since a process may fork while it is scanned.

#include "services/compiler/adapters/sandbox/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>

#include "absl/base/const_init.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "services/compiler/adapters/sandbox/scratch.h"

namespace kernelmill::compiler {
namespace {

// Fields of /proc/PID/stat after the name, counted from 0 (proc(5) counts the name as 2).
constexpr size_t kState = 0, kSession = 3, kThreads = 17, kResident = 21;

// Reads the stat file of a process or a thread.
bool ReadStat(const std::string& folder, pid_t session, SessionMember& member) {
  char line[1024];
  const FileDescriptor fd(::open(absl::StrCat(folder, "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t n = fd.is_open() ? ::read(fd.get(), line, sizeof(line)) : 0;
  return n > 0 && ParseStat(absl::string_view(line, static_cast<size_t>(n)), session, member);
}

// Completes a member from its threads. The line of a process describes its first thread, which is a
// zombie without memory if it ended before the others; each of these has its own line.
void AddThreads(pid_t pid, pid_t session, SessionMember& member) {
  const std::string path = absl::StrCat("/proc/", pid, "/task");
  const std::unique_ptr<DIR, decltype(&::closedir)> folder(::opendir(path.c_str()), &::closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    SessionMember thread;
    if (!ReadStat(absl::StrCat(path, "/", entry->d_name), session, thread) || thread.zombie) {
      continue;
    }
    member.zombie = false;
    member.resident_bytes = thread.resident_bytes;
    member.works = member.works || thread.works;
    member.waits = member.waits || thread.waits;
    if (member.works) return;
  }
}

// Checks the session without opening a file, which is cheaper: each watcher looks at all processes
// of the machine ten times a second.
bool MayBeMember(pid_t pid, pid_t session) {
  const pid_t of = ::getsid(pid);
  return of == session || (of < 0 && errno != ESRCH);
}

bool ReadMember(pid_t pid, pid_t session, SessionMember& member) {
  member.pid = pid;
  if (!ReadStat(absl::StrCat("/proc/", pid), session, member)) return false;
  if (!member.works && member.tasks > 1) AddThreads(pid, session, member);
  return true;
}

// Opens a pidfd before it checks the process, so that it never kills another process that got the
// same number later.
void KillMember(pid_t pid, pid_t session) {
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  SessionMember member;
  if (!process.is_open() || !ReadMember(pid, session, member)) return;
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
}

// Kills the members that one scan finds. Returns true if none was alive.
bool KillMembers(pid_t session) {
  bool none = true;
  for (const SessionMember& member : SessionMembers(session)) {
    if (!member.zombie) {
      none = false;
      KillMember(member.pid, session);
    } else if (member.pid != session) {
      // In a container, the worker may be the first process, which adopts orphans and must reap
      // them. Elsewhere this does nothing.
      ::waitpid(member.pid, nullptr, WNOHANG);
    }
  }
  return none;
}

}  // namespace

// The name in parentheses may hold blanks and parentheses, so the fields begin after the last ')'.
// Returns false for a process of another session.
bool ParseStat(absl::string_view line, pid_t session, SessionMember& member) {
  const size_t name_end = line.rfind(')');
  if (name_end == absl::string_view::npos || name_end + 2 > line.size()) return false;
  const std::vector<absl::string_view> fields = absl::StrSplit(line.substr(name_end + 2), ' ');
  int of = 0;
  int64_t pages = 0;
  if (fields.size() <= kResident || !absl::SimpleAtoi(fields[kSession], &of) || of != session ||
      !absl::SimpleAtoi(fields[kThreads], &member.tasks) ||
      !absl::SimpleAtoi(fields[kResident], &pages)) {
    return false;
  }
  member.zombie = fields[kState] == "Z" || fields[kState] == "X";
  member.works = fields[kState] == "R";
  member.waits = fields[kState] == "D";
  member.resident_bytes = pages * ::sysconf(_SC_PAGESIZE);
  return true;
}

std::vector<SessionMember> SessionMembers(pid_t session) {
  std::vector<SessionMember> members;
  const std::unique_ptr<DIR, decltype(&::closedir)> folder(::opendir("/proc"), &::closedir);
  if (folder == nullptr) return members;
  while (const dirent* entry = ::readdir(folder.get())) {
    pid_t pid = 0;
    SessionMember member;
    if (absl::SimpleAtoi(entry->d_name, &pid) && MayBeMember(pid, session) &&
        ReadMember(pid, session, member)) {
      members.push_back(member);
    }
  }
  return members;
}

// Sums up the living members. Shared pages count once for each process, so the sum is an upper
// bound.
SessionUsage ReadUsage(const std::vector<SessionMember>& members) {
  SessionUsage usage;
  for (const SessionMember& member : members) {
    if (member.zombie) continue;
    usage.tasks += member.tasks;
    usage.resident_bytes += member.resident_bytes;
    usage.works = usage.works || member.works;
    usage.waits = usage.waits || member.waits;
  }
  return usage;
}

bool KillSession(pid_t session) {
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  // /proc is not a snapshot: a scan can miss a child that started behind it and whose parent ended
  // before it came there. So it needs two scans without a living member.
  for (int quiet = 0; quiet < 2;) {
    quiet = KillMembers(session) ? quiet + 1 : 0;
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

namespace {

absl::Mutex mutex(absl::kConstInit);

// The registered sessions with their scratch folders. Never destroyed: quick_exit may run at any
// time.
std::map<pid_t, std::string>& Sessions() {
  static auto* const sessions = new std::map<pid_t, std::string>();
  return *sessions;
}

// Holds the mutex, so that no leader is reaped meanwhile.
void EndSessions() {
  const absl::MutexLock lock(&mutex);
  for (const auto& [session, scratch] : Sessions()) {
    KillSession(session);
    RemoveScratch(scratch);
  }
}

}  // namespace

void RememberSession(pid_t session, const std::string& scratch) {
  static const int registered = std::at_quick_exit(EndSessions);
  static_cast<void>(registered);
  const absl::MutexLock lock(&mutex);
  Sessions()[session] = scratch;
}

void ForgetSession(pid_t session) {
  const absl::MutexLock lock(&mutex);
  Sessions().erase(session);
}

}  // namespace kernelmill::compiler
