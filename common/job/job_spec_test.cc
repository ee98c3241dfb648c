#include "common/job/job_spec.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/job_file.h"
#include "common/job/source_spec.h"
#include "common/testing/status_matchers.h"
#include "common/toolchains/toolchains.h"

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
      {"sources[1].uses: \"gone\" is not a source of the job",
       [](v1::JobSpec& s) { s.mutable_sources(1)->add_uses("gone"); }},
      {"sources[2].uses: must not name the source itself",
       [](v1::JobSpec& s) { s.mutable_sources(2)->add_uses("kernels"); }},
      {"sources[1].uses: must not name \"kernels\", a holdout",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->add_uses("kernels");
         s.mutable_sources(2)->set_role(v1::SOURCE_ROLE_HOLDOUT);
       }},
      {"sources[1].uses: must not name \"kernels\" twice",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->add_uses("kernels");
         s.mutable_sources(1)->add_uses("kernels");
       }},
      {"sources: must list at least one source", [](v1::JobSpec& s) { s.clear_sources(); }},
      {"sources[0].git: must not begin with '-'",
       [](v1::JobSpec& s) { s.mutable_sources(0)->set_git("--upload-pack=x"); }},
      {"sources[0].ref: must not contain a control",
       [](v1::JobSpec& s) { s.mutable_sources(0)->set_ref("a\nb"); }},
      {"sources[1].package: ", [](v1::JobSpec& s) { s.mutable_sources(1)->set_package("x>=1"); }},
      {"sources[1].sha256: ", [](v1::JobSpec& s) { s.mutable_sources(1)->set_sha256("12"); }},
      {"sources[1].keep: must not be files for a holdout",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->set_keep(v1::SOURCE_KEEP_FILES);
         s.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
       }},
      {"sources[1].keep: must not be graphs for a holdout",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->set_keep(v1::SOURCE_KEEP_GRAPHS);
         s.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
       }},
      {"sources[1]: must have neither keep, uses nor inductor if its role is evidence",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->set_keep(v1::SOURCE_KEEP_GRAPHS);
         s.mutable_sources(1)->set_role(v1::SOURCE_ROLE_EVIDENCE);
       }},
      {"sources[1].uses: must not name \"kernels\", which has evidence",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->add_uses("kernels");
         s.mutable_sources(2)->set_role(v1::SOURCE_ROLE_EVIDENCE);
       }},
      {"sources[1]: must have neither keep, uses nor inductor if its role is evidence",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->add_uses("kernels");
         s.mutable_sources(1)->set_role(v1::SOURCE_ROLE_EVIDENCE);
       }},
      {"sources[1]: must have neither keep, uses nor inductor if its role is evidence",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->set_keep(v1::SOURCE_KEEP_FILES);
         s.mutable_sources(1)->set_role(v1::SOURCE_ROLE_EVIDENCE);
       }},
      {"evidence: requires a source with the role evidence",
       [](v1::JobSpec& s) { s.mutable_evidence()->set_min_adequacy(0.5); }},
      {"evidence.min_adequacy: ",
       [](v1::JobSpec& s) {
         s.mutable_sources(1)->set_role(v1::SOURCE_ROLE_EVIDENCE);
         s.mutable_evidence()->set_min_adequacy(1.5);
       }},
      {"sources[2]: must have one of git",
       [](v1::JobSpec& s) { s.mutable_sources(2)->clear_origin(); }},
      {"sources[3].ref: applies to git only",
       [](v1::JobSpec& s) { s.mutable_sources(3)->set_ref("a"); }},
      {"sources[4].discover: must have at least one of",
       [](v1::JobSpec& s) { s.mutable_sources(4)->mutable_discover()->clear_topics(); }},
      {"sources[4].discover.limit: ",
       [](v1::JobSpec& s) { s.mutable_sources(4)->mutable_discover()->set_limit(1'000'000); }},
      {"sources[4].name: ", [](v1::JobSpec& s) { s.mutable_sources(4)->set_name("one"); }},
      {"sources[4].url: applies to a single repository only",
       [](v1::JobSpec& s) { s.mutable_sources(4)->set_url("https://example.org/r"); }},
      {"sources[4].list: ", [](v1::JobSpec& s) { s.mutable_sources(4)->set_list("repos.txt"); }},
      {"visits.failure_hours: ", [](v1::JobSpec& s) { s.mutable_visits()->set_failure_hours(-1); }},
      {"licenses.allow: \"Apache2.0\" is not in the SPDX list (did you mean Apache-2.0?)",
       [](v1::JobSpec& s) { s.mutable_licenses()->add_allow("Apache2.0"); }},
      {"licenses.allow: \"BSD3\" is not in the SPDX list (did you mean BSD-3-Clause?)",
       [](v1::JobSpec& s) { s.mutable_licenses()->add_allow("BSD3"); }},
      {"sources[3].path_licenses[0].paths: must have at least one glob",
       [](v1::JobSpec& s) { s.mutable_sources(3)->add_path_licenses()->set_license("MIT"); }},
      {"sources[3].license: \"MITT\" is not in the SPDX list (did you mean MIT?)",
       [](v1::JobSpec& s) { s.mutable_sources(3)->set_license("MITT"); }},
      {"sources[3].license: invalid SPDX expression",
       [](v1::JobSpec& s) { s.mutable_sources(3)->set_license("see the README"); }},
      {"dedup.threshold: ", [](v1::JobSpec& s) { s.mutable_dedup()->set_threshold(1.5); }},
      {"quality.require: unknown check",
       [](v1::JobSpec& s) { s.mutable_quality()->add_require("x"); }},
      {"quality.exclude_kinds: unknown word \"tests\" (did you mean test?); use one of operation, "
       "helper, test, ",
       [](v1::JobSpec& s) { s.mutable_quality()->add_exclude_kinds("tests"); }},
      {"quality.targets: unknown word \"cuda\"; use one of generic, nvidia, ",
       [](v1::JobSpec& s) { s.mutable_quality()->add_targets("cuda"); }},
      {"quality.min_tokens: must not be negative",
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

TEST(CheckJobSpec, AComputedHashIsAPackagesAndNoneThatAJobRequires) {
  v1::JobSpec spec = Job();
  v1::Source& source = *spec.add_sources();
  source.set_package("waves==1.0");
  source.set_sha256(std::string(64, 'a'));
  source.set_hash_computed(true);
  EXPECT_THAT(CheckJobSpec(spec), IsOk());
  const std::string where = absl::StrCat("sources[", spec.sources_size() - 1, "].hash_computed: ");
  spec.set_require_hashes(true);
  EXPECT_THAT(std::string(CheckJobSpec(spec).message()), StartsWith(where));
  source.set_hash_computed(false);
  EXPECT_THAT(CheckJobSpec(spec), IsOk());
  spec.set_require_hashes(false);
  source.set_hash_computed(true);
  source.clear_sha256();
  EXPECT_THAT(std::string(CheckJobSpec(spec).message()), StartsWith(where));
  source.set_path("/waves");
  source.set_sha256(std::string(64, 'a'));
  EXPECT_THAT(std::string(CheckJobSpec(spec).message()), StartsWith(where));
}

TEST(FetchPart, HasNothingThatFetchingDoesNotNeed) {
  v1::Source source = Job().sources(0);
  const v1::Source bare = FetchPart(source);
  source.set_license("MIT");
  source.set_tier(3);
  source.set_url("https://example.org/elsewhere");
  source.set_hash_computed(true);
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

// The graphs are beside the kernels, in files without a kernel marker.
TEST(FetchPart, GraphsAreHandedOnAndOnlyKernelsExtracted) {
  v1::Source source = Job().sources(0);
  source.set_keep(v1::SOURCE_KEEP_GRAPHS);
  EXPECT_EQ(FetchPart(source).keep(), v1::SOURCE_KEEP_FILES);
  EXPECT_FALSE(ReadsWholeFiles(source));
  EXPECT_TRUE(KeepsGraphs(source));
}

// It is compared as text, whatever is in it.
TEST(FetchPart, HoldoutIsReadWhole) {
  v1::Source source = Job().sources(0);
  EXPECT_FALSE(ReadsWholeFiles(source));
  source.set_role(v1::SOURCE_ROLE_HOLDOUT);
  EXPECT_TRUE(ReadsWholeFiles(source));
  EXPECT_EQ(FetchPart(source).keep(), v1::SOURCE_KEEP_FILES);
  EXPECT_EQ(FetchPart(source).role(), v1::SourceRole());
}

TEST(FetchPart, SaysThatASourceHasEvidence) {
  v1::Source source = Job().sources(0);
  source.set_role(v1::SOURCE_ROLE_EVIDENCE);
  EXPECT_EQ(FetchPart(source).keep(), v1::SourceKeep());
  EXPECT_EQ(FetchPart(source).role(), v1::SOURCE_ROLE_EVIDENCE);
  EXPECT_FALSE(ReadsWholeFiles(source)) << "nothing is extracted from it";
}

TEST(WithDefaults, EvidenceHasGlobsAndABoundOfItsOwn) {
  v1::JobSpec spec = Job();
  EXPECT_FALSE(WithDefaults(spec).has_evidence());
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_EVIDENCE);
  spec.mutable_sources(1)->clear_include();
  EXPECT_THAT(WithDefaults(spec).sources(1).include(), ::testing::ElementsAre("**/*.jsonl"));
  EXPECT_EQ(WithDefaults(spec).evidence().min_adequacy(), 0.8);
  spec.mutable_evidence()->set_min_adequacy(0);
  EXPECT_EQ(WithDefaults(spec).evidence().min_adequacy(), 0);
}

TEST(WithDefaults, EvidenceWhoseCasesRunHasItsTensors) {
  v1::JobSpec spec = Job();
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_EVIDENCE);
  spec.mutable_sources(1)->clear_include();
  spec.mutable_run()->set_device("cpu");
  const v1::JobSpec full = WithDefaults(spec);
  EXPECT_THAT(full.sources(1).include(), ::testing::ElementsAre("**/*.jsonl", kTensorInclude));
  EXPECT_EQ(full.sources(0).include_size(), 1) << "code has none";
  spec.mutable_sources(1)->add_include("cases.jsonl");
  EXPECT_THAT(WithDefaults(spec).sources(1).include(), ::testing::ElementsAre("cases.jsonl"));
}

