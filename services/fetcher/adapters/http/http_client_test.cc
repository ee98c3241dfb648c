#include "services/fetcher/adapters/http/http_client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/retry_after.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/http/testing/http_server.h"
#include "services/fetcher/adapters/http/testing/loopback.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class HttpClientTest : public ::testing::Test {
 protected:
  HttpRequest Request(const std::string& path) {
    HttpRequest request;
    request.url = server_.Url(path);
    request.allow_http = true;
    request.hosts = PrivateHosts();
    return request;
  }
  TestHttpServer server_;
};

TEST_F(HttpClientTest, FollowsRedirectsToTheBody) {
  server_.Set("/a", {302, "", "", "/b"});
  server_.Set("/b", {200, "text/x", std::string("b\0b", 3)});
  const absl::StatusOr<HttpResponse> response = HttpGet(Request("/a"));
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->body, std::string("b\0b", 3));
  EXPECT_EQ(response->content_type, "text/x");
  EXPECT_EQ(response->url, server_.Url("/b"));
}

TEST_F(HttpClientTest, TellsOfARedirectThatItIsNotToFollow) {
  server_.Set("/a", {301, "", "", "/b"});
  HttpRequest request = Request("/a");
  request.follow = false;
  const absl::StatusOr<HttpResponse> response = HttpGet(request);
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->location, server_.Url("/b"));
}

// row 20
TEST_F(HttpClientTest, RedirectLoopEnds) {
  server_.Set("/a", {302, "", "", "/a"});
  EXPECT_THAT(HttpGet(Request("/a")), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(server_.Requests().size(), 6u);
}

// row 20
TEST_F(HttpClientTest, PlainHttpAndOtherSchemesAreDenied) {
  HttpRequest request = Request("/a");
  request.allow_http = false;
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied));
  server_.Set("/a", {302, "", "", "file:///etc/passwd"});
  EXPECT_THAT(HttpGet(Request("/a")), StatusIs(absl::StatusCode::kPermissionDenied));
  request.url = "file:///etc/passwd";
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied));
}

// The server's URL with its address written in another way.
std::string As(absl::string_view host, const std::string& url) {
  return absl::StrReplaceAll(url, {{"127.0.0.1", host}});
}

// row 20
TEST_F(HttpClientTest, PrivateAddressesAreDeniedInEveryForm) {
  server_.Set("/a", {200, "", "secret"});
  HttpRequest request = Request("/a");
  request.hosts = HostPolicy();
  for (const char* host :
       {"127.0.0.1", "127.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.1.", "localhost",
        "LOCALHOST", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "%31%32%37.0.0.1",
        "github.com@127.0.0.1", "github.com:80@127.0.0.1"}) {
    request.url = As(host, server_.Url("/a"));
    EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied)) << host;
  }
  for (const char* host : {"\xef\xbc\x91\x32\x37.0.0.1", "127.0.0.1\\@github.com",
                           "localhost\\.github.com", "localhost.", "[::1%25lo]"}) {
    request.url = As(host, server_.Url("/a"));
    EXPECT_FALSE(HttpGet(request).ok()) << host;
  }
  EXPECT_TRUE(server_.Requests().empty());
}

// row 20
TEST_F(HttpClientTest, RedirectFromAnAllowedHostToAnotherIsDenied) {
  TestHttpServer inside;
  inside.Set("/b", {200, "", "secret"});
  HttpRequest request = Request("/a");
  request.hosts = *HostPolicy::Create({{"localhost"}, true});
  request.url = As("localhost", request.url);
  for (const char* host : {"127.0.0.1", "127.1", "[::ffff:127.0.0.1]", "ip6-localhost"}) {
    server_.Set("/a", {302, "", "", As(host, inside.Url("/b"))});
    EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied)) << host;
  }
  EXPECT_TRUE(inside.Requests().empty());
  server_.Set("/a", {302, "", "", As("LOCALHOST", inside.Url("/b"))});
  ASSERT_THAT(HttpGet(request), IsOk());
  EXPECT_EQ(HttpGet(request)->body, "secret");
}

TEST_F(HttpClientTest, ListedNetworkAllowsItsAddresses) {
  server_.Set("/a", {200, "", "text"});
  HttpRequest request = Request("/a");
  request.hosts = *HostPolicy::Create({{"127.0.0.0/8"}});
  EXPECT_THAT(HttpGet(request), IsOk());
  request.url = As("localhost", request.url);
  EXPECT_THAT(HttpGet(request), IsOk());
  request.hosts = *HostPolicy::Create({{"127.0.0.2"}});
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(HttpClientTest, EndpointOfTheOperatorIsAllowed) {
  server_.Set("/a", {200, "", "text"});
  HttpRequest request = Request("/a");
  request.hosts = WithEndpoint(*HostPolicy::Create({{"github.com"}}), server_.Url("/simple"));
  EXPECT_THAT(HttpGet(request), IsOk());
  request.url = As("localhost", request.url);
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied));
}

// row 20
TEST_F(HttpClientTest, ExceptionToTheProxyIsCheckedAsIfThereWereNone) {
  server_.Set("/a", {200, "", "secret"});
  HttpRequest request = Request("/a");
  request.hosts = HostPolicy();
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  ::setenv("no_proxy", "localhost", 1);
  request.url = As("localhost", request.url);
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied));
  ::unsetenv("no_proxy");
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kUnavailable)) << "the proxy's decision";
  request.hosts = *HostPolicy::Create({{"github.com"}});
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied)) << "not in the list";
  ::setenv("http_proxy", "", 1);
  request.hosts = HostPolicy();
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kPermissionDenied)) << "no proxy at all";
  ::unsetenv("http_proxy");
  EXPECT_TRUE(server_.Requests().empty());
}

