#include "client/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/http/port_user.h"

namespace kernelmill::client {
namespace {

using ::testing::HasSubstr;

TEST(HttpServerTest, AnErrorNamesTheProcessThatHasThePort) {
  const auto first = HttpServer::ServeFolder("127.0.0.1:0", "/");
  ASSERT_TRUE(first.ok());
  const std::string address = absl::StrCat("127.0.0.1:", (*first)->port());
  const std::string user = absl::StrCat("process ", ::getpid(), " (");
  EXPECT_THAT(*FindPortUser((*first)->port()), HasSubstr(user));
  const absl::Status refused = HttpServer::ServeFolder(address, "/").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr(absl::StrCat("cannot listen on ", address, ": in use by ", user)));
}

TEST(HttpServerTest, AFreePortHasNoUser) {
  const auto server = HttpServer::ServeFolder("127.0.0.1:0", "/");
  ASSERT_TRUE(server.ok());
  const int port = (*server)->port();
  EXPECT_TRUE(FindPortUser(port).has_value());
  EXPECT_FALSE(FindPortUser(1).has_value());
}

TEST(HttpServerTest, AnAddressThatIsNoneIsCalledWrong) {
  const absl::Status refused = HttpServer::ServeFolder("nowhere", "/").status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("must be HOST:PORT"));
}

}  // namespace
}  // namespace kernelmill::client