TEST(RunPolicy, NeedsADeviceThatIsKnownAndEvidence) {
  v1::JobSpec spec = Job();
  spec.mutable_run();
  EXPECT_EQ(std::string(CheckJobSpec(spec).message()),
            "run.device: must be given; use one of cpu, cuda:80, cuda:90, cuda:100");
  spec.mutable_run()->set_device("cuda90");
  EXPECT_THAT(std::string(CheckJobSpec(spec).message()),
              HasSubstr("run.device: unknown device \"cuda90\" (did you mean cuda:90?); use one"));
  spec.mutable_run()->set_device("cuda:90");
  EXPECT_EQ(std::string(CheckJobSpec(spec).message()),
            "run: requires a source with the role evidence, which has the cases");
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_EVIDENCE);
  EXPECT_THAT(CheckJobSpec(spec), IsOk());
}

TEST(RunSource, IsNamedByItsDeviceAndContent) {
  const std::string hash(64, 'a');
  v1::Source source;
  source.set_path(RunSourceName("cuda:90", hash));
  EXPECT_EQ(source.path(), "run/cuda-90-aaaaaaaaaaaa");
  EXPECT_FALSE(IsRunSource(source)) << "not pinned";
  source.set_sha256(hash);
  EXPECT_TRUE(IsRunSource(source));
  source.set_name(source.path());
  source.set_path("/elsewhere/" + source.path());
  EXPECT_TRUE(IsRunSource(source)) << "as a lock is read";
  source.set_sha256(std::string(64, 'b'));
  EXPECT_FALSE(IsRunSource(source));
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

TEST(WithDefaults, ASourceOfGraphsHasTheFilesOfCaptures) {
  v1::JobSpec job;
  job.add_sources()->set_inductor("captures");
  job.mutable_sources(0)->set_keep(v1::SOURCE_KEEP_GRAPHS);
  const v1::JobSpec spec = WithDefaults(job);
  EXPECT_THAT(spec.sources(0).include(), ::testing::ElementsAre(kGraphsInclude));
  EXPECT_THAT(spec.sources(0).exclude(), ::testing::IsEmpty());
}

TEST(WithDefaults, GraphsOfAnInductorFolderAreNoKernelsUnlessGlobsSaySo) {
  v1::JobSpec job;
  job.add_sources()->set_inductor("debug");
  job.add_sources()->set_inductor("debug");
  job.mutable_sources(1)->add_include("**/fx_graph_runnable.py");
  job.add_sources()->set_path("debug");
  const v1::JobSpec spec = WithDefaults(job);
  EXPECT_THAT(spec.sources(0).include(), ::testing::ElementsAre("**/*.{py,ipynb}"));
  EXPECT_THAT(spec.sources(0).exclude(), ::testing::ElementsAre("**/fx_graph_*.py"));
  EXPECT_THAT(spec.sources(1).include(), ::testing::ElementsAre("**/fx_graph_runnable.py"));
  EXPECT_THAT(spec.sources(1).exclude(), ::testing::IsEmpty());
  EXPECT_THAT(spec.sources(2).exclude(), ::testing::IsEmpty());
  EXPECT_EQ(WithDefaults(spec).SerializeAsString(), spec.SerializeAsString());
}

using ::kernelmill::testing::IsOk;

std::string FindError(const v1::SplitPolicy& policy) {
  v1::JobSpec spec;
  spec.set_name("job");
  spec.add_sources()->set_git("https://example.org/a/b");
  *spec.mutable_splits() = policy;
  return std::string(CheckJobSpec(spec).message());
}

TEST(SplitPolicy, SharesLeaveSomethingForTrain) {
  v1::SplitPolicy policy;
  policy.set_validation(0.05);
  policy.set_test(0.9);
  policy.set_seed("any");
  EXPECT_THAT(CheckSplits(policy), IsOk());
  policy.set_test(0.95);
  EXPECT_EQ(FindError(policy),
            "splits: validation and test must add up to less than 1, so that train has a share");
  policy.set_test(1.5);
  EXPECT_EQ(FindError(policy), "splits.test: must be between 0 and 1");
  policy.set_test(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(FindError(policy), "splits.test: must be between 0 and 1");
  policy.set_test(0);
  policy.set_validation(-0.1);
  EXPECT_EQ(FindError(policy), "splits.validation: must be between 0 and 1");
}

TEST(SplitPolicy, ARepositoryIsNamedOnce) {
  v1::SplitPolicy policy;
  policy.add_test_repositories("https://github.com/a/b");
  policy.add_test_repositories("https://github.com/a/c");
  EXPECT_THAT(CheckSplits(policy), IsOk());
  policy.add_validation_repositories("github.com/A/C");
  EXPECT_EQ(FindError(policy),
            "splits.test_repositories[1]: names the same repository as validation_repositories[0]");
  policy.set_validation_repositories(0, "");
  EXPECT_EQ(FindError(policy), "splits.validation_repositories[0]: must not be empty");
  policy.set_validation_repositories(0, "a\n");
  EXPECT_EQ(FindError(policy),
            "splits.validation_repositories[0]: must not contain a control character");
}

TEST(SplitPolicy, DividesOnlyWithAShareOrAName) {
  v1::SplitPolicy policy;
  EXPECT_FALSE(Divides(policy));
  policy.set_seed("any");
  EXPECT_FALSE(Divides(policy));
  policy.set_test(0.1);
  EXPECT_TRUE(Divides(policy));
  policy.clear_test();
  policy.add_validation_repositories("a");
  EXPECT_TRUE(Divides(policy));
}

using ::kernelmill::testing::IsOk;

std::string FindProblem(const std::string& json) {
  v1::Mix mix;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &mix).ok()) << json;
  return std::string(CheckMix(mix).message());
}

