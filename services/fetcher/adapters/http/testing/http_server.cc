#include "services/fetcher/adapters/http/testing/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kernelmill::fetcher {

TestHttpServer::TestHttpServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener_, 16), 0);
  EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

TestHttpServer::~TestHttpServer() {
  ::shutdown(listener_, SHUT_RDWR);  // ends the accept
  thread_.join();
  ::close(listener_);
}

void TestHttpServer::Set(const std::string& path, Answer answer) {
  absl::MutexLock lock(&mutex_);
  answers_[path] = std::move(answer);
}

std::string TestHttpServer::Url(const std::string& path) const {
  return absl::StrCat("http://127.0.0.1:", port_, path);
}

std::vector<std::string> TestHttpServer::Requests() const {
  absl::MutexLock lock(&mutex_);
  return requests_;
}

void TestHttpServer::Serve() {
  while (true) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    HandleConnection(connection);
    ::close(connection);
  }
}

void TestHttpServer::HandleConnection(int connection) {
  std::string request;
  char buffer[4096];
  while (!absl::StrContains(request, "\r\n\r\n")) {
    const ssize_t n = ::recv(connection, buffer, sizeof(buffer), 0);
    if (n <= 0) return;
    request.append(buffer, n);
  }
  const std::vector<std::string> words = absl::StrSplit(request, absl::MaxSplits(' ', 2));
  Answer answer{404, "text/plain", "none", "", false, ""};
  {
    absl::MutexLock lock(&mutex_);
    requests_.push_back(words[1]);
    const auto found = answers_.find(words[1]);
    if (found != answers_.end()) answer = found->second;
  }
  std::string reply = absl::StrCat(
      "HTTP/1.1 ", answer.code, " X\r\nContent-Type: ", answer.content_type,
      "\r\nConnection: close\r\nContent-Length: ", answer.body.size() + (answer.cut_short ? 1 : 0),
      "\r\n");
  if (!answer.location.empty()) absl::StrAppend(&reply, "Location: ", answer.location, "\r\n");
  absl::StrAppend(&reply, answer.headers, "\r\n", answer.body);
  for (size_t sent = 0; sent < reply.size();) {
    const ssize_t n = ::send(connection, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += n;
  }
  ::shutdown(connection, SHUT_WR);
  while (::recv(connection, buffer, sizeof(buffer), 0) > 0) {
  }
}

}  // namespace kernelmill::fetcher
