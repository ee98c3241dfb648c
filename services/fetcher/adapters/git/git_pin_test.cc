#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/retry_after.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/git/testing/test_repository.h"
#include "services/fetcher/adapters/http/testing/http_server.h"

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
  options_.allow_private = true;
  EXPECT_THAT(PinGit("git://127.0.0.1:1/x", "HEAD", options_),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(GitPinTest, BusyServerSaysWhenToComeAgain) {
  TestHttpServer server;
  options_.allow_private = true;
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
  options_.allow_private = true;
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