// A mix of one phase with one part.
std::string PartProblem(const std::string& part) {
  return FindProblem(R"({"corpora": [{"name": "web", "tokens": 5}], "phases": [{"name": "a",
                       "tokens": 10, "parts": [)" +
                     part + "]}]}");
}

TEST(CheckMix, AMixMayNameConfigsCorporaWeightsAndEpochs) {
  EXPECT_EQ(PartProblem(R"({"config": "fim", "weight": 2, "tiers": [1], "dsls": ["triton"]})"), "");
  EXPECT_EQ(PartProblem(R"({"config": "repair"})"), "") << "a template of instruct";
  EXPECT_EQ(PartProblem(R"({"corpus": "web"})"), "");
  EXPECT_EQ(FindProblem(R"({"phases": [{"name": "a", "parts": [{"epochs": 3}]}]})"), "");
  EXPECT_THAT(CheckMix(v1::Mix()), IsOk());
}

TEST(CheckMix, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(PartProblem(R"({"config": "kernel"})"),
            "mix.phases[0].parts[0].config: unknown config \"kernel\" (did you mean kernels?); use "
            "one of kernels, fim, instruct, files, write, complete, launch, document, repair, "
            "optimise, review");
  EXPECT_EQ(PartProblem(R"({"corpus": "books"})"),
            "mix.phases[0].parts[0].corpus: \"books\" must be listed in mix.corpora");
  EXPECT_EQ(PartProblem(R"({"corpus": "web", "tiers": [1]})"),
            "mix.phases[0].parts[0]: must not choose rows of an outside corpus");
  EXPECT_EQ(PartProblem(R"({"weight": -1})"),
            "mix.phases[0].parts[0].weight: must be between 0 and 1e+09");
  EXPECT_EQ(PartProblem(R"({"epochs": "NaN"})"),
            "mix.phases[0].parts[0].epochs: must be between 0 and 10000");
  EXPECT_EQ(PartProblem(R"({"epochs": 1, "weight": 1})"),
            "mix.phases[0].parts[0]: must have a weight or epochs, not both");
  EXPECT_EQ(PartProblem(R"({"tiers": [4]})"), "mix.phases[0].parts[0].tiers: must be 1, 2 or 3");
  EXPECT_EQ(FindProblem(R"({"phases": [{"name": "../x", "tokens": 1, "parts": [{}]}]})"),
            "mix.phases[0].name: must be 1 to 64 letters, digits, '.', '_' and '-'");
  EXPECT_EQ(FindProblem(R"({"phases": [{"name": "a", "tokens": 1, "parts": [{}]},
                                     {"name": "a", "tokens": 1, "parts": [{}]}]})"),
            "mix.phases[1].name: \"a\" must not be used twice");
  EXPECT_EQ(FindProblem(R"({"phases": [{"name": "a", "parts": [{}]}]})"),
            "mix.phases[0].tokens: must be given, since parts without epochs share it");
  EXPECT_EQ(FindProblem(R"({"phases": [{"name": "a", "tokens": 1}]})"),
            "mix.phases[0].parts: must list at least one part");
}

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

