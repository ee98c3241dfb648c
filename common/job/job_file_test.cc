#include "common/job/job_file.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/file.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGood[] = R"(name: seeds
sources:
  - git: https://example.org/a
    ref: main
    include: ["python/**/*.py", '*.pyi']
    tier: 2
    weight: 0.25
  - package: liger-kernel==0.8.5
    role: holdout
licenses: {allow: [MIT], adapted: reject}
dedup:
  threshold: 0.7
)";

TEST(JobFile, ReadsEveryKindOfField) {
  const auto spec = ParseJobFile(kGood, "job.yaml");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->name(), "seeds");
  EXPECT_EQ(spec->sources(0).ref(), "main");
  EXPECT_THAT(spec->sources(0).include(), ::testing::ElementsAre("python/**/*.py", "*.pyi"));
  EXPECT_EQ(spec->sources(0).tier(), 2);
  EXPECT_EQ(spec->sources(0).weight(), 0.25);
  EXPECT_EQ(spec->sources(1).role(), v1::SOURCE_ROLE_HOLDOUT);
  EXPECT_EQ(spec->licenses().adapted(), v1::ADAPTED_POLICY_REJECT);
  EXPECT_EQ(spec->dedup().threshold(), 0.7);
}

struct BadCase {
  const char* name;
  const char* text;
  const char* message;  // a prefix
};

