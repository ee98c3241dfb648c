#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/retry_after.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/git/testing/git_http_server.h"
#include "services/fetcher/adapters/git/testing/git_server.h"
#include "services/fetcher/adapters/git/testing/test_repository.h"
#include "services/fetcher/adapters/http/testing/http_server.h"
#include "services/fetcher/adapters/http/testing/loopback.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

class GitPinTest : public ::testing::Test {
 protected:
  GitPinTest() {
    options_.local = LocalFolders({"/"});
    options_.temp_dir = temp_.path();
    const std::string tree = repository_.Tree({});
    main_ = repository_.Commit(tree, 1);
    other_ = repository_.Commit(tree, 2);
    repository_.SetRef("refs/heads/main", main_);
    repository_.SetRef("refs/heads/feature/x", other_);
    repository_.SetRef("refs/tags/light", other_);
    repository_.SetRef("refs/pull/7/head", other_);
    tag_ = repository_.Tag("annotated", other_);
  }

  absl::StatusOr<std::string> Pin(const std::string& ref) {
    absl::StatusOr<std::string> pinned = PinGit(repository_.path(), ref, options_);
    EXPECT_TRUE(std::filesystem::is_empty(temp_.path()));
    return pinned;
  }

  TempDir temp_ = *TempDir::Create();
  GitOptions options_;
  TestRepository repository_;
  std::string main_, other_, tag_;
};

TEST_F(GitPinTest, AMissingFolderIsCalledMissing) {
  for (const std::string prefix : {"", "file://"}) {
    const absl::Status status =
        PinGit(absl::StrCat(prefix, temp_.path(), "/no.git"), "main", options_).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
    EXPECT_THAT(std::string(status.message()), HasSubstr("/no.git\": there is no such folder"));
  }
}

TEST_F(GitPinTest, HeadBranchTagAndFullRef) {
  EXPECT_EQ(*Pin(""), main_);
  EXPECT_EQ(*Pin("HEAD"), main_);
  EXPECT_EQ(*Pin("main"), main_);
  EXPECT_EQ(*Pin("feature/x"), other_);
  EXPECT_EQ(*Pin("light"), other_);
  EXPECT_EQ(*Pin("refs/pull/7/head"), other_);
}

TEST_F(GitPinTest, AnnotatedTagIsPeeledToItsCommit) {
  ASSERT_NE(tag_, other_);
  EXPECT_EQ(*Pin("annotated"), other_);
  EXPECT_EQ(*Pin("refs/tags/annotated"), other_);
}

TEST_F(GitPinTest, BranchGoesBeforeTag) {
  repository_.SetRef("refs/tags/main", other_);
  EXPECT_EQ(*Pin("main"), main_);
  EXPECT_EQ(*Pin("refs/tags/main"), other_);
}

TEST_F(GitPinTest, NameThatOnlyEndsAlikeIsNotTaken) {
  EXPECT_THAT(Pin("x"), StatusIs(absl::StatusCode::kNotFound));
  repository_.SetRef("refs/remotes/origin/HEAD", other_);
  EXPECT_EQ(*Pin("HEAD"), main_);
}

TEST_F(GitPinTest, CommitIsItselfAndNobodyIsAsked) {
  const std::string commit(40, 'a');
  EXPECT_EQ(*PinGit("https://nowhere.invalid/x", commit, options_), commit);
  EXPECT_EQ(*PinGit("https://nowhere.invalid/x", absl::AsciiStrToUpper(commit), options_), commit);
}

TEST_F(GitPinTest, NamesNeedNotBeAscii) {
  repository_.SetRef("refs/heads/\xc3\xa9t\xc3\xa9", other_);
  EXPECT_EQ(*Pin("\xc3\xa9t\xc3\xa9"), other_);
}

TEST_F(GitPinTest, LongerNamesAreNotTaken) {
  repository_.SetRef("refs/heads/main-2", other_);
  repository_.SetRef("refs/heads/only-2", other_);
  EXPECT_EQ(*Pin("main"), main_);
  EXPECT_THAT(Pin("only"), StatusIs(absl::StatusCode::kNotFound));
}

