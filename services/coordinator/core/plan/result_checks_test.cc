#include "services/coordinator/core/plan/result_checks.h"

#include <gtest/gtest.h>

#include <string>

#include "common/job/source_spec.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

const std::string kCommit(40, 'c');
const std::string kHash(64, 'd');

v1::Source Asked(const std::string& kind) {
  v1::Source source;
  if (kind == "git") source.set_git("https://example.org/a");
  if (kind == "package") source.set_package("triton==3.0.0");
  if (kind == "path") source.set_path("/src");
  source.set_name("a");
  source.add_include("**/*.py");
  source.set_license("MIT");
  source.set_tier(2);
  source.set_role(v1::SOURCE_ROLE_HOLDOUT);
  return source;
}

// Returns the result of an honest worker.
v1::StageResult MakePin(const v1::Source& asked) {
  v1::StageResult result;
  *result.mutable_pinned() = job::FetchPart(asked);
  if (asked.has_git()) {
    result.mutable_pinned()->set_ref(kCommit);
  } else {
    result.mutable_pinned()->set_sha256(kHash);
  }
  return result;
}

TEST(CheckPinned, OnlyThePinMayDiffer) {
  for (const char* kind : {"git", "package", "path"}) {
    const v1::Source asked = Asked(kind);
    EXPECT_THAT(CheckPinned(asked, MakePin(asked)), IsOk());
    v1::StageResult of_another = MakePin(asked);
    of_another.mutable_pinned()->set_package("evil==1");
    of_another.mutable_pinned()->set_sha256(kHash);
    EXPECT_THAT(CheckPinned(asked, of_another), StatusIs(absl::StatusCode::kInvalidArgument));
    v1::StageResult with_both = MakePin(asked);
    with_both.mutable_pinned()->set_ref(kCommit);
    with_both.mutable_pinned()->set_sha256(kHash);
    EXPECT_THAT(CheckPinned(asked, with_both), StatusIs(absl::StatusCode::kInvalidArgument));
    v1::StageResult computed = MakePin(asked);
    computed.mutable_pinned()->set_hash_computed(true);
    EXPECT_THAT(
        CheckPinned(asked, computed),
        StatusIs(asked.has_package() ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument));
    v1::StageResult renamed = MakePin(asked);
    renamed.mutable_pinned()->set_name("b");
    EXPECT_THAT(CheckPinned(asked, renamed), StatusIs(absl::StatusCode::kInvalidArgument));
    v1::StageResult wider = MakePin(asked);
    wider.mutable_pinned()->clear_include();
    EXPECT_THAT(CheckPinned(asked, wider), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(CheckFound, UrlsAreThoseThatAJobFileMightName) {
  v1::Source search;
  search.mutable_discover()->set_limit(3);
  const auto check = [&](std::initializer_list<const char*> urls) {
    v1::StageResult result;
    for (const char* url : urls) result.add_found(url);
    return CheckFound(search, result);
  };
  EXPECT_THAT(check({}), IsOk());
  EXPECT_THAT(check({"http://e.org/b", "https://e.org/a"}), IsOk());
  for (const char* url : {"", "/etc", "file:///etc", "ext::sh -c id", "--upload-pack=x",
                          "ssh://e.org/a", "https://u:p@e.org/a", "https://e.org/\n"}) {
    EXPECT_THAT(check({url}), StatusIs(absl::StatusCode::kInvalidArgument)) << url;
  }
  EXPECT_THAT(check({"https://e.org/b", "https://e.org/a"}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(check({"https://e.org/a", "https://e.org/a"}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(check({"https://e.org/a", "https://e.org/b", "https://e.org/c", "https://e.org/d"}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::coordinator
