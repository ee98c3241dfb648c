#include "common/job/job_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "common/job/source_spec.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::JobSpec Job() {
  v1::JobSpec spec;
  spec.set_name("job");
  spec.add_sources()->set_git("https://example.org/r");
  spec.add_sources()->set_package("liger-kernel==0.8.5");
  spec.add_sources()->set_path("kernels");
  spec.add_sources()->set_inductor("torch_compile_debug");
  spec.add_sources()->mutable_discover()->add_topics("triton");
  return spec;
}

TEST(CheckJobSpec, AcceptsEveryOrigin) { EXPECT_THAT(CheckJobSpec(Job()), IsOk()); }

TEST(CheckJobSpec, NamesTheFieldThatIsWrong) {
  struct Case {
    const char* message;
    std::function<void(v1::JobSpec&)> spoil;
  };
  const Case cases[] = {
      {"name: ", [](v1::JobSpec& s) { s.set_name("../x"); }},
      {"sources[1].uses: has \"gone\", which is no source of the job",
       [](v1::JobSpec& s) { s.mutable_sources(1)->add_uses("gone"); }},
      {"sources[2].uses: has the source itself",
       [](v1::JobSpec& s) { s.mutable_sources(2)->add_uses("kernels"); }},
      {"sources[1].uses: has \"kernels\", a holdout",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->add_uses("kernels");
         s.mutable_sources(2)->set_role(v1::SOURCE_ROLE_HOLDOUT);
       }},
      {"sources[1].uses: has \"kernels\" twice",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->add_uses("kernels");
         s.mutable_sources(1)->add_uses("kernels");
       }},
      {"sources: is empty", [](v1::JobSpec& s) { s.clear_sources(); }},
      {"sources[0].git: begins with '-'",
       [](v1::JobSpec& s) { s.mutable_sources(0)->set_git("--upload-pack=x"); }},
      {"sources[0].ref: has a control",
       [](v1::JobSpec& s) { s.mutable_sources(0)->set_ref("a\nb"); }},
      {"sources[1].package: ", [](v1::JobSpec& s) { s.mutable_sources(1)->set_package("x>=1"); }},
      {"sources[1].sha256: ", [](v1::JobSpec& s) { s.mutable_sources(1)->set_sha256("12"); }},
      {"sources[1].keep: is files, but nothing of a holdout",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->set_keep(v1::SOURCE_KEEP_FILES);
         s.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
       }},
      {"sources[2]: has none", [](v1::JobSpec& s) { s.mutable_sources(2)->clear_origin(); }},
      {"sources[3].ref: is for git", [](v1::JobSpec& s) { s.mutable_sources(3)->set_ref("a"); }},
      {"sources[4].discover: has none",
       [](v1::JobSpec& s) { s.mutable_sources(4)->mutable_discover()->clear_topics(); }},
      {"sources[4].discover.limit: ",
       [](v1::JobSpec& s) { s.mutable_sources(4)->mutable_discover()->set_limit(1'000'000); }},
      {"sources[4].name: ", [](v1::JobSpec& s) { s.mutable_sources(4)->set_name("one"); }},
      {"sources[4].url: is of one repository",
       [](v1::JobSpec& s) { s.mutable_sources(4)->set_url("https://example.org/r"); }},
      {"sources[4].list: ", [](v1::JobSpec& s) { s.mutable_sources(4)->set_list("repos.txt"); }},
      {"visits.failure_hours: ", [](v1::JobSpec& s) { s.mutable_visits()->set_failure_hours(-1); }},
      {"sources[3].license: not a licence expression",
       [](v1::JobSpec& s) { s.mutable_sources(3)->set_license("see the README"); }},
      {"dedup.threshold: ", [](v1::JobSpec& s) { s.mutable_dedup()->set_threshold(1.5); }},
      {"quality.require: unknown check",
       [](v1::JobSpec& s) { s.mutable_quality()->add_require("x"); }},
      {"quality.exclude_kinds: unknown word \"tests\"; operation, helper, test, ",
       [](v1::JobSpec& s) { s.mutable_quality()->add_exclude_kinds("tests"); }},
      {"quality.targets: unknown word \"cuda\"; generic, nvidia, ",
       [](v1::JobSpec& s) { s.mutable_quality()->add_targets("cuda"); }},
      {"quality.min_tokens: is negative",
       [](v1::JobSpec& s) { s.mutable_quality()->set_min_tokens(-1); }},
  };
  for (const Case& c : cases) {
    v1::JobSpec spec = Job();
    c.spoil(spec);
    EXPECT_THAT(std::string(CheckJobSpec(spec).message()), StartsWith(c.message));
  }
}

