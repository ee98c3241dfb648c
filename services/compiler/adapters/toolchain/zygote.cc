#include "services/compiler/adapters/toolchain/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/status.h"
#include "services/compiler/adapters/toolchain/harness_sources.h"
#include "services/compiler/adapters/toolchain/protocol.h"

namespace kernelmill::compiler {
namespace {

constexpr size_t kMaxReport = 128 << 20;
constexpr absl::Duration kStartTime = absl::Minutes(5);  // to import Triton, on a busy machine
// Over what the harness allows each of its children, whom it kills itself.
constexpr int kWallFactor = 250;

// Besides these it has what ConfinedProcess sets.
std::vector<std::string> ZygoteEnvironment() {
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
  };
}

// A pair of connected descriptors: ours, and the child's.
absl::StatusOr<std::pair<FileDescriptor, FileDescriptor>> Channel() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoStatus(errno, "socketpair");
  }
  return std::make_pair(FileDescriptor(fds[0]), FileDescriptor(fds[1]));
}

absl::Status Wait(int fd, short events, absl::Time until) {
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(until - absl::Now());
    if (left <= 0) return absl::AbortedError("the compiler's process does not answer");
    pollfd poll_fd = {fd, events, 0};
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
  }
}

// What is said of a kernel for which the watcher ended all of the zygote.
KernelReport ReportOfEnding(const KernelJob& job, const Ending& ending) {
  KernelReport report;
  report.module_import.set_toolchain(job.toolchain);
  report.module_import.set_error(absl::StrCat("limit: too much of ", NameOf(ending.reason)));
  return report;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Zygote>> Zygote::Start(const std::string& environment,
                                                      Policy policy) {
  auto zygote = std::unique_ptr<Zygote>(new Zygote(SandboxUser::Take()));
  policy.uid = zygote->user_.uid();
  ASSIGN_OR_RETURN(auto jobs, Channel());
  ASSIGN_OR_RETURN(auto reports, Channel());
  const FileDescriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open()) return ErrnoStatus(errno, "/dev/null");
  ConfinedCommand command;
  // -I without its -E, which would ignore the seed of hashes: sets of a module's strings have one
  // order.
  command.argv = {environment + "/bin/python3", "-P", "-s", "-B", "-c", std::string(HarnessBoot())};
  command.env = ZygoteEnvironment();
  // What Python says when the harness itself breaks goes to the worker's log; its children have no
  // part of that.
  command.fds = {null.get(), null.get(), STDERR_FILENO, jobs.second.get(), reports.second.get()};
  ASSIGN_OR_RETURN(zygote->process_, ConfinedProcess::Start(command, policy));
  zygote->jobs_ = std::move(jobs.first);
  zygote->reports_ = std::move(reports.first);
  return zygote;
}

absl::StatusOr<KernelReport> Zygote::Compile(const KernelJob& job) {
  absl::StatusOr<KernelReport> report = absl::CancelledError("");
  {
    const std::stop_callback kill(job.stop, [this] { process_->Kill(); });
    report = Exchange(job);
  }
  const bool stopped = job.stop.stop_requested();
  if (report.ok() && !stopped) return report;
  alive_ = false;
  process_->Kill();
  const Ending ending = process_->Wait();
  if (stopped) return absl::CancelledError("no longer wanted");
  if (ending.reason == EndReason::kScratchGone) {
    return absl::UnavailableError(
        "something has removed the compiler's folder under --temp-dir while it worked");
  }
  if (ready_ && ending.limit()) return ReportOfEnding(job, ending);
  return report;
}

absl::StatusOr<KernelReport> Zygote::Exchange(const KernelJob& job) {
  if (!ready_) {
    const absl::Time until = absl::Now() + kStartTime;
    RETURN_IF_ERROR(Write(HarnessLine(), until));
    RETURN_IF_ERROR(ReadLine(until).status());
    ready_ = true;
  }
  const absl::Time until = absl::Now() + absl::Seconds(60 + int64_t{kWallFactor} * job.max_seconds *
                                                                (1 + job.targets.size()));
  process_->BeginWork(absl::Seconds(job.max_seconds));
  RETURN_IF_ERROR(Write(JobLine(job), until));
  ASSIGN_OR_RETURN(const std::string line, ReadLine(until));
  process_->EndWork();
  return ParseReport(line, job);
}

absl::Status Zygote::Write(absl::string_view line, absl::Time until) {
  while (!line.empty()) {
    RETURN_IF_ERROR(Wait(jobs_.get(), POLLOUT, until));
    const ssize_t n = ::send(jobs_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      return absl::AbortedError("the compiler's process is gone");
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
      return absl::AbortedError("the compiler's process is gone");
    }
  }
}

}  // namespace kernelmill::compiler
