#include "dataset/export/place.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::dataset {
namespace {

const std::string kCommit(40, 'c');

TEST(WebLink, IsWrittenAsTheSiteWritesIt) {
  const std::string& c = kCommit;
  const std::string cases[][2] = {
      {"https://github.com/a/b", "https://github.com/a/b/blob/" + c + "/d/k.py#L3-L9"},
      {"https://github.com/a/b.git/", "https://github.com/a/b/blob/" + c + "/d/k.py#L3-L9"},
      {"https://github.example.org/a/b",
       "https://github.example.org/a/b/blob/" + c + "/d/k.py#L3-L9"},
      {"https://gitlab.com/g/h/b", "https://gitlab.com/g/h/b/-/blob/" + c + "/d/k.py#L3-9"},
      {"http://gitlab.example.org:8080/a/b",
       "http://gitlab.example.org:8080/a/b/-/blob/" + c + "/d/k.py#L3-9"},
      {"https://codeberg.org/a/b", "https://codeberg.org/a/b/src/commit/" + c + "/d/k.py#L3-L9"},
      {"https://gitea.example.org/a/b",
       "https://gitea.example.org/a/b/src/commit/" + c + "/d/k.py#L3-L9"},
      {"https://forgejo.example.org/a/b",
       "https://forgejo.example.org/a/b/src/commit/" + c + "/d/k.py#L3-L9"},
      {"https://bitbucket.org/a/b", "https://bitbucket.org/a/b/src/" + c + "/d/k.py#lines-3:9"},
      {"https://git.sr.ht/~a/b", "https://git.sr.ht/~a/b/tree/" + c + "/item/d/k.py#L3-9"},
  };
  for (const auto& [url, link] : cases) EXPECT_EQ(WebLink(url, c, "d/k.py", 3, 9), link);
}

TEST(WebLink, IsOfNoSiteThatIsNotKnownAndOfNoSourceWithoutACommit) {
  EXPECT_EQ(WebLink("", kCommit, "k.py", 1, 2), "");
  EXPECT_EQ(WebLink("https://example.org/a/b", kCommit, "k.py", 1, 2), "");
  EXPECT_EQ(WebLink("https://notgithub.com/a/b", kCommit, "k.py", 1, 2), "");
  EXPECT_EQ(WebLink("git://github.com/a/b", kCommit, "k.py", 1, 2), "");
  EXPECT_EQ(WebLink("https://github.com/a/b", "sha256:" + kCommit, "k.py", 1, 2), "");
}

TEST(WebLink, PathsAreBytesThatAUrlMayHave) {
  EXPECT_EQ(WebLink("https://github.com/a/b", kCommit, "a b/#?%\xff.py", 0, 0),
            absl::StrCat("https://github.com/a/b/blob/", kCommit, "/a%20b/%23%3F%25%FF.py"));
}

}  // namespace
}  // namespace kernelmill::dataset
