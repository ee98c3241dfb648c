// The watcher's life: fork, wait for execve, poll, kill, reap. The order matters in two places. The
// session is registered for std::quick_exit before anything else can fail, and it is unregistered
// before the leader is reaped, since its number may be reused after that. Every end, also a
// voluntary one, kills the whole session: the program may have left descendants.
//
// Bounds are polled and not pushed: cgroups would need rights that a worker does not have. A poll
// reads /proc for the members of the session, and walks the scratch folder.

#include "services/compiler/adapters/sandbox/confined_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/status.h"
#include "services/compiler/adapters/sandbox/landlock.h"
#include "services/compiler/adapters/sandbox/launch.h"
#include "services/compiler/adapters/sandbox/seccomp_filter.h"
#include "services/compiler/adapters/sandbox/session.h"
#include "services/compiler/adapters/sandbox/support.h"

namespace kernelmill::compiler {
namespace {

// Returns pointers to the strings with a null at the end, as execve takes them.
std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Returns the program's whole environment.
std::vector<std::string> Environment(const ConfinedCommand& command, const std::string& scratch,
                                     bool confine) {
  std::vector<std::string> env = command.env;
  for (const char* name : {"HOME", "TMPDIR", "KERNELMILL_SCRATCH"})
    env.push_back(absl::StrCat(name, "=", scratch));
  env.push_back(absl::StrCat("KERNELMILL_SANDBOX=", confine ? "enforced" : "off"));
  const std::vector<sock_filter> strict = MakeSeccompFilter(Refused::kKills);
  env.push_back(absl::StrCat(
      "KERNELMILL_STRICT_FILTER=",
      absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(strict.data()),
                                               strict.size() * sizeof(sock_filter)))));
  return env;
}

// Reads what a child sends before it executes: the folder of its private scratch, or why it failed.
absl::optional<LaunchReport> ReadReport(int socket, Scratch& scratch) {
  while (true) {
    LaunchReport report;
    iovec part = {&report, sizeof(report)};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof(space);
    const ssize_t n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return absl::nullopt;
    if (n == sizeof(report)) return report;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) continue;
    int folder = -1;
    std::memcpy(&folder, CMSG_DATA(header), sizeof(folder));
    scratch.SetPrivate(FileDescriptor(folder));
  }
}

Ending Over(EndReason reason, absl::string_view what, int64_t is, int64_t bound) {
  Ending ending;
  ending.reason = reason;
  ending.detail = absl::StrCat(what, ": ", is, " of ", bound);
  return ending;
}

}  // namespace

absl::string_view GetName(EndReason reason) {
  switch (reason) {
    case EndReason::kExited:
      return "exited";
    case EndReason::kSignal:
      return "signal";
    case EndReason::kKilled:
      return "killed";
    case EndReason::kScratchGone:
      return "scratch folder gone";
    case EndReason::kMemory:
      return "memory";
    case EndReason::kTasks:
      return "processes";
    case EndReason::kScratchBytes:
      return "scratch bytes";
    case EndReason::kScratchEntries:
      return "scratch entries";
    case EndReason::kSleep:
      return "sleep";
    case EndReason::kDisk:
      return "waiting for the disk";
  }
  return "unknown";
}

// The data that must live until the program executes.
struct ConfinedProcess::Launch {
  std::vector<std::string> argv, env;
  FileDescriptor ruleset;
  LaunchPlan plan;
  std::promise<absl::Status> started;
};

// Starts the program and returns when it executes. Everything that can allocate or fail is prepared
// before the fork, in LaunchPlan. The watcher's thread forks, because PR_SET_PDEATHSIG kills the
// child when the thread that forked it ends. FAILED_PRECONDITION: a step of the confinement failed.
absl::StatusOr<std::unique_ptr<ConfinedProcess>> ConfinedProcess::Start(
    const ConfinedCommand& command, const Policy& policy) {
  RETURN_IF_ERROR(CheckPolicy(policy));
  if (command.argv.empty()) return absl::InvalidArgumentError("sandbox: argv must name a program");
  ASSIGN_OR_RETURN(Scratch scratch, Scratch::Create(policy.scratch_parent, policy.uid));
  const bool confine = !policy.unsafe_no_sandbox;
  // Shared with the watcher, which may still be in set_value when this function returns.
  const auto shared = std::make_shared<Launch>();
  Launch& launch = *shared;
  launch.argv = command.argv;
  launch.env = Environment(command, scratch.path(), confine);
  if (confine) {
    ASSIGN_OR_RETURN(launch.ruleset, MakeRuleset(policy));
    launch.plan.filter = MakeSeccompFilter();
    if (policy.private_scratch && MayMountScratch(scratch.path()))
      launch.plan.scratch = MakePrivateScratch(policy.uid, policy.limits);
  }
  auto process =
      std::unique_ptr<ConfinedProcess>(new ConfinedProcess(std::move(scratch), policy.limits));
  LaunchPlan& plan = launch.plan;
  plan.argv = Pointers(launch.argv);
  plan.env = Pointers(launch.env);
  plan.fds = command.fds;
  plan.directory = process->scratch().c_str();
  plan.scratch_access = ScratchAccess(GetRights(LandlockAbi()));
  plan.limits = policy.limits;
  plan.confine = confine;
  plan.change_user = confine && ::geteuid() == 0;
  plan.uid = policy.uid;
  plan.ruleset = launch.ruleset.get();
  process->wake_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  if (!process->wake_.is_open()) return ErrnoStatus(errno, "eventfd");
  std::future<absl::Status> started = launch.started.get_future();
  process->watcher_ = std::thread([shared, self = process.get()] { self->Watch(*shared); });
  RETURN_IF_ERROR(started.get());
  return process;
}

