#include "services/fetcher/adapters/git/testing/git_server.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "services/fetcher/adapters/http/testing/loopback.h"

namespace kernelmill::fetcher {
namespace {

// Runs git on the connection until the client has what it wants.
void RunDaemon(int connection) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, connection, 0);
  ::posix_spawn_file_actions_adddup2(&actions, connection, 1);
  const char* argv[] = {"git",     "-c",           "safe.directory=*", "daemon",
                        "--inetd", "--export-all", "--base-path=/",    nullptr};
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawnp(&pid, "git", &actions, nullptr, const_cast<char**>(argv), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  if (pid > 0) ::waitpid(pid, nullptr, 0);
}

}  // namespace

TestGitServer::TestGitServer() : listener_(ListenOnLoopback(&port_)) {
  thread_ = std::thread([this] { Serve(); });
}

TestGitServer::~TestGitServer() {
  ::shutdown(listener_, SHUT_RDWR);  // ends the accept
  thread_.join();
  ::close(listener_);
}

std::string TestGitServer::Url(const std::string& path) const {
  return absl::StrCat("git://127.0.0.1:", port_, path);
}

void TestGitServer::Serve() {
  while (true) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    ++connections_;
    RunDaemon(connection);
    ::close(connection);
  }
}

}  // namespace kernelmill::fetcher
