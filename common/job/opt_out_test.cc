#include "common/job/opt_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/job/job_file.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHash(64, 'a');
const std::string kOtherHash(64, 'b');

v1::OptOut Entry(const std::string& repository, const std::string& owner = "",
                 const std::string& path = "", const std::string& sha256 = "") {
  v1::OptOut entry;
  entry.set_repository(repository);
  entry.set_owner(owner);
  entry.set_path(path);
  entry.set_sha256(sha256);
  return entry;
}

v1::Source Git(const std::string& url, const std::string& name = "", const std::string& web = "") {
  v1::Source source;
  source.set_git(url);
  source.set_name(name);
  source.set_url(web);
  return source;
}

bool Names(const v1::OptOut& entry, const v1::Source& source) {
  v1::JobSpec spec;
  *spec.add_opt_out() = entry;
  return !OptOutIndex(spec.opt_out()).Naming(source).empty();
}

TEST(CanonicalRepository, IsOneTextForAllWaysToWriteIt) {
  for (const char* text :
       {"https://github.com/Owner/Name", "http://github.com/owner/name.git",
        "https://GitHub.com/owner/name/", "https://github.com/owner/name.git/",
        "ssh://git@github.com/owner/name.git", "git@github.com:owner/name.git",
        "ssh://git@github.com:22/owner/name", "https://github.com:443/owner/name",
        "https://user:secret@github.com/owner/name", "git://github.com/owner//name",
        "github.com/owner/name", " github.com/Owner/NAME.git "}) {
    EXPECT_EQ(CanonicalRepository(text), "github.com/owner/name") << text;
  }
  EXPECT_EQ(CanonicalRepository("https://gitlab.com/group/sub/name.git"),
            "gitlab.com/group/sub/name");
  EXPECT_EQ(CanonicalRepository("http://127.0.0.1:4711/demo.git"), "127.0.0.1/demo");
  EXPECT_EQ(CanonicalRepository("http://localhost:4711/demo.git"), "localhost/demo");
}

TEST(CanonicalRepository, IsEmptyOfWhatNamesNoHost) {
  for (const char* text : {"", "./kernels", "/srv/repo.git", "kernels/triton", "fla-core==0.6.0",
                           "file:///srv/repo", "github.com", "https://github.com/", "../a.b/c"}) {
    EXPECT_EQ(CanonicalRepository(text), "") << text;
  }
}

TEST(OptOutIndex, ARepositoryIsNamedHoweverItIsWrittenAndByItsRecordsName) {
  const v1::Source source = Git("https://github.com/Owner/Name.git");
  for (const char* text : {"github.com/owner/name", "git@github.com:Owner/Name",
                           "https://github.com/owner/name/", "owner/name", "Owner/Name"}) {
    EXPECT_TRUE(Names(Entry(text), source)) << text;
  }
  for (const char* text : {"github.com/owner/name2", "github.com/owner", "gitlab.com/owner/name",
                           "name", "other/name"}) {
    EXPECT_FALSE(Names(Entry(text), source)) << text;
  }
  EXPECT_TRUE(Names(Entry("demo"), Git("https://127.0.0.1/x", "demo")));
  EXPECT_TRUE(
      Names(Entry("https://github.com/a/b"), Git("/srv/b", "demo", "https://github.com/a/b")))
      << "a mirror is known by its url";
  v1::Source package;
  package.set_package("FLA-core==0.6.0");
  EXPECT_TRUE(Names(Entry("fla-core"), package));
  EXPECT_TRUE(Names(Entry("FLA-core==0.6.0"), package));
  EXPECT_FALSE(Names(Entry("fla-core==0.5.0"), package));
}

TEST(OptOutIndex, AnOwnerNamesAllOfItsRepositoriesAndNobodyElses) {
  const v1::OptOut owner = Entry("", "https://github.com/Someone/");
  EXPECT_TRUE(Names(owner, Git("git@github.com:someone/a")));
  EXPECT_TRUE(Names(owner, Git("https://github.com/someone/b.git")));
  EXPECT_FALSE(Names(owner, Git("https://github.com/someone-else/b")));
  EXPECT_FALSE(Names(owner, Git("https://gitlab.com/someone/b")));
  EXPECT_TRUE(Names(Entry("", "gitlab.com/group"), Git("https://gitlab.com/group/sub/name")));
  EXPECT_TRUE(Names(Entry("", "gitlab.com/group/sub"), Git("https://gitlab.com/group/sub/name")));
}