v1::JobSpec JobThatCompiles(const std::string& json) {
  v1::JobSpec spec;
  spec.set_name("job");
  spec.add_sources()->set_git("https://example.org/a/b");
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, spec.mutable_compile()).ok())
      << json;
  return spec;
}

std::string FindCompileProblem(const std::string& json) {
  return std::string(CheckJobSpec(JobThatCompiles(json)).message());
}

TEST(CompilePolicy, WhatIsWrongIsNamedWithWhatIsKnown) {
  EXPECT_THAT(CheckJobSpec(JobThatCompiles("{}")), IsOk());
  EXPECT_THAT(
      FindCompileProblem(R"({"toolchains": ["triton-1.0"]})"),
      StartsWith("compile.toolchains[0]: unknown toolchain \"triton-1.0\" (did you mean triton-"));
  EXPECT_EQ(FindCompileProblem(R"({"targets": ["cuda:90", "cuda:75"]})"),
            "compile.targets[1]: unknown target \"cuda:75\" (did you mean cuda:80?); use one of "
            "cuda:80, cuda:90, cuda:100, "
            "hip:gfx942, tpu:v6e");
  EXPECT_EQ(FindCompileProblem(R"({"keep": ["cubin"]})"),
            "compile.keep[0]: unknown form \"cubin\"; use one of ttir, ttgir, llir, ptx, amdgcn, "
            "stablehlo, mosaic");
  EXPECT_EQ(FindCompileProblem(R"({"targets": ["cuda:90", "cuda:90"]})"),
            "compile.targets[1]: \"cuda:90\" must not be listed twice");
  EXPECT_EQ(FindCompileProblem(R"({"maxSeconds": -1})"), "compile.max_seconds: must be 1 to 600");
  EXPECT_EQ(FindCompileProblem(R"({"maxSeconds": 601})"), "compile.max_seconds: must be 1 to 600");
  EXPECT_EQ(FindCompileProblem(R"({"maxSeconds": 600})"), "");
}

