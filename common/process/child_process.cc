// Runs a program with bounds and without a shell. fork and exec are used directly instead of
// posix_spawn, since the limits, the process group and the death signal must be set in the child
// before the program starts.
//
// If the exec fails, the child writes errno into the `report` pipe, which is closed on exec: an
// empty read means that the program runs. The program leads a process group of its own, so that it
// can be killed together with its children, and it dies with the thread that started it
// (PR_SET_PDEATHSIG).
#include "common/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill {
namespace {

constexpr int kTickMs = 50;
constexpr absl::Duration kWatchPause = absl::Seconds(1);
constexpr int kCannotStart = 127;  // the exit code of a shell for a program that it cannot start

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

absl::StatusOr<Pipe> OpenPipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  // Only our own ends become non-blocking, since a program may not expect that of its own.
  return Pipe{FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// The child's input is a socket pair, since writing to a closed socket is an error here and not a
// SIGPIPE.
absl::StatusOr<Pipe> OpenInput() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoStatus(errno, "socketpair");
  }
  return Pipe{FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// Searches PATH here, since execvp would do it after the fork, where it may not allocate.
absl::StatusOr<std::string> FindProgram(const std::string& name) {
  if (absl::string_view(name).find('/') != absl::string_view::npos) return name;
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  for (const absl::string_view folder : absl::StrSplit(folders, ':', absl::SkipEmpty())) {
    std::string candidate = absl::StrCat(folder, "/", name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return absl::FailedPreconditionError(absl::StrCat("the program '", name, "' is not installed"));
}

// Everything that the child needs between fork and exec, prepared before fork: after it, a process
// that had threads may only make async-signal-safe calls.
struct LaunchPlan {
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> env;
  const char* directory;
  rlimit cpu, file, memory, core;
  int in, out, err, report;
};

// Sets a limit, but not above the hard limit that this process itself has.
void Limit(int resource, rlimit limit) {
  rlimit now;
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
  if (now.rlim_max != RLIM_INFINITY && limit.rlim_max > now.rlim_max) {
    limit.rlim_cur = limit.rlim_max = now.rlim_max;
  }
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

[[noreturn]] void BecomeChild(const LaunchPlan& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  Limit(RLIMIT_CPU, launch.cpu);
  Limit(RLIMIT_FSIZE, launch.file);
  // RLIMIT_DATA instead of RLIMIT_AS, since packs are mapped into memory and may be larger than it.
  Limit(RLIMIT_DATA, launch.memory);
  Limit(RLIMIT_CORE, launch.core);
  const bool ready = ::dup2(launch.in, 0) >= 0 && ::dup2(launch.out, 1) >= 0 &&
                     ::dup2(launch.err, 2) >= 0 && ::chdir(launch.directory) == 0;
  // Close the sockets and files of other threads on exec. Old kernels lack the call, and leave
  // those open that were opened without O_CLOEXEC.
  ::syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  if (ready) ::execve(launch.program.c_str(), launch.argv.data(), launch.env.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(launch.report, &error, sizeof(error));
  ::_exit(kCannotStart);
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

rlimit Rlimit(int64_t value) {
  return rlimit{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
}

}  // namespace

RunningChild::RunningChild(ChildCommand command)
    : command_(std::move(command)),
      deadline_(absl::Now() + command_.timeout),
      next_watch_(absl::Now() + kWatchPause) {}

RunningChild::~RunningChild() {
  if (pid_ > 0) Reap(true);
}

// Starts the program. FAILED_PRECONDITION: it is not installed or cannot be run.
absl::Status RunningChild::Launch() {
  LaunchPlan launch;
  ASSIGN_OR_RETURN(launch.program, FindProgram(command_.argv.front()));
  ASSIGN_OR_RETURN(Pipe in, OpenInput());
  ASSIGN_OR_RETURN(Pipe out, OpenPipe());
  ASSIGN_OR_RETURN(Pipe err, OpenPipe());
  ASSIGN_OR_RETURN(Pipe report, OpenPipe());
  launch.argv = Pointers(command_.argv);
  launch.env = Pointers(command_.env);
  launch.directory = command_.directory.c_str();
  launch.cpu = Rlimit(command_.cpu_seconds);
  launch.file = Rlimit(command_.file_bytes);
  launch.memory = Rlimit(command_.memory_bytes);
  launch.core = Rlimit(0);
  launch.in = in.read.get();
  launch.out = out.write.get();
  launch.err = err.write.get();
  launch.report = report.write.get();
  pid_ = ::fork();
  if (pid_ < 0) return ErrnoStatus(errno, "fork");
  if (pid_ == 0) BecomeChild(launch);
  ::setpgid(pid_, pid_);  // parent and child both do this, so that neither is too late
  for (const FileDescriptor* fd : {&in.write, &out.read, &err.read})
    ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  report.write.Close();
  int error = 0;
  ssize_t n;
  do {
    n = ::read(report.read.get(), &error, sizeof(error));
  } while (n < 0 && errno == EINTR);
  if (n != sizeof(error)) return absl::OkStatus();
  if (error == ENOENT || error == EACCES) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program '", launch.program, "' cannot be run"));
  }
  return ErrnoStatus(error, launch.program);
}

// Writes as much input as the pipe takes. MSG_NOSIGNAL: a program that closed its input must not
// kill us.
void RunningChild::Feed(absl::string_view& input) {
  while (!input.empty()) {
    const ssize_t n = ::send(in_.get(), input.data(), input.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {  // it closed its input; its exit status tells why
      in_.Close();
      return;
    }
    input.remove_prefix(n);
  }
}

// Reads what is there. Returns false, and closes the pipe, at its end.
bool RunningChild::Drain(FileDescriptor& fd, std::string& into) {
  char buffer[1 << 16];
  const ssize_t n = ::read(fd.get(), buffer, sizeof(buffer));
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (n <= 0) {
    fd.Close();
    return false;
  }
  into.append(buffer, n);
  return true;
}

// Collects the exit status if the program has ended, or kills it first. Returns whether it has
// ended. The group is killed afterwards in any case, because children of the program may still hold
// its pipes.
bool RunningChild::Reap(bool kill) {
  if (pid_ <= 0) return true;
  if (kill) ::kill(-pid_, SIGKILL);
  pid_t ended;
  do {
    ended = ::waitpid(pid_, &wait_status_, kill ? 0 : WNOHANG);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return false;
  ::kill(-pid_, SIGKILL);  // processes that it left running
  pid_ = -1;
  return true;
}

// Keeps the end of the error output, which has the reason of the failure.
void RunningChild::TrimErrors() {
  if (result_.errors.size() > command_.max_errors) {
    result_.errors.erase(0, result_.errors.size() - command_.max_errors);
  }
}

void RunningChild::Watch(absl::Time now) {
  if (command_.watch == nullptr || pid_ <= 0 || now < next_watch_) return;
  next_watch_ = now + kWatchPause;
  result_.stopped = command_.watch(pid_);
}

// One round of the event loop: polls the three pipes, moves bytes, and checks the limits.
bool RunningChild::Step(absl::string_view& input, int wait_ms) {
  const int in = input.empty() ? -1 : in_.get();
  pollfd fds[3] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {in, POLLOUT, 0}};
  const bool ready = ::poll(fds, 3, wait_ms) > 0;
  if (ready && fds[2].revents != 0) Feed(input);
  if (ready && fds[0].revents != 0) Drain(out_, result_.output);
  if (command_.on_output != nullptr && !result_.output.empty()) {
    command_.on_output(result_.output);
    result_.output.clear();
  }
  if (ready && fds[1].revents != 0) Drain(err_, result_.errors);
  if (result_.errors.size() > 2 * command_.max_errors) TrimErrors();
  result_.output_overflow = result_.output.size() > command_.max_output;
  const absl::Time now = absl::Now();
  result_.timed_out = now > deadline_;
  Watch(now);
  return ready;
}

// Feeds input and reads output in turn, so that neither side blocks on a full pipe. Returns false
// if the program stopped reading, ended, or went over a limit.
bool RunningChild::Write(absl::string_view input) {
  bool ended = false;
  while (!input.empty() && in_.get() >= 0 && !OverLimit() && !ended) {
    // A program that ended may have left its input open to its children.
    if (!Step(input, kTickMs)) ended = Reap(false);
  }
  return input.empty();
}

// The child's end is noticed by polling waitpid between rounds. While a pipe is open a round waits
// for it; once both are closed the rounds become short.
ChildResult RunningChild::Finish() {
  in_.Close();
  absl::string_view none;
  bool ended = pid_ <= 0;
  while (!OverLimit() && (!ended || out_.get() >= 0 || err_.get() >= 0)) {
    const bool closed = out_.get() < 0 && err_.get() < 0;  // the child is about to end
    const bool ready = Step(none, closed ? 1 : kTickMs);
    // The leader has ended and the pipes are idle, so nothing more is to be expected.
    if (ended && !ready) break;
    if (!ended && (!ready || closed)) ended = Reap(false);
  }
  Reap(true);
  TrimErrors();
  if (WIFEXITED(wait_status_)) result_.exit_code = WEXITSTATUS(wait_status_);
  if (WIFSIGNALED(wait_status_)) result_.signal = WTERMSIG(wait_status_);
  return std::move(result_);
}

absl::StatusOr<std::unique_ptr<RunningChild>> RunningChild::Start(ChildCommand command) {
  if (command.argv.empty()) return absl::InvalidArgumentError("no program to run");
  std::unique_ptr<RunningChild> child(new RunningChild(std::move(command)));
  RETURN_IF_ERROR(child->Launch());
  return child;
}

absl::StatusOr<ChildResult> RunChild(const ChildCommand& command) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RunningChild> child, RunningChild::Start(command));
  child->Write(command.input);
  return child->Finish();
}

}  // namespace kernelmill
