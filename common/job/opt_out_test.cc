#include "common/job/opt_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
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
      {Entry(""), "names nothing"},
      {Entry("", "", "*.py"), "names nothing"},
      {Entry("", "", "*.py", kHash), "opt_out[0].path: is of a repository or an owner"},
      {Entry("a/b", "github.com/a"), "opt_out[0].owner: stands beside repository"},
      {Entry("", "someone"), "opt_out[0].owner: is no host/owner"},
      {Entry("a/b", "", "/abs"), "opt_out[0].path: globs are relative"},
      {Entry("", "", "", "ABC"), "opt_out[0].sha256: is not 64"},
      {Entry("-a/b"), "opt_out[0].repository: begins with '-'"},
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

}  // namespace
}  // namespace kernelmill::job
