#include "services/compiler/toolchain/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/status.h"
#include "services/compiler/toolchain/harness_sources.h"
#include "services/compiler/toolchain/protocol.h"

namespace kernelmill::compiler {
namespace {

constexpr size_t kMaxReport = 128 << 20;
constexpr absl::Duration kStartTime = absl::Minutes(5);  // to import Triton, on a busy machine
// Over what the harness allows each of its children, whom it kills itself.
constexpr int kWallFactor = 25;

std::vector<std::string> ZygoteEnvironment(const std::string& scratch) {
  return {
      "PATH=/usr/bin:/bin",
      "LC_ALL=C.UTF-8",
      "PYTHONHASHSEED=0",
      "OMP_NUM_THREADS=1",
      "OPENBLAS_NUM_THREADS=1",
      // Forms depend on the kernel alone, not on where its module lies, and not on a default that
      // versions change.
      "TRITON_DISABLE_LINE_INFO=1",
      "TRITON_DEFAULT_FP_FUSION=1",
      absl::StrCat("HOME=", scratch),
      absl::StrCat("TMPDIR=", scratch),
      absl::StrCat("KERNELMILL_SCRATCH=", scratch),
  };
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A pair of connected descriptors: ours, and the child's.
absl::StatusOr<std::pair<FileDescriptor, FileDescriptor>> Channel() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoStatus(errno, "socketpair");
  }
  return std::make_pair(FileDescriptor(fds[0]), FileDescriptor(fds[1]));
}

absl::StatusOr<int> Spawn(const std::string& environment, const std::string& scratch, int jobs,
                          int reports) {
  std::vector<std::string> arguments = {environment + "/bin/python3", "-I", "-B", "-c",
                                        std::string(HarnessBoot())};
  std::vector<std::string> variables = ZygoteEnvironment(scratch);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, jobs, 3);
  posix_spawn_file_actions_adddup2(&actions, reports, 4);
  int pid = -1;
  const int error = ::posix_spawn(&pid, arguments.front().c_str(), &actions, nullptr,
                                  Pointers(arguments).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  return absl::FailedPreconditionError(
      absl::StrCat("cannot start ", arguments.front(), ": ", ErrnoStatus(error, "").message()));
}

absl::Status Wait(int fd, short events, absl::Time until) {
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(until - absl::Now());
    if (left <= 0) return absl::UnavailableError("the compiler's process does not answer");
    pollfd poll_fd = {fd, events, 0};
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Zygote>> Zygote::Start(const std::string& environment) {
  ASSIGN_OR_RETURN(TempDir scratch, TempDir::Create());
  auto zygote = std::unique_ptr<Zygote>(new Zygote(std::move(scratch)));
  ASSIGN_OR_RETURN(auto jobs, Channel());
  ASSIGN_OR_RETURN(auto reports, Channel());
  ASSIGN_OR_RETURN(zygote->pid_, Spawn(environment, zygote->scratch_.path(), jobs.second.get(),
                                       reports.second.get()));
  zygote->jobs_ = std::move(jobs.first);
  zygote->reports_ = std::move(reports.first);
  return zygote;
}

Zygote::~Zygote() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

absl::StatusOr<KernelReport> Zygote::Compile(const KernelJob& job) {
  if (!ready_) {
    const absl::Time until = absl::Now() + kStartTime;
    RETURN_IF_ERROR(Write(HarnessLine(), until));
    RETURN_IF_ERROR(ReadLine(until).status());
    ready_ = true;
  }
  const absl::Time until = absl::Now() + absl::Seconds(60 + int64_t{kWallFactor} * job.max_seconds *
                                                                (1 + job.targets.size()));
  RETURN_IF_ERROR(Write(JobLine(job), until));
  ASSIGN_OR_RETURN(const std::string line, ReadLine(until));
  return ParseReport(line, job);
}

absl::Status Zygote::Write(absl::string_view line, absl::Time until) {
  while (!line.empty()) {
    RETURN_IF_ERROR(Wait(jobs_.get(), POLLOUT, until));
    const ssize_t n = ::send(jobs_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      return absl::UnavailableError("the compiler's process is gone");
    }
    if (n > 0) line.remove_prefix(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Zygote::ReadLine(absl::Time until) {
  size_t searched = 0;
  while (true) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    if (searched > kMaxReport) return absl::InternalError("the compiler's process says too much");
    RETURN_IF_ERROR(Wait(reports_.get(), POLLIN, until));
    buffer_.resize(searched + (1 << 16));
    const ssize_t n = ::recv(reports_.get(), buffer_.data() + searched, 1 << 16, MSG_DONTWAIT);
    const int error = errno;
    buffer_.resize(searched + std::max<ssize_t>(n, 0));
    if (n == 0 || (n < 0 && error != EAGAIN && error != EINTR)) {
      return absl::UnavailableError("the compiler's process is gone");
    }
  }
}

}  // namespace kernelmill::compiler
