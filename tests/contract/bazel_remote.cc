#include "tests/contract/bazel_remote.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/status.h"

extern char** environ;

namespace kernelmill::testing {
namespace {

// The socket's file exists a moment before the server listens, and gRPC retries only after a
// second. So this waits until a connection succeeds.
bool Listens(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool connected = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return connected;
}

}  // namespace

std::string BazelRemote::Program() {
  const char* path = std::getenv("KERNELMILL_BAZEL_REMOTE");
  return path != nullptr && access(path, X_OK) == 0 ? path : "";
}

// Starts a bazel-remote with an empty cache, and waits until it answers.
absl::StatusOr<std::unique_ptr<BazelRemote>> BazelRemote::Start() {
  ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  std::unique_ptr<BazelRemote> peer(new BazelRemote(std::move(dir)));
  RETURN_IF_ERROR(peer->Spawn());
  RETURN_IF_ERROR(peer->WaitForSocket());
  return peer;
}

absl::Status BazelRemote::Spawn() {
  std::vector<std::string> words = {Program(),
                                    "--dir",
                                    dir_.path() + "/data",
                                    "--max_size",
                                    "2",
                                    "--grpc_address",
                                    "unix://" + socket(),
                                    "--http_address",
                                    "unix://" + dir_.path() + "/http",
                                    "--access_log_level",
                                    "none"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string log = dir_.path() + "/log";
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_CREAT | O_WRONLY, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  const int error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return absl::OkStatus();
  pid_ = -1;
  return absl::InternalError(absl::StrCat("cannot run ", words[0], ": error ", error));
}

// Waits up to 30 s. If the program ends before, the error has its log.
absl::Status BazelRemote::WaitForSocket() {
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while (absl::Now() < give_up) {
    if (Listens(socket())) return absl::OkStatus();
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      break;
    }
    absl::SleepFor(absl::Milliseconds(5));
  }
  const absl::StatusOr<std::string> log = ReadFile(dir_.path() + "/log", 1 << 20);
  return absl::UnavailableError(absl::StrCat("bazel-remote does not start: ", log.value_or("")));
}

BazelRemote::~BazelRemote() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace kernelmill::testing
