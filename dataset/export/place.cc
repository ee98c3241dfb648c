#include "dataset/export/place.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/base/url.h"

// The words and links with which rows say where a kernel came from.
namespace kernelmill::dataset {
namespace {

// How a kind of site writes a file at a commit, and lines of it. Hosts are known by their whole
// name, or by its first label where people run the software themselves: gitlab.example.org.
struct SiteForm {
  const char* host;
  const char* label;  // null: only the vendor runs it
  const char* file;   // {C}: the commit, {P}: the path
  const char* lines;  // {F}: the first line, {L}: the last
  const char* commit;
};

constexpr SiteForm kSites[] = {
    {"github.com", "github", "/blob/{C}/{P}", "#L{F}-L{L}", "/commit/{C}"},
    {"gitlab.com", "gitlab", "/-/blob/{C}/{P}", "#L{F}-{L}", "/-/commit/{C}"},
    {"codeberg.org", "forgejo", "/src/commit/{C}/{P}", "#L{F}-L{L}", "/commit/{C}"},
    {"gitea.com", "gitea", "/src/commit/{C}/{P}", "#L{F}-L{L}", "/commit/{C}"},
    {"bitbucket.org", nullptr, "/src/{C}/{P}", "#lines-{F}:{L}", "/commits/{C}"},
    {"git.sr.ht", nullptr, "/tree/{C}/item/{P}", "#L{F}-{L}", "/commit/{C}"},
};

// Returns null for an unknown site: no link is better than a wrong one.
const SiteForm* FindSite(absl::string_view url) {
  if (!absl::ConsumePrefix(&url, "https://") && !absl::ConsumePrefix(&url, "http://"))
    return nullptr;
  const std::string host =
      absl::AsciiStrToLower(url.substr(0, std::min(url.find('/'), url.find(':'))));
  for (const SiteForm& site : kSites) {
    if (host == site.host) return &site;
    if (site.label != nullptr && absl::StartsWith(host, absl::StrCat(site.label, ".")))
      return &site;
  }
  return nullptr;
}

// Returns the page of a repository without a final slash and ".git".
absl::string_view WithoutEnd(absl::string_view url) {
  while (absl::ConsumeSuffix(&url, "/")) {
  }
  absl::ConsumeSuffix(&url, ".git");
  return url;
}

}  // namespace

// Links to a commit, which never changes, and not to a branch. The path is percent-encoded. 0 as
// the first line links to the whole file.
std::string WebLink(absl::string_view repository_url, absl::string_view commit,
                    absl::string_view path, int first_line, int last_line) {
  const SiteForm* site = FindSite(repository_url);
  if (site == nullptr || !IsHex(commit, 40)) return "";
  const absl::string_view base = WithoutEnd(repository_url);
  const std::string file = absl::StrReplaceAll(
      site->file, {{"{C}", commit}, {"{P}", PercentEncoded(path, kUnreservedInPath)}});
  if (first_line == 0) return absl::StrCat(base, file);
  return absl::StrCat(base, file,
                      absl::StrReplaceAll(site->lines, {{"{F}", absl::StrCat(first_line)},
                                                        {"{L}", absl::StrCat(last_line)}}));
}

std::string CommitLink(absl::string_view repository_url, absl::string_view commit) {
  const SiteForm* site = FindSite(repository_url);
  if (site == nullptr || !IsHex(commit, 40)) return "";
  return absl::StrCat(WithoutEnd(repository_url),
                      absl::StrReplaceAll(site->commit, {{"{C}", commit}}));
}

}  // namespace kernelmill::dataset
