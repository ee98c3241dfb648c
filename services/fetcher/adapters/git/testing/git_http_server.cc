#include "services/fetcher/adapters/git/testing/git_http_server.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/process/child_process.h"

namespace kernelmill::fetcher {
namespace {

std::string FindHeader(const TestHttpServer::Request& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

// Turns the output of a CGI program into an answer.
TestHttpServer::Answer ParseCgi(absl::string_view output) {
  TestHttpServer::Answer answer;
  answer.keep_alive = true;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(output, absl::MaxSplits("\r\n\r\n", 1));
  for (const absl::string_view line : absl::StrSplit(parts.first, "\r\n")) {
    const std::pair<absl::string_view, absl::string_view> header =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (header.first == "Content-Type") answer.content_type = std::string(header.second);
    if (header.first == "Status") {
      EXPECT_TRUE(absl::SimpleAtoi(header.second.substr(0, 3), &answer.code)) << line;
    }
  }
  answer.body = std::string(parts.second);
  return answer;
}

}  // namespace

TestGitHttpServer::TestGitHttpServer() {
  server_.SetHandler([this](const Request& request) {
    Answer answer = Serve(request);
    if (spoil) spoil(request, answer);
    return answer;
  });
}

std::vector<std::string> TestGitHttpServer::Requests() const {
  std::vector<std::string> requests;
  for (const std::string& path : server_.Requests()) {
    const std::string plain = path.substr(0, path.find('?'));
    requests.push_back(plain.substr(plain.rfind('/') + 1));
  }
  return requests;
}

TestHttpServer::Answer TestGitHttpServer::Serve(const Request& request) const {
  const std::pair<std::string, std::string> target =
      absl::StrSplit(request.path, absl::MaxSplits('?', 1));
  ChildCommand command;
  command.argv = {"git", "http-backend"};
  command.env = {
      absl::StrCat("PATH=", std::getenv("PATH")),
      "GIT_PROJECT_ROOT=/",
      "GIT_HTTP_EXPORT_ALL=1",
      "GIT_CONFIG_NOSYSTEM=1",
      "GIT_CONFIG_GLOBAL=/dev/null",
      "GIT_CONFIG_COUNT=3",
      "GIT_CONFIG_KEY_0=safe.directory",
      "GIT_CONFIG_VALUE_0=*",
      "GIT_CONFIG_KEY_1=uploadpack.allowFilter",
      absl::StrCat("GIT_CONFIG_VALUE_1=", filter ? "true" : "false"),
      "GIT_CONFIG_KEY_2=uploadpack.allowAnySHA1InWant",  // the second version always does
      "GIT_CONFIG_VALUE_2=true",
      "REMOTE_ADDR=127.0.0.1",
      absl::StrCat("REQUEST_METHOD=", request.method),
      absl::StrCat("PATH_INFO=", target.first),
      absl::StrCat("QUERY_STRING=", target.second),
      absl::StrCat("CONTENT_TYPE=", FindHeader(request, "content-type")),
      absl::StrCat("CONTENT_LENGTH=", request.body.size()),
      absl::StrCat("HTTP_CONTENT_ENCODING=", FindHeader(request, "content-encoding"))};
  if (version_2) {
    command.env.push_back(absl::StrCat("GIT_PROTOCOL=", FindHeader(request, "git-protocol")));
  }
  command.input = request.body;
  command.max_output = 256 << 20;
  const absl::StatusOr<ChildResult> result = RunChild(command);
  return result.ok() ? ParseCgi(result->output) : Answer{500, "text/plain", "no git"};
}

}  // namespace kernelmill::fetcher