TEST(CheckJobSpec, TakesNoCredentialsAndDoesNotRepeatThem) {
  for (const char* url : {"https://token@h.org/r", "https://u:secret@h.org/r", "git://u@h/r",
                          "ssh://git:secret@h/r", "HTTP://u:secret@h"}) {
    v1::JobSpec job = Job();
    job.mutable_sources(0)->set_git(url);
    const absl::Status status = CheckJobSpec(job);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << url;
    EXPECT_THAT(std::string(status.message()), ::testing::Not(::testing::HasSubstr("secret")));
    job = Job();
    job.mutable_sources(0)->set_name(url);
    EXPECT_THAT(CheckJobSpec(job), StatusIs(absl::StatusCode::kInvalidArgument)) << url;
  }
  for (const char* url : {"ssh://git@h.org/r", "https://h.org/@scope/r", "git@h.org:r"}) {
    v1::JobSpec job = Job();
    job.mutable_sources(0)->set_git(url);
    EXPECT_THAT(CheckJobSpec(job), IsOk()) << url;
  }
}

TEST(CheckJobSpec, TakesNoListThatWasNotRead) {
  v1::JobSpec spec = Job();
  spec.mutable_sources(1)->set_list("repositories.csv");
  EXPECT_THAT(CheckWrittenSpec(spec), IsOk());
  EXPECT_THAT(std::string(CheckJobSpec(spec).message()), StartsWith("sources[1].list: "));
}

TEST(FetchPart, HasNothingThatFetchingDoesNotNeed) {
  v1::Source source = Job().sources(0);
  const v1::Source bare = FetchPart(source);
  source.set_license("MIT");
  source.set_tier(3);
  source.set_url("https://example.org/elsewhere");
  EXPECT_EQ(FetchPart(source).SerializeAsString(), bare.SerializeAsString());
}

TEST(FetchPart, SaysThatFilesAreKeptAndNothingElseOfWhatIs) {
  v1::Source source = Job().sources(0);
  const v1::Source bare = FetchPart(source);
  source.set_keep(v1::SOURCE_KEEP_KERNELS);
  EXPECT_EQ(FetchPart(source).SerializeAsString(), bare.SerializeAsString());
  source.set_keep(v1::SOURCE_KEEP_FILES);
  EXPECT_EQ(FetchPart(source).keep(), v1::SOURCE_KEEP_FILES);
}

TEST(WithDefaults, ToSayThatKernelsAreKeptIsToSayNothing) {
  v1::JobSpec spec = Job();
  const v1::JobSpec silent = WithDefaults(spec);
  spec.mutable_sources(0)->set_keep(v1::SOURCE_KEEP_KERNELS);
  EXPECT_EQ(WithDefaults(spec).SerializeAsString(), silent.SerializeAsString());
}

TEST(IsPinned, NeedsACommitOrAHash) {
  v1::JobSpec spec = Job();
  EXPECT_FALSE(IsPinned(spec.sources(0)));
  spec.mutable_sources(0)->set_ref(std::string(40, 'a'));
  EXPECT_TRUE(IsPinned(spec.sources(0)));
  EXPECT_FALSE(IsPinned(spec.sources(1)));
  spec.mutable_sources(1)->set_sha256(std::string(64, '0'));
  EXPECT_TRUE(IsPinned(spec.sources(1)));
}