// Were all refs sent, they would not fit into what git may write.
TEST_F(GitPinTest, OfAMillionRefsTheOneThatIsAskedForIsSent) {
  std::string packed = "# pack-refs with: peeled fully-peeled sorted \n";
  for (int i = 1'000'000; i < 2'000'000; ++i) {
    absl::StrAppend(&packed, main_, " refs/pull/", i, "/head\n");
  }
  ASSERT_THAT(WriteFile(repository_.path() + "/packed-refs", packed), IsOk());
  options_.pack_bytes = 1 << 20;  // bounds the trace of what was sent
  EXPECT_EQ(*Pin("main"), main_);
  EXPECT_EQ(*Pin("annotated"), other_);
  EXPECT_EQ(*Pin("refs/pull/1234567/head"), main_);
  EXPECT_EQ(*Pin("HEAD"), main_);
}

TEST_F(GitPinTest, ForcePushMovesThePin) {
  repository_.SetRef("refs/heads/main", other_);
  EXPECT_EQ(*Pin("main"), other_);
}

TEST_F(GitPinTest, UnknownRefIsNamed) {
  const absl::StatusOr<std::string> pinned = Pin("no-such-branch");
  ASSERT_THAT(pinned, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(pinned.status().message()), HasSubstr("\"no-such-branch\""));
}