TEST_F(HttpClientTest, BodyOfARedirectIsNotPartOfTheAnswer) {
  server_.Set("/a", {302, "", "moved", "/b"});
  server_.Set("/b", {200, "", "here"});
  EXPECT_EQ(HttpGet(Request("/a"))->body, "here");
}

// row 28
TEST_F(HttpClientTest, BodyIsBounded) {
  server_.Set("/a", {200, "", std::string(1000, 'x')});
  HttpRequest request = Request("/a");
  request.max_bytes = 1000;
  EXPECT_THAT(HttpGet(request), IsOk());
  request.max_bytes = 999;
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kFailedPrecondition));
}

// row 28
TEST_F(HttpClientTest, BodyCutShortIsUnavailable) {
  server_.Set("/a", {200, "", "half", "", true});
  EXPECT_THAT(HttpGet(Request("/a")), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(HttpClientTest, BusyServerSaysWhenToComeAgain) {
  for (const int code : {429, 503}) {
    server_.Set("/a", {code, "", "", "", false, {{"retry-after", "70"}}});
    const absl::StatusOr<HttpResponse> response = HttpGet(Request("/a"));
    ASSERT_THAT(response, IsOk());
    EXPECT_EQ(GetRetryAfter(HttpStatus(*response)), absl::Seconds(70)) << code;
    EXPECT_THAT(HttpStatus(*response), StatusIs(absl::StatusCode::kUnavailable));
  }
  server_.Set("/a", {429, "", ""});
  EXPECT_EQ(GetRetryAfter(HttpStatus(*HttpGet(Request("/a")))), std::nullopt);
}

TEST_F(HttpClientTest, HeadersGoAndCome) {
  TestHttpServer::Answer answer{304};
  answer.headers = {{"ETag", "W/\"x\""}, {"X-Empty", ""}};
  server_.Set("/a", answer);
  HttpRequest request = Request("/a");
  request.accept = "text/x";
  request.headers = {{"If-None-Match", "W/\"x\""}};
  const absl::StatusOr<HttpResponse> response = HttpGet(request);
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->code, 304);
  EXPECT_EQ(response->headers.at("etag"), "W/\"x\"");
  EXPECT_EQ(server_.LastRequest().headers.at("accept"), "text/x");
  EXPECT_EQ(server_.LastRequest().headers.at("if-none-match"), "W/\"x\"");
}

TEST_F(HttpClientTest, HeadersAreThoseOfTheLastAnswer) {
  TestHttpServer::Answer first{302, "", "", "/b"};
  first.headers = {{"X-First", "1"}};
  server_.Set("/a", first);
  server_.Set("/b", {200});
  const absl::StatusOr<HttpResponse> response = HttpGet(Request("/a"));
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->headers.count("x-first"), 0u);
  EXPECT_EQ(response->headers.count("content-length"), 1u);
}

TEST_F(HttpClientTest, AuthorizationIsNotSentOnToAnotherHost) {
  TestHttpServer other;
  other.Set("/b", {200});
  server_.Set("/a", {302, "", "", other.Url("/b")});
  HttpRequest request = Request("/a");
  request.headers = {{"Authorization", "Bearer secret"}};
  ASSERT_THAT(HttpGet(request), IsOk());
  EXPECT_EQ(server_.LastRequest().headers.at("authorization"), "Bearer secret");
  EXPECT_EQ(other.LastRequest().headers.count("authorization"), 0u);
}

TEST_F(HttpClientTest, AHeaderCannotBeginAnother) {
  HttpRequest request = Request("/a");
  request.headers = {{"If-None-Match", "x\r\nHost: example.org"}};
  EXPECT_THAT(HttpGet(request), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(server_.Requests().empty());
}

TEST_F(HttpClientTest, HeadersAreBounded) {
  TestHttpServer::Answer answer{200};
  for (int i = 0; i < 80; ++i) answer.headers[absl::StrCat("X-", i)] = std::string(1000, 'x');
  server_.Set("/a", answer);
  EXPECT_THAT(HttpGet(Request("/a")), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(HttpStatus, CodesMeanStatuses) {
  const auto status = [](int code) {
    HttpResponse response;
    response.code = code;
    return HttpStatus(response);
  };
  EXPECT_THAT(status(200), IsOk());
  EXPECT_THAT(status(404), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(status(403), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(status(429), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(status(503), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(status(302), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ResolveUrl, LinksAreRelativeToTheirDocument) {
  const std::string base = "https://example.org/simple/x/";
  EXPECT_EQ(*ResolveUrl(base, "../../files/x.whl#sha256=0"),
            "https://example.org/files/x.whl#sha256=0");
  EXPECT_EQ(*ResolveUrl(base, "/y"), "https://example.org/y");
  EXPECT_EQ(*ResolveUrl(base, "//other.example.org/y"), "https://other.example.org/y");
  EXPECT_EQ(*ResolveUrl(base, "https://cdn.example.org/z"), "https://cdn.example.org/z");
  EXPECT_THAT(ResolveUrl(base, "https://[broken"), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::fetcher
