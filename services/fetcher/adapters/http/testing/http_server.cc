#include "services/fetcher/adapters/http/testing/http_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "services/fetcher/adapters/http/testing/loopback.h"

namespace kernelmill::fetcher {
namespace {

TestHttpServer::Request ParseRequest(absl::string_view head) {
  TestHttpServer::Request request;
  const std::vector<absl::string_view> lines = absl::StrSplit(head, "\r\n");
  const std::vector<absl::string_view> words = absl::StrSplit(lines[0], ' ');
  request.method = std::string(words[0]);
  if (words.size() > 1) request.path = std::string(words[1]);
  for (const absl::string_view line : lines) {
    const std::pair<absl::string_view, absl::string_view> header =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    request.headers[absl::AsciiStrToLower(header.first)] = std::string(header.second);
  }
  return request;
}

bool Receive(int connection, std::string& received) {
  char buffer[1 << 16];
  const ssize_t n = ::recv(connection, buffer, sizeof(buffer), 0);
  if (n > 0) received.append(buffer, n);
  return n > 0;
}

bool Send(int connection, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(n);
  }
  return true;
}

std::string Serialize(const TestHttpServer::Answer& answer) {
  std::string reply =
      absl::StrCat("HTTP/1.1 ", answer.code, " X\r\nContent-Type: ", answer.content_type,
                   "\r\nConnection: ", answer.keep_alive ? "keep-alive" : "close",
                   "\r\nContent-Length: ", answer.body.size() + (answer.cut_short ? 1 : 0), "\r\n");
  if (!answer.location.empty()) absl::StrAppend(&reply, "Location: ", answer.location, "\r\n");
  for (const auto& [name, value] : answer.headers) {
    absl::StrAppend(&reply, name, ": ", value, "\r\n");
  }
  absl::StrAppend(&reply, "\r\n", answer.body);
  return reply;
}

}  // namespace

TestHttpServer::TestHttpServer() : listener_(ListenOnLoopback(&port_)) {
  thread_ = std::thread([this] { Serve(); });
}

TestHttpServer::~TestHttpServer() {
  ::shutdown(listener_, SHUT_RDWR);  // ends the accept
  thread_.join();
  {
    absl::MutexLock lock(&mutex_);
    for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  for (const int connection : connections_) ::close(connection);
  ::close(listener_);
}

void TestHttpServer::Set(const std::string& path, Answer answer) {
  absl::MutexLock lock(&mutex_);
  answers_[path] = std::move(answer);
}

void TestHttpServer::SetHandler(Handler handler) {
  absl::MutexLock lock(&mutex_);
  handler_ = std::move(handler);
}

std::string TestHttpServer::Url(const std::string& path) const {
  return absl::StrCat("http://127.0.0.1:", port_, path);
}

std::vector<std::string> TestHttpServer::Requests() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> paths;
  for (const Request& request : requests_) paths.push_back(request.path);
  return paths;
}

TestHttpServer::Request TestHttpServer::LastRequest() const {
  absl::MutexLock lock(&mutex_);
  return requests_.empty() ? Request() : requests_.back();
}

void TestHttpServer::Serve() {
  while (true) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    {
      absl::MutexLock lock(&mutex_);
      connections_.push_back(connection);
    }
    threads_.emplace_back([this, connection] { HandleConnection(connection); });
  }
}

int TestHttpServer::Connections() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int>(connections_.size());
}

TestHttpServer::Answer TestHttpServer::AnswerTo(const Request& request) {
  Handler handler;
  {
    absl::MutexLock lock(&mutex_);
    requests_.push_back(request);
    const auto found = answers_.find(request.path);
    if (found != answers_.end()) return found->second;
    handler = handler_;
  }
  return handler ? handler(request) : Answer{404, "text/plain", "none"};
}

void TestHttpServer::HandleConnection(int connection) {
  std::string received;
  while (HandleRequest(connection, received)) {
  }
  ::shutdown(connection, SHUT_WR);
  while (Receive(connection, received)) {
  }
}

bool TestHttpServer::HandleRequest(int connection, std::string& received) {
  const std::string kHeadEnd = "\r\n\r\n";
  while (!absl::StrContains(received, kHeadEnd)) {
    if (!Receive(connection, received)) return false;
  }
  const size_t head = received.find(kHeadEnd) + kHeadEnd.size();
  Request request = ParseRequest(absl::string_view(received).substr(0, head));
  size_t body = 0;
  if (request.headers.count("content-length") > 0 &&
      !absl::SimpleAtoi(request.headers["content-length"], &body)) {
    return false;
  }
  while (received.size() < head + body) {
    if (!Receive(connection, received)) return false;
  }
  request.body = received.substr(head, body);
  received.erase(0, head + body);
  const Answer answer = AnswerTo(request);
  if (!Send(connection, Serialize(answer))) return false;
  while (answer.stall && Receive(connection, received)) {
  }
  return answer.keep_alive && !answer.cut_short;
}

}  // namespace kernelmill::fetcher