TEST_F(GitPinTest, EmptyRepositoryHasNoHead) {
  const TestRepository empty;
  EXPECT_THAT(PinGit(empty.path(), "HEAD", options_), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(GitPinTest, FileUrlWorksLikeThePath) {
  EXPECT_EQ(*PinGit("file://" + repository_.path(), "main", options_), main_);
}

TEST_F(GitPinTest, MissingRepositoryIsNotFound) {
  EXPECT_THAT(PinGit(temp_.path() + "/none", "HEAD", options_),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(GitPinTest, HostileUrlsAndRefsNeverReachGit) {
  EXPECT_THAT(Pin("--upload-pack=id"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(PinGit("ext::sh -c id", "HEAD", options_),
              StatusIs(absl::StatusCode::kPermissionDenied));
  options_.local = LocalFolders();
  EXPECT_THAT(Pin("main"), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(GitPinTest, PrivateAddressesAreDeniedUnlessAllowed) {
  for (const char* url : {"http://127.0.0.1:1/x", "https://localhost:1/x", "git://[::1]:1/x",
                          "ssh://169.254.169.254/x"}) {
    EXPECT_THAT(PinGit(url, "HEAD", options_), StatusIs(absl::StatusCode::kPermissionDenied))
        << url;
  }
  options_.hosts = PrivateHosts();
  EXPECT_THAT(PinGit("git://127.0.0.1:1/x", "HEAD", options_),
              StatusIs(absl::StatusCode::kUnavailable));
}

// A policy in whose world rebind.example has an address, and localhost another.
HostPolicy OnlyRebind() {
  return *HostPolicy::Create({{"rebind.example"}, true},
                             [](const std::string& host) -> absl::StatusOr<std::vector<IpAddress>> {
                               EXPECT_EQ(host, "rebind.example");
                               return std::vector<IpAddress>{*IpAddress::Parse("127.0.0.1")};
                             });
}

std::string AtRebind(const std::string& url) {
  return absl::StrReplaceAll(url, {{"127.0.0.1", "rebind.example"}});
}

// row 20: no resolver of this machine knows the name, so git has not asked one.
TEST_F(GitPinTest, GitConnectsToTheAddressesThatWereChecked) {
  options_.hosts = OnlyRebind();
  TestGitServer daemon;
  EXPECT_EQ(*PinGit(AtRebind(daemon.Url(repository_.path())), "main", options_), main_);
  TestGitHttpServer server;
  const std::string url = AtRebind(server.Url(repository_.path()));
  EXPECT_EQ(*PinGit(url, "main", options_), main_);
  EXPECT_EQ(
      *PinGit(absl::StrReplaceAll(url, {{"rebind.example", "Rebind.Example."}}), "main", options_),
      main_);
}

// row 20
TEST_F(GitPinTest, SshConnectsToTheAddressThatWasChecked) {
  options_.hosts = OnlyRebind();
  const std::string folder = temp_.path() + "/bin", said = folder + "/said";
  std::filesystem::create_directory(folder);
  ASSERT_THAT(WriteFile(folder + "/ssh",
                        absl::StrCat("#!/bin/sh\nprintf '%s\\n' \"$@\" > ", said, "\nexit 255\n")),
              IsOk());
  std::filesystem::permissions(folder + "/ssh", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", absl::StrCat(folder, ":", path).c_str(), 1);
  EXPECT_FALSE(PinGit("ssh://git@Rebind.example:2222/x", "main", options_).ok());
  ::setenv("PATH", path.c_str(), 1);
  const absl::StatusOr<std::string> arguments = ReadFile(said, 4096);
  ASSERT_THAT(arguments, IsOk());
  EXPECT_THAT(*arguments, HasSubstr("\n-oHostName=127.0.0.1\n"));
  EXPECT_THAT(*arguments, HasSubstr("\n-oHostKeyAlias=[rebind.example]:2222\n"));
  std::filesystem::remove_all(folder);
}

// row 20
TEST_F(GitPinTest, RedirectOfGitToAHostThatIsNotListedIsDenied) {
  TestGitHttpServer inside;
  TestHttpServer server;
  options_.hosts = *HostPolicy::Create({{"localhost"}, true});
  const std::string url = absl::StrReplaceAll(server.Url("/x"), {{"127.0.0.1", "localhost"}});
  const std::string path = "/x/info/refs?service=git-upload-pack";
  const std::string target = inside.Url(repository_.path()) + "/info/refs?service=git-upload-pack";
  server.Set(path, {302, "", "", target});
  EXPECT_THAT(PinGit(url, "main", options_), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_TRUE(inside.Requests().empty());
  server.Set(path, {302, "", "", absl::StrReplaceAll(target, {{"127.0.0.1", "localhost"}})});
  EXPECT_EQ(*PinGit(url, "main", options_), main_);
}

// row 20
TEST_F(GitPinTest, LinkLocalAddressesAreDeniedWhateverIsAllowed) {
  options_.hosts = PrivateHosts();
  for (const char* url : {"http://169.254.169.254/x", "git://[fe80::1]/x", "ssh://2852039166/x",
                          "https://[::ffff:169.254.169.254]/x", "http://[fd00:ec2::254]/x",
                          "git://100.100.100.200/x"}) {
    EXPECT_THAT(PinGit(url, "HEAD", options_), StatusIs(absl::StatusCode::kPermissionDenied))
        << url;
  }
}

TEST_F(GitPinTest, BusyServerSaysWhenToComeAgain) {
  TestHttpServer server;
  options_.hosts = PrivateHosts();
  const std::string path = "/x/info/refs?service=git-upload-pack";
  for (const int code : {429, 503}) {
    server.Set(path, {code, "", "", "", false, {{"Retry-After", "70"}}});
    const absl::StatusOr<std::string> pinned = PinGit(server.Url("/x"), "main", options_);
    EXPECT_THAT(pinned, StatusIs(absl::StatusCode::kUnavailable)) << code;
    EXPECT_EQ(GetRetryAfter(pinned.status()), absl::Seconds(70)) << code;
  }
  server.Set(path, {503, "", ""});
  EXPECT_EQ(GetRetryAfter(PinGit(server.Url("/x"), "main", options_).status()), std::nullopt);
}

TEST_F(GitPinTest, ServerThatStallsIsGivenUp) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);  // connects, and never says a word
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  options_.hosts = PrivateHosts();
  options_.timeout = absl::Milliseconds(500);
  for (const char* scheme : {"git", "http"}) {
    const std::string url = absl::StrCat(scheme, "://127.0.0.1:", ntohs(address.sin_port), "/x");
    EXPECT_THAT(PinGit(url, "HEAD", options_), StatusIs(absl::StatusCode::kDeadlineExceeded));
  }
  ::close(listener);
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path()));
}

}  // namespace
}  // namespace kernelmill::fetcher