TEST(OptOutIndex, AnEntryOfAHashAloneConcernsEverySource) {
  v1::JobSpec spec;
  *spec.add_opt_out() = Entry("github.com/a/b");
  *spec.add_opt_out() = Entry("", "", "", kHash);
  *spec.add_opt_out() = Entry("", "github.com/a", "**/x.py");
  const OptOutIndex index(spec.opt_out());
  EXPECT_THAT(index.Naming(Git("https://github.com/a/b")), ElementsAre(0, 1, 2));
  EXPECT_THAT(index.Naming(Git("https://github.com/a/c")), ElementsAre(1, 2));
  EXPECT_THAT(index.Naming(Git("/srv/repo")), ElementsAre(1));
}

TEST(SourceOptOut, NamesByPathAndByHashAndWhereBothAreGivenByBoth) {
  v1::ValidateParams params;
  *params.add_opt_out() = Entry("", "", "third_party/**");
  *params.add_opt_out() = Entry("", "", "", kHash);
  *params.add_opt_out() = Entry("", "", "a/*.py", kOtherHash);
  const auto names = SourceOptOut::Compile(params.opt_out());
  ASSERT_THAT(names, IsOk());
  EXPECT_FALSE(names->empty());
  EXPECT_THAT(names->Naming("third_party/x.py", {}), ElementsAre(0));
  EXPECT_THAT(names->Naming("b.py", {"", kHash}), ElementsAre(1));
  EXPECT_THAT(names->Naming("third_party/x.py", {kHash}), ElementsAre(0, 1));
  EXPECT_THAT(names->Naming("a/x.py", {kOtherHash}), ElementsAre(2));
  EXPECT_THAT(names->Naming("b/x.py", {kOtherHash}), IsEmpty());
  EXPECT_THAT(names->Naming("b.py", {""}), IsEmpty());

  v1::ValidateParams whole;
  whole.add_opt_out();
  EXPECT_TRUE(SourceOptOut::Compile(whole.opt_out())->Names("any.py", {}));
  EXPECT_TRUE(SourceOptOut::Compile(v1::ValidateParams().opt_out())->empty());
}

TEST(CheckOptOut, AnEntryNamesSomethingThatThereCanBe) {
  for (const v1::OptOut& entry : {Entry("a/b"), Entry("", "github.com/a"), Entry("", "", "", kHash),
                                  Entry("a/b", "", "x/**/*.py"), Entry("a/b", "", "", kHash)}) {
    EXPECT_THAT(CheckOptOut("opt_out[0]", entry), IsOk()) << entry.ShortDebugString();
  }
  const std::pair<v1::OptOut, const char*> wrong[] = {
      {Entry(""), "must name a repository"},
      {Entry("", "", "*.py"), "must name a repository"},
      {Entry("", "", "*.py", kHash), "opt_out[0].path: requires a repository or an owner"},
      {Entry("a/b", "github.com/a"),
       "opt_out[0].owner: must not be given together with repository"},
      {Entry("", "someone"), "opt_out[0].owner: must be host/owner"},
      {Entry("a/b", "", "/abs"), "opt_out[0].path: must be relative"},
      {Entry("", "", "", "ABC"), "opt_out[0].sha256: must be 64"},
      {Entry("-a/b"), "opt_out[0].repository: must not begin with '-'"},
  };
  for (const auto& [entry, what] : wrong) {
    const absl::Status checked = CheckOptOut("opt_out[0]", entry);
    EXPECT_THAT(checked, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(checked.message()), HasSubstr(what));
  }
}

TEST(CheckOptOut, AHoldoutWhoseCopiesAJobKeepsCannotBeOptedOut) {
  v1::JobSpec spec;
  spec.set_name("j");
  *spec.add_sources() = Git("https://github.com/a/b");
  *spec.add_sources() = Git("https://github.com/bench/mark");
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  *spec.add_opt_out() = Entry("github.com/bench/mark");
  EXPECT_THAT(CheckJobSpec(spec), IsOk());
  spec.mutable_dedup()->mutable_contamination()->set_action(v1::CONTAMINATION_ACTION_LABEL);
  EXPECT_THAT(CheckJobSpec(spec), StatusIs(absl::StatusCode::kInvalidArgument));
  spec.mutable_opt_out(0)->set_repository("github.com/a/b");
  EXPECT_THAT(CheckJobSpec(spec), IsOk());
}

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Text(const v1::OptOut& entry) {
  return absl::StrCat(entry.repository(), "|", entry.owner(), "|", entry.path(), "|",
                      entry.sha256());
}

std::vector<std::string> Listed(const std::string& text, const std::string& path) {
  const auto entries = ParseOptOutList(text, path);
  EXPECT_THAT(entries, IsOk());
  std::vector<std::string> out;
  if (!entries.ok()) return out;
  for (const v1::OptOut& entry : *entries) out.push_back(Text(entry));
  return out;
}