TEST(Identity, DoesNotDependOnWhereTheSourceWasFetchedFrom) {
  v1::Source here, there;
  here.set_git("file:///tmp/a");
  there.set_git("http://127.0.0.1:9/a");
  here.set_name("a");
  there.set_name("a");
  EXPECT_EQ(Identity(here).SerializeAsString(), Identity(there).SerializeAsString());
}

TEST(CheckJobSpec, AUrlIsAPageOnTheWeb) {
  v1::JobSpec spec = Job();
  for (const char* url : {"https://git.sr.ht/~a/b", "http://git.example.org:8080/a/b.git"}) {
    spec.mutable_sources(1)->set_url(url);
    EXPECT_THAT(CheckJobSpec(spec), IsOk()) << url;
  }
  for (const char* url : {"git@github.com:a/b", "ssh://example.org/a", "https://", "https:///a",
                          "https://user:secret@example.org/a", "https://example.org/a?token=1",
                          "https://example.org/a#L1", "https://example.org/a b",
                          "javascript:alert(1)", "https://example.org/\xc3\xa9"}) {
    spec.mutable_sources(1)->set_url(url);
    EXPECT_THAT(std::string(CheckJobSpec(spec).message()), StartsWith("sources[1].url: ")) << url;
  }
}

TEST(WithDefaults, TheUrlIsTheGitUrlWhereThatIsAPage) {
  v1::JobSpec job;
  for (const char* git : {"https://example.org/a", "https://user:secret@example.org/b",
                          "git://example.org/c", "http://127.0.0.1:9/d"}) {
    job.add_sources()->set_git(git);
  }
  job.add_sources()->set_git("https://example.org/e");
  job.mutable_sources(4)->set_url("https://example.org/upstream");
  const v1::JobSpec spec = WithDefaults(job);
  std::vector<std::string> urls;
  for (const v1::Source& source : spec.sources()) urls.push_back(source.url());
  EXPECT_THAT(urls, ::testing::ElementsAre("https://example.org/a", "", "", "",
                                           "https://example.org/upstream"));
  EXPECT_EQ(FoundSource(Job().sources(4), "https://example.org/f").url(), "https://example.org/f");
  EXPECT_EQ(Identity(spec.sources(0)).url(), "https://example.org/a");
}

TEST(WithDefaults, IsIdempotent) {
  const v1::JobSpec once = WithDefaults(Job());
  EXPECT_EQ(once.sources(0).ref(), "HEAD");
  EXPECT_EQ(WithDefaults(once).SerializeAsString(), once.SerializeAsString());
}

TEST(WithDefaults, GraphsOfAnInductorFolderAreNoKernelsUnlessGlobsSaySo) {
  v1::JobSpec job;
  job.add_sources()->set_inductor("debug");
  job.add_sources()->set_inductor("debug");
  job.mutable_sources(1)->add_include("**/fx_graph_runnable.py");
  job.add_sources()->set_path("debug");
  const v1::JobSpec spec = WithDefaults(job);
  EXPECT_THAT(spec.sources(0).include(), ::testing::ElementsAre("**/*.py"));
  EXPECT_THAT(spec.sources(0).exclude(), ::testing::ElementsAre("**/fx_graph_*.py"));
  EXPECT_THAT(spec.sources(1).include(), ::testing::ElementsAre("**/fx_graph_runnable.py"));
  EXPECT_THAT(spec.sources(1).exclude(), ::testing::IsEmpty());
  EXPECT_THAT(spec.sources(2).exclude(), ::testing::IsEmpty());
  EXPECT_EQ(WithDefaults(spec).SerializeAsString(), spec.SerializeAsString());
}

}  // namespace
}  // namespace kernelmill::job