ConfinedProcess::~ConfinedProcess() {
  Kill();
  if (watcher_.joinable()) watcher_.join();
}

// The watcher's thread. ended_ is set before Start() returns an error, since the destructor joins.
void ConfinedProcess::Watch(Launch& launch) {
  const absl::Status status = Fork(launch);
  Ending ending;
  if (status.ok()) {
    launch.started.set_value(absl::OkStatus());
    ending = Follow();
  } else if (pid_ > 0) {
    ::waitpid(pid_, nullptr, 0);
  }
  {
    const absl::MutexLock lock(&mutex_);
    ended_ = ending;
  }
  if (!status.ok()) launch.started.set_value(status);
}

// Forks, and learns by a socket whether the child reached execve: it closes on execve, and carries
// a LaunchReport otherwise.
absl::Status ConfinedProcess::Fork(Launch& launch) {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return ErrnoStatus(errno, "socketpair");
  const FileDescriptor read(fds[0]);
  FileDescriptor write(fds[1]);
  launch.plan.report = write.get();
  launch.plan.parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) return ErrnoStatus(errno, "fork");
  if (pid_ == 0) BecomeConfined(launch.plan);
  write.Close();
  const absl::optional<LaunchReport> report = ReadReport(read.get(), scratch_);
  if (report.has_value()) return LaunchStatus(*report, launch.argv.front());
  RememberSession(pid_, scratch_.path());
  process_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (process_.is_open()) return absl::OkStatus();
  const int error = errno;
  KillSession(pid_);
  ForgetSession(pid_);
  return ErrnoStatus(error, "pidfd_open");
}

// Polls until the program ends, Kill() is called or a bound is exceeded. Then it kills the session
// and reaps the leader.
Ending ConfinedProcess::Follow() {
  const int period = static_cast<int>(absl::ToInt64Milliseconds(limits_.poll_period));
  absl::optional<Ending> over;
  pollfd fds[2] = {{process_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  while (!over.has_value() && ::poll(fds, 2, period) <= 0) over = OverBounds();
  Ending ending;
  if (over.has_value()) ending = *over;
  if (!over.has_value() && fds[0].revents == 0) ending.reason = EndReason::kKilled;
  if (!KillSession(pid_))
    absl::StrAppend(&ending.detail, " (one of its processes hangs in the kernel)");
  Reap(ending);
  return ending;
}

// Checks all bounds. The cheap checks, from /proc, come before the walk of the scratch folder.
absl::optional<Ending> ConfinedProcess::OverBounds() {
  const SessionUsage usage = ReadUsage(SessionMembers(pid_));
  if (usage.tasks > limits_.total_tasks) {
    return Over(EndReason::kTasks, "processes and threads", usage.tasks, limits_.total_tasks);
  }
  if (const absl::optional<Ending> idle = IdlesTooLong(usage)) return idle;
  const ScratchUsage scratch = scratch_.Usage(limits_.scratch_entries);
  const int64_t memory = usage.resident_bytes + (scratch_.is_private() ? scratch.bytes : 0);
  if (memory > limits_.total_memory_bytes) {
    return Over(EndReason::kMemory, "resident memory, bytes", memory, limits_.total_memory_bytes);
  }
  if (scratch.bytes > limits_.scratch_bytes) {
    return Over(EndReason::kScratchBytes, "bytes of scratch files", scratch.bytes,
                limits_.scratch_bytes);
  }
  if (scratch.entries > limits_.scratch_entries) {
    return Over(EndReason::kScratchEntries, "scratch files", scratch.entries,
                limits_.scratch_entries);
  }
  if (scratch.gone) return Ending{.reason = EndReason::kScratchGone};
  if (scratch.hidden) {
    return Over(EndReason::kScratchEntries, "scratch folders that cannot be read, below depth",
                kMaxScratchDepth, kMaxScratchDepth);
  }
  return absl::nullopt;
}

// Subtracts one poll period from what the program may still sleep or wait, if it does that now.
absl::optional<Ending> ConfinedProcess::IdlesTooLong(const SessionUsage& usage) {
  const absl::MutexLock lock(&mutex_);
  if (usage.works || !may_sleep_.has_value()) return absl::nullopt;
  absl::Duration& left = usage.waits ? may_wait_ : *may_sleep_;
  left -= limits_.poll_period;
  if (left >= absl::ZeroDuration()) return absl::nullopt;
  return Ending{.reason = usage.waits ? EndReason::kDisk : EndReason::kSleep};
}

void ConfinedProcess::BeginWork(absl::Duration max_sleep) {
  const absl::MutexLock lock(&mutex_);
  may_sleep_ = max_sleep;
  may_wait_ = kDiskFactor * max_sleep;
}

void ConfinedProcess::EndWork() {
  const absl::MutexLock lock(&mutex_);
  may_sleep_.reset();
}

void ConfinedProcess::Reap(Ending& ending) {
  ForgetSession(pid_);
  int status = 0;
  pid_t reaped;
  do {
    reaped = ::waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (ending.reason == EndReason::kExited && ending.signal != 0) ending.reason = EndReason::kSignal;
}

// Wakes the watcher, which kills the session. Thread-safe; does not wait.
void ConfinedProcess::Kill() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
}

Ending ConfinedProcess::Wait() {
  const absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](absl::optional<Ending>* ended) { return ended->has_value(); }, &ended_));
  return *ended_;
}

absl::optional<Ending> ConfinedProcess::ended() const {
  const absl::MutexLock lock(&mutex_);
  return ended_;
}

}  // namespace kernelmill::compiler