TEST(OptOutList, ATextFileTellsRepositoriesOwnersAndHashesApart) {
  EXPECT_THAT(Listed("# asked for in May\n"
                     "https://github.com/a/b.git  # by mail\n"
                     "github.com/someone\n"
                     "https://github.com/else/\n"
                     "gitlab.com/g/sub/name\n"
                     "owner/name\n\n" +
                         std::string(64, 'A') + "\r\ngithub.com/someone\n",
                     "o.txt"),
              ElementsAre("https://github.com/a/b.git|||", "|github.com/someone||",
                          "|https://github.com/else/||", "gitlab.com/g/sub/name|||",
                          "owner/name|||", absl::StrCat("|||", kHash)));
}

TEST(OptOutList, RowsHaveTheFieldsAndWhatElseAPersonKeeps) {
  EXPECT_THAT(
      Listed("Repository,path,who,sha256\na/b,\"x/{a,b}.py\",Ann,\n,,Bob," + kHash + "\n", "o.csv"),
      ElementsAre("a/b||x/{a,b}.py|", absl::StrCat("|||", kHash)));
  EXPECT_THAT(Listed(R"({"owner": "github.com/x", "path": null, "date": 5})"
                     "\n",
                     "o.jsonl"),
              ElementsAre("|github.com/x||"));
}

TEST(OptOutList, WhatNamesNothingIsRefusedWithItsLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"o.txt", "a/b\njust-a-word\n"},
      {"o.txt", "# nothing\n"},
      {"o.csv", "path\nx.py\n"},
      {"o.jsonl", "[1]\n"},
      {"o.jsonl", "{\"repository\": 5}\n"},
      {"o.yaml", "a/b\n"},
  };
  for (const auto& [path, text] : wrong) {
    const absl::Status read = ParseOptOutList(text, path).status();
    EXPECT_THAT(read, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(std::string(read.message()), StartsWith(absl::StrCat(path, ":"))) << text;
  }
  EXPECT_THAT(std::string(ParseOptOutList("a/b\nword\n", "o.txt").status().message()),
              StartsWith("o.txt:2:"));
}

TEST(OptOutList, AJobFileNamesOneAndItsLockHasTheEntries) {
  const TempDir dir = *TempDir::Create();
  ASSERT_THAT(WriteFile(dir.path() + "/o.txt", "github.com/someone\n" + kHash + "\n"), IsOk());
  const std::string head = "name: j\nsources:\n  - git: https://example.org/a\n";
  const std::string path = dir.path() + "/job.yaml";
  for (const char* how : {"opt_out: o.txt\n", "opt_out:\n  - list: o.txt\n"}) {
    const auto spec = ParseJobFile(head + how, path);
    ASSERT_THAT(spec, IsOk()) << how;
    ASSERT_EQ(spec->opt_out_size(), 2);
    EXPECT_EQ(Text(spec->opt_out(0)), "|github.com/someone||");
    EXPECT_EQ(Text(spec->opt_out(1)), absl::StrCat("|||", kHash));
    const auto again = ParseJobFile(JobFileYaml(*spec), path);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->SerializeAsString(), spec->SerializeAsString());
  }
  v1::JobSpec unread;
  unread.set_name("j");
  unread.add_sources()->set_git("https://example.org/a");
  unread.add_opt_out()->set_list("o.txt");
  EXPECT_THAT(CheckJobSpec(unread), StatusIs(absl::StatusCode::kInvalidArgument));
  const absl::Status missing = ParseJobFile(head + "opt_out: none.txt\n", path).status();
  EXPECT_THAT(std::string(missing.message()), HasSubstr("opt_out[0].list"));
}

TEST(JobFile, GatesAreBoundsOfEveryKindOfNumber) {
  const std::string head = "name: j\nsources:\n  - git: https://example.org/a\n";
  const auto spec = ParseJobFile(
      head + "gates: {min_kept: 5000000000, max_contaminated: 0.1, max_unknown_license: 0}\n", "j");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->gates().min_kept(), 5'000'000'000);
  EXPECT_EQ(spec->gates().max_contaminated(), 0.1);
  EXPECT_TRUE(spec->gates().has_max_unknown_license());
  EXPECT_FALSE(spec->gates().has_max_rejected());
  const auto again = ParseJobFile(JobFileYaml(*spec), "j");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->SerializeAsString(), spec->SerializeAsString());
  for (const char* wrong :
       {"min_kept: -1", "max_rejected: 1.5", "max_duplicate: -0.1", "max_failed_sources: -2",
        "max_failed_files: 2", "max_contaminated: .nan", "min_kept: 0.5", "max_kept: 3"}) {
    EXPECT_THAT(ParseJobFile(head + "gates: {" + wrong + "}\n", "j").status(),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << wrong;
  }
}

}  // namespace

}  // namespace kernelmill::job