class BadJobFile : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadJobFile, IsRefusedWithFileLineAndKey) {
  const auto spec = ParseJobFile(GetParam().text, "job.yaml");
  ASSERT_THAT(spec, StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string message(spec.status().message());
  EXPECT_THAT(message, StartsWith(GetParam().message));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadJobFile,
    ::testing::Values(
        BadCase{"UnknownKey", "name: a\nsources:\n- git: u\n  branch: b\n",
                "job.yaml:4: sources[0].branch: unknown key"},
        BadCase{"UnknownTopKey", "name: a\nsource: []\n",
                "job.yaml:2: source: unknown key (did you mean sources?) (known: name, "},
        BadCase{"RepeatedKey", "name: a\nname: b\n", "job.yaml:2: name: must not be given twice"},
        BadCase{"TextForList", "name: a\nsources: https://x\n",
                "job.yaml:2: sources: must be a list of mappings"},
        BadCase{"NullForList", "name: a\nsources:\n",
                "job.yaml:2: sources: must be a list of mappings"},
        BadCase{"TextForGlobs", "name: a\nsources:\n- git: u\n  include: x/*.py\n",
                "job.yaml:4: sources[0].include: must be a list of globs"},
        BadCase{"TextForMessage", "name: a\nsources:\n- https://x\n",
                "job.yaml:3: sources[0]: must be a mapping"},
        BadCase{"NumberForText", "name: 5\n", "job.yaml:1: name: must be text: write \"5\""},
        BadCase{"BoolForText", "name: a\nsources:\n- git: u\n  ref: yes\n",
                "job.yaml:4: sources[0].ref: must be text"},
        BadCase{"ListForText", "name: [a]\n", "job.yaml:1: name: must be text"},
        BadCase{"TextForNumber", "name: a\nsources:\n- git: u\n  tier: high\n",
                "job.yaml:4: sources[0].tier: must be a whole number"},
        BadCase{"QuotedNumber", "name: a\nsources:\n- git: u\n  tier: \"1\"\n",
                "job.yaml:4: sources[0].tier: must be a whole number"},
        BadCase{"FractionForInt", "name: a\nsources:\n- git: u\n  tier: 1.5\n",
                "job.yaml:4: sources[0].tier: must be a whole number"},
        BadCase{"IntTooLarge", "name: a\nsources:\n- git: u\n  tier: 99999999999\n",
                "job.yaml:4: sources[0].tier: must be a whole number"},
        BadCase{"NotANumber", "name: a\nsources: [{git: u}]\ndedup: {threshold: nan}\n",
                "job.yaml:3: dedup.threshold: must be a number"},
        BadCase{"QuotedBool", "name: a\nsources:\n- discover:\n    forks: 'true'\n",
                "job.yaml:4: sources[0].discover.forks: must be true or false"},
        BadCase{"YesForBool", "name: a\nsources:\n- discover:\n    forks: yes\n",
                "job.yaml:4: sources[0].discover.forks: must be true or false"},
        BadCase{"NoConditions", "name: a\nsources:\n- git: u\n- discover: {min_stars: 5}\n",
                "job.yaml:4: sources[1].discover: must have at least one of"},
        BadCase{"BadEnumWord", "name: a\nsources:\n- git: u\n  role: hold\n",
                "job.yaml:4: sources[0].role: must be one of candidate, holdout, evidence (did you "
                "mean "
                "holdout?)"},
        BadCase{"LongEnumWord", "name: a\nsources:\n- git: u\n  role: SOURCE_ROLE_HOLDOUT\n",
                "job.yaml:4: sources[0].role: must be one of"},
        BadCase{"TwoOrigins", "name: a\nsources:\n- git: u\n  path: v\n",
                "job.yaml:4: sources[0].path: must not be given together with git"},
        BadCase{"EmptySources", "name: a\nsources: []\n",
                "job.yaml:2: sources: must list at least one source"},
        BadCase{"NoSources", "name: a\n", "job.yaml:1: sources: must list at least one source"},
        BadCase{"NoOrigin", "name: a\nsources:\n- ref: b\n",
                "job.yaml:3: sources[0]: must have one of"},
        BadCase{"BadThreshold", "name: a\nsources: [{git: u}]\ndedup:\n  threshold: 2\n",
                "job.yaml:4: dedup.threshold: must be between"},
        BadCase{"BadHash", "name: a\nsources:\n- package: p==1\n  sha256: \"12\"\n",
                "job.yaml:4: sources[0].sha256: must be 64"},
        BadCase{"BadCheck", "name: a\nsources: [{git: u}]\nquality:\n  require:\n  - pasres\n",
                "job.yaml:4: quality.require: unknown check \"pasres\" (did you mean parses?)"},
        BadCase{"BadKind", "name: a\nsources: [{git: u}]\nquality:\n  exclude_kinds: [tests]\n",
                "job.yaml:4: quality.exclude_kinds: unknown word \"tests\" (did you mean test?)"},
        BadCase{"BadTarget", "name: a\nsources: [{git: u}]\nquality:\n  targets:\n  - tpus\n",
                "job.yaml:4: quality.targets: unknown word"},
        BadCase{"Alias", "name: &x a\nsources: [{git: *x}]\n",
                "job.yaml:1: must not have an anchor"},
        BadCase{"Tag", "name: !!binary aGk=\n", "job.yaml:1: must not have a tag"},
        BadCase{"UnquotedStar",
                "name: a\nsources:\n- git: u\n  include: [\"ü\", **/*.{py,cu}, x]\n",
                "job.yaml:4: must have quotes around a value that begins with *: write "
                "\"**/*.{py,cu}\""},
        BadCase{"UnquotedStarInAList", "name: a\nsources:\n- git: u\n  include:\n  - *.py\n",
                "job.yaml:5: must have quotes around a value that begins with *: write \"*.py\""},
        BadCase{"UnquotedStarAlone", "name: a\nlicenses: {allow: [*]}\n",
                "job.yaml:2: must have quotes around a value that begins with *: write \"*\""},
        BadCase{"UnquotedBraces", "name: a\nsources:\n- git: u\n  include: [src/**/*.{py,cu}]\n",
                "job.yaml:4: must have quotes around a glob with braces in a list in brackets"},
        BadCase{"TabBeforeADash", "name: a\nsources:\n\t- git: u\n",
                "job.yaml:3: is indented with a tab; indent with blanks"},
        BadCase{"TabBeforeAKey", "name: a\nsources:\n  - git: u\n\tref: b\n",
                "job.yaml:4: is indented with a tab; indent with blanks"},
        BadCase{"TabBehindADash", "name: a\nsources:\n  -\tgit: u\n",
                "job.yaml:3: is indented with a tab; indent with blanks"},
        BadCase{"SyntaxError", "name: a\nsources: [\n", "job.yaml:3: is not valid YAML"},
        BadCase{"SecondDocument", "name: a\n---\nname: b\n", "job.yaml:"},
        BadCase{"Empty", "", "job.yaml:1: "},
        BadCase{"OnlyAWord", "kernels\n", "job.yaml:1: must be a mapping of keys to values"},
        BadCase{"NotUtf8", "name: a\n# \xff\n", "job.yaml:2: must be UTF-8"},
        BadCase{"ControlCharacter", "name: a\n\x04sources: []\n",
                "job.yaml:2: must not contain a control character"},
        BadCase{"NewlineInKey", "name: a\n\"x\\ny\": 1\n", "job.yaml:2: x?y: unknown key"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(JobFile, BombsAreRefused) {
  std::string bomb = "a: &a [x,x,x,x]\n";
  for (char c = 'b'; c < 'z'; ++c) {
    absl::StrAppend(&bomb, std::string(1, c), ": &", std::string(1, c), " [*",
                    std::string(1, c - 1), ",*", std::string(1, c - 1), "]\n");
  }
  EXPECT_THAT(ParseJobFile(bomb, "f"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseJobFile("name: " + std::string(100'000, '['), "f"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseJobFile("name: " + std::string(40, '[') + std::string(40, ']'), "f"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(JobFile, MissingAndHugeFilesAreToldApart) {
  EXPECT_THAT(LoadJobFile("/nonexistent/job.yaml"), StatusIs(absl::StatusCode::kNotFound));
  const auto dir = TempDir::Create();
  ASSERT_THAT(dir, IsOk());
  const std::string path = dir->path() + "/job.yaml";
  ASSERT_THAT(WriteFile(path, std::string((4 << 20) + 1, '#')), IsOk());
  EXPECT_THAT(LoadJobFile(path), StatusIs(absl::StatusCode::kInvalidArgument));
}

// A job file may be a stranger's: reading the pipe that it names would never end.
TEST(JobFile, APipeIsNoJobFileAndNoList) {
  const auto dir = TempDir::Create();
  ASSERT_THAT(dir, IsOk());
  const std::string pipe = dir->path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((pipe + ".jsonl").c_str(), 0600), 0);
  const absl::Status job = LoadJobFile(pipe).status();
  EXPECT_THAT(std::string(job.message()), HasSubstr(pipe + ": must be a regular file, not a pipe"));
  for (const char* lists : {"sources: [{list: pipe}]", "pairs: pipe", "opt_out: pipe",
                            "reviews: pipe.jsonl", "opt_out: [{list: pipe}]"}) {
    std::string text = absl::StrCat(lists, "\n");
    if (text.find("sources") == std::string::npos)
      absl::StrAppend(&text, "sources: [{git: https://a.org/b}]\n");
    const std::string path = dir->path() + "/job.yaml";
    ASSERT_THAT(WriteFile(path, "name: a\n" + text), IsOk());
    const absl::Status status = LoadJobFile(path).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << lists;
    EXPECT_THAT(std::string(status.message()), StartsWith(path + ":2: ")) << lists;
    EXPECT_THAT(std::string(status.message()), HasSubstr("must be a regular file, not a pipe"));
  }
}

TEST(JobFile, LocalOriginsAreTakenFromItsFolder) {
  const auto spec = ParseJobFile(
      "name: a\nsources:\n- path: ../k\n- git: ./r.git\n- git: host:r\n- git: file:///r\n"
      "- path: /abs\n- {path: x, name: own}\n",
      "/jobs/new/job.yaml");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->sources(0).path(), "/jobs/k");
  EXPECT_EQ(spec->sources(0).name(), "../k");
  EXPECT_EQ(spec->sources(1).git(), "/jobs/new/r.git");
  EXPECT_EQ(spec->sources(1).name(), "./r.git");
  EXPECT_EQ(spec->sources(2).git(), "host:r");
  EXPECT_EQ(spec->sources(3).git(), "file:///r");
  EXPECT_EQ(spec->sources(4).path(), "/abs");
  EXPECT_EQ(spec->sources(5).path(), "/jobs/new/x");
  EXPECT_EQ(spec->sources(5).name(), "own");
}

void ExpectRoundTrip(const v1::JobSpec& spec) {
  const std::string yaml = JobFileYaml(spec);
  const auto back = ParseJobFile(yaml, "/somewhere/else.yaml");
  ASSERT_THAT(back, IsOk()) << yaml;
  EXPECT_TRUE(MessageDifferencer::Equals(spec, *back)) << yaml;
  EXPECT_EQ(JobFileYaml(*back), yaml);
}

TEST(JobFile, OwnerAndNameAreARepositoryAtGithub) {
  const auto short_spec = ParseJobFile(
      "name: a\nsources:\n- git: triton-lang/triton\n- {git: linkedin/Liger-Kernel, uses: "
      "[triton-lang/triton]}\n",
      "job.yaml");
  ASSERT_THAT(short_spec, IsOk());
  const auto spec = ParseJobFile(
      "name: a\nsources:\n- git: https://github.com/triton-lang/triton\n- {git: "
      "https://github.com/linkedin/Liger-Kernel, uses: [https://github.com/triton-lang/triton]}\n",
      "job.yaml");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(JobFileYaml(*short_spec), JobFileYaml(*spec));
}

TEST(JobFile, PathsAreNoNamesAtGithub) {
  for (const char* git : {"./a/b", "../a", "a/b.git", "a/b/c", "a", "/a/b", "~/b"}) {
    const auto spec =
        ParseJobFile(absl::StrCat("name: a\nsources:\n- git: ", git, "\n"), "job.yaml");
    ASSERT_THAT(spec, IsOk());
    EXPECT_THAT(spec->sources(0).git(), StartsWith("/")) << git;
  }
}

TEST(JobFile, OwnerAndNameThatAreAFolderAreRefused) {
  const TempDir folder = *TempDir::Create();
  std::filesystem::create_directories(folder.path() + "/owner/name");
  const auto spec =
      ParseJobFile("name: a\nsources:\n- git: owner/name\n", folder.path() + "/job.yaml");
  ASSERT_THAT(spec, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(
      std::string(spec.status().message()),
      HasSubstr("job.yaml:3: sources[0].git: may mean the folder beside the job file or the "
                "repository at GitHub; write ./owner/name or https://github.com/owner/name"));
}

TEST(JobFile, AHostWithoutASchemeIsNoFolder) {
  const TempDir folder = *TempDir::Create();
  const std::string text = "name: a\nsources:\n- git: github.com/owner/name\n";
  const auto spec = ParseJobFile(text, folder.path() + "/job.yaml");
  ASSERT_THAT(spec, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(spec.status().message()),
              HasSubstr("job.yaml:3: sources[0].git: there is no such folder; did you mean "
                        "https://github.com/owner/name?"));
  std::filesystem::create_directories(folder.path() + "/github.com/owner/name");
  EXPECT_THAT(ParseJobFile(text, folder.path() + "/job.yaml"), IsOk());
}

TEST(JobFile, TheTildeIsTheHomeFolder) {
  const TempDir home = *TempDir::Create();
  const std::string before = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  ::setenv("HOME", home.path().c_str(), 1);
  ASSERT_THAT(WriteFile(home.path() + "/list.txt", "a/b\n"), IsOk());
  const auto spec = ParseJobFile(
      "name: a\nsources:\n- path: ~/kernels\n- inductor: \"~\"\n- list: ~/list.txt\n- path: "
      "~other\n",
      "/jobs/job.yaml");
  ::setenv("HOME", before.c_str(), 1);
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->sources(0).path(), home.path() + "/kernels");
  EXPECT_EQ(spec->sources(0).name(), "~/kernels");
  EXPECT_EQ(spec->sources(1).inductor(), home.path());
  EXPECT_EQ(spec->sources(2).git(), "https://github.com/a/b");
  EXPECT_EQ(spec->sources(3).path(), "/jobs/~other");
}

TEST(JobFileYaml, ReadsBackAsAnEqualSpec) {
  v1::JobSpec spec = *ParseJobFile(kGood, "job.yaml");
  spec.mutable_quality();
  ExpectRoundTrip(spec);
  spec.mutable_sources(0)->set_weight(0.1);
  spec.mutable_sources(1)->set_weight(1e-7);
  spec.mutable_dedup()->set_threshold(1.0 / 3);
  spec.mutable_quality()->add_require("has_docstring");
  spec.mutable_quality()->add_exclude_kinds("test");
  spec.mutable_quality()->add_targets("generic");
  spec.mutable_quality()->set_min_tokens(64);
  ExpectRoundTrip(spec);
}

TEST(JobFileYaml, ASearchReadsBackAsAnEqualOne) {
  const auto spec = ParseJobFile(
      "name: a\nsources:\n- discover: {min_stars: 5, topics: [a, b], code: triton.jit, forks: "
      "true}\n"
      "  tier: 2\n",
      "job.yaml");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->sources(0).discover().min_stars(), 5);
  EXPECT_EQ(spec->sources(0).discover().topics_size(), 2);
  EXPECT_TRUE(spec->sources(0).discover().forks());
  ExpectRoundTrip(*spec);
}

TEST(JobFileYaml, OddTextSurvives) {
  const char* const kOdd[] = {
      "yes",        "1.0",  "~",   "null",      "# no comment", "a: b",     "it's",
      "\"q\"",      "\\n",  " x ", "*a",        "&a",           "!t",       "{}",
      "[]",         "%",    "@",   "caf\u00e9", "\u2028x",      "a\u0085b", "\ufeffz",
      "\U0001f600", "0x10", "1e3", "a\\u0041",  "<<",           "?",        "|"};
  for (const char* text : kOdd) {
    v1::JobSpec spec;
    spec.set_name("odd");
    v1::Source* source = spec.add_sources();
    source->set_git("https://example.org/r");
    source->set_ref(text);
    source->set_name(text);
    source->add_include(text);
    source->set_category(text);
    SCOPED_TRACE(text);
    ExpectRoundTrip(spec);
  }
}

// Returns the error of a job with one source of these fields; empty without one.
std::string ErrorOfSource(const std::string& fields) {
  const auto parsed =
      ParseJobFile(absl::StrCat("name: a\nsources: [{", fields, "}]\n"), "job.yaml");
  return std::string(parsed.status().message());
}

TEST(ParseJobFile, HistoryIsAMapOrTrue) {
  const auto parse = [](const std::string& history) {
    return ParseJobFile(
        absl::StrCat("name: a\nsources: [{git: https://example.org/a, history: ", history, "}]\n"),
        "job.yaml");
  };
  const auto all = parse("true");
  ASSERT_THAT(all, IsOk());
  ASSERT_TRUE(all->sources(0).has_history());
  EXPECT_EQ(WithDefaults(*all).sources(0).history().depth(), 1000);
  const auto none = parse("false");
  ASSERT_THAT(none, IsOk());
  EXPECT_FALSE(none->sources(0).has_history());
  const auto bounded = parse("{depth: 7, since: '2024-02-29', paths: ['a/**']}");
  ASSERT_THAT(bounded, IsOk());
  EXPECT_EQ(bounded->sources(0).history().depth(), 7);
  EXPECT_THAT(ErrorOfSource("git: https://example.org/a, history: {depth: 20001}"),
              HasSubstr("history.depth: must be 1 to 20000"));
  EXPECT_THAT(ErrorOfSource("git: https://example.org/a, history: {since: '2023-02-29'}"),
              HasSubstr("must be a day, YYYY-MM-DD"));
  EXPECT_THAT(parse("yes please"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ParseJobFile, AHistoryIsOfCandidatesWithCommits) {
  EXPECT_THAT(ErrorOfSource("package: a==1, history: true"),
              HasSubstr("history: applies to git repositories only"));
  EXPECT_THAT(ErrorOfSource("git: https://example.org/a, role: holdout, history: true"),
              HasSubstr("applies to candidates only"));
}

}  // namespace
}  // namespace kernelmill::job
