// Each program is in a process group of its own: Ctrl-C reaches this process alone, which then
// stops the programs in order. PR_SET_PDEATHSIG ends them if this process is killed.

#include "client/dev/server_group.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

constexpr absl::Duration kReadyWithin = absl::Seconds(30);
constexpr absl::Duration kPoll = absl::Milliseconds(20);
constexpr absl::Duration kBetweenStarts = absl::Seconds(1);
constexpr int kNotStarted = 127;  // as shells say it
constexpr std::streamoff kLogEnd = 1000;

// Returns whether the process has ended, without waiting.
bool HasEnded(pid_t pid, int* status) { return waitpid(pid, status, WNOHANG) == pid; }

bool WaitForEnd(pid_t pid, absl::Duration time) {
  const absl::Time until = absl::Now() + time;
  int status;
  while (!HasEnded(pid, &status)) {
    if (absl::Now() >= until) return false;
    absl::SleepFor(kPoll);
  }
  return true;
}

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status)) return absl::StrCat("was ended by signal ", WTERMSIG(status));
  return absl::StrCat("ended with ", WEXITSTATUS(status));
}

}  // namespace

std::string ReadLogEnd(const std::string& log) {
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (!file || size <= 0) return "";
  file.seekg(std::max<std::streamoff>(0, size - kLogEnd));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

ServerGroup::~ServerGroup() { Stop(absl::Seconds(10)); }

// Between fork and exec only functions that are safe in a signal handler are called, since other
// threads may hold locks.
absl::StatusOr<pid_t> ServerGroup::Launch(const Program& program) {
  const FileDescriptor log(
      open(program.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log.is_open()) return ErrnoStatus(errno, program.log);
  std::vector<char*> argv;
  for (const std::string& argument : program.argv) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, program.name);
  if (pid > 0) return pid;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNotStarted);  // it has died meanwhile
  dup2(log.get(), STDOUT_FILENO);
  dup2(log.get(), STDERR_FILENO);
  execv(argv[0], argv.data());
  const char* why = std::strerror(errno);
  (void)!write(STDERR_FILENO, why, std::strlen(why));
  _exit(kNotStarted);
}

absl::Status ServerGroup::Start(Program program, const std::function<bool()>& is_ready) {
  ASSIGN_OR_RETURN(const pid_t pid, Launch(program));
  programs_.push_back({.program = std::move(program), .pid = pid, .started = absl::Now()});
  Running& running = programs_.back();
  int status;
  while (!is_ready()) {
    if (HasEnded(pid, &status)) {
      running.pid = -1;
      return absl::FailedPreconditionError(
          absl::StrCat(running.program.name, " ", DescribeEnd(status), ": ",
                       absl::StripAsciiWhitespace(ReadLogEnd(running.program.log))));
    }
    if (absl::Now() - running.started > kReadyWithin) {
      return absl::DeadlineExceededError(
          absl::StrCat(running.program.name, " was not ready within ",
                       absl::FormatDuration(kReadyWithin), "; its log: ", running.program.log));
    }
    absl::SleepFor(kPoll);
  }
  return absl::OkStatus();
}

void ServerGroup::StartEnded() {
  for (Running& running : programs_) {
    int status;
    if (running.pid > 0 && HasEnded(running.pid, &status)) {
      running.pid = -1;
      say_(absl::StrCat(running.program.name, " ", DescribeEnd(status),
                        " and is started again; its log: ", running.program.log));
    }
    if (running.pid > 0 || absl::Now() - running.started < kBetweenStarts) continue;
    const absl::StatusOr<pid_t> pid = Launch(running.program);
    running.started = absl::Now();
    if (pid.ok()) running.pid = *pid;
  }
}

void ServerGroup::Stop(absl::Duration grace) {
  int wave = 0;
  for (const Running& running : programs_) wave = std::max(wave, running.program.wave);
  for (; wave >= 0; --wave) StopWave(wave, grace);
}

void ServerGroup::StopWave(int wave, absl::Duration grace) {
  for (const Running& running : programs_) {
    if (running.program.wave == wave && running.pid > 0) kill(running.pid, SIGTERM);
  }
  const absl::Time until = absl::Now() + grace;
  for (Running& running : programs_) {
    if (running.program.wave != wave || running.pid < 0) continue;
    if (!WaitForEnd(running.pid, until - absl::Now())) {
      say_(absl::StrCat(running.program.name, " did not stop within ", absl::FormatDuration(grace),
                        " and is killed"));
      kill(running.pid, SIGKILL);
      int status;
      waitpid(running.pid, &status, 0);
    }
    running.pid = -1;
  }
}

std::vector<std::pair<std::string, pid_t>> ServerGroup::ListRunning() const {
  std::vector<std::pair<std::string, pid_t>> list;
  for (const Running& running : programs_) {
    if (running.pid > 0) list.emplace_back(running.program.name, running.pid);
  }
  return list;
}

}  // namespace kernelmill::client