TEST(CompilePolicy, AnEmptyPolicyIsAllThatIsPinned) {
  const v1::CompilePolicy policy = WithDefaults(JobThatCompiles("{}")).compile();
  ASSERT_EQ(static_cast<size_t>(policy.toolchains_size()), toolchains::PinnedToolchains().size());
  EXPECT_EQ(policy.toolchains(0), toolchains::PinnedToolchains()[0].name);
  EXPECT_THAT(policy.targets(),
              ElementsAre("cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "tpu:v6e"));
  EXPECT_THAT(policy.keep(), IsEmpty());
  EXPECT_EQ(policy.max_seconds(), 180);
}

TEST(CompilePolicy, TheOrderOfNamesMakesNoOtherJob) {
  const v1::CompilePolicy one = WithCompileDefaults(
      JobThatCompiles(R"({"targets": ["hip:gfx942", "cuda:80"], "keep": ["ptx", "ttir"]})")
          .compile());
  EXPECT_THAT(one.targets(), ElementsAre("cuda:80", "hip:gfx942"));
  EXPECT_THAT(one.keep(), ElementsAre("ttir", "ptx"));
  EXPECT_EQ(WithCompileDefaults(one).SerializeAsString(), one.SerializeAsString());
}

TEST(CompilePolicy, AJobThatSaysNothingCompilesNothing) {
  v1::JobSpec spec = JobThatCompiles("{}");
  spec.clear_compile();
  EXPECT_FALSE(WithDefaults(spec).has_compile());
}

TEST(CompilePolicy, EvidenceOfCompilersIsRequiredOnlyOfAJobThatCompiles) {
  v1::JobSpec spec = JobThatCompiles("{}");
  spec.mutable_quality()->add_require("compiles");
  EXPECT_THAT(CheckJobSpec(spec), IsOk());
  spec.clear_compile();
  EXPECT_EQ(std::string(CheckJobSpec(spec).message()),
            "quality.require: \"compiles\" requires compile in the job");
}

TEST(CompilePolicy, AnEmptyMapInAJobFileIsAPolicyAndAnUnknownKeyIsRefused) {
  const std::string job = "name: j\nsources:\n  - git: https://example.org/a/b\ncompile: ";
  const auto read = ParseJobFile(job + "{}\n", "job.yaml");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->has_compile());
  EXPECT_THAT(std::string(ParseJobFile(job + "{gpu: 1}\n", "job.yaml").status().message()),
              HasSubstr("compile.gpu: unknown key (known: toolchains, targets, keep, "
                        "max_seconds)"));
  EXPECT_THAT(
      std::string(ParseJobFile(job + "{targets: [cuda:1]}\n", "job.yaml").status().message()),
      HasSubstr("compile.targets[0]: unknown target \"cuda:1\""));
}

}  // namespace

}  // namespace kernelmill::job
