#include "dataset/export/place.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "dataset/output/json.h"

namespace kernelmill::dataset {
namespace {

// How a kind of site writes a file at a commit, and lines of it. Hosts are known by their whole
// name, or by its first label where people run the software themselves: gitlab.example.org.
struct SiteForm {
  const char* host;
  const char* label;  // null: nobody else runs it
  const char* file;   // {C}: the commit, {P}: the path
  const char* lines;  // {F}: the first line, {L}: the last
};

constexpr SiteForm kSites[] = {
    {"github.com", "github", "/blob/{C}/{P}", "#L{F}-L{L}"},
    {"gitlab.com", "gitlab", "/-/blob/{C}/{P}", "#L{F}-{L}"},
    {"codeberg.org", "forgejo", "/src/commit/{C}/{P}", "#L{F}-L{L}"},
    {"gitea.com", "gitea", "/src/commit/{C}/{P}", "#L{F}-L{L}"},
    {"bitbucket.org", nullptr, "/src/{C}/{P}", "#lines-{F}:{L}"},
    {"git.sr.ht", nullptr, "/tree/{C}/item/{P}", "#L{F}-{L}"},
};

const SiteForm* SiteOf(absl::string_view url) {
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

}  // namespace

std::string DslWord(v1::Dsl dsl) { return EnumWord(v1::Dsl_Name(dsl), "DSL_"); }

std::string RoleWord(v1::KernelRole role) {
  return EnumWord(v1::KernelRole_Name(role), "KERNEL_ROLE_");
}

std::string WebLink(absl::string_view repository_url, absl::string_view commit,
                    absl::string_view path, int first_line, int last_line) {
  const SiteForm* site = SiteOf(repository_url);
  if (site == nullptr || !IsHex(commit, 40)) return "";
  absl::string_view base = repository_url;
  while (absl::ConsumeSuffix(&base, "/")) {
  }
  absl::ConsumeSuffix(&base, ".git");
  const std::string file = absl::StrReplaceAll(
      site->file, {{"{C}", commit}, {"{P}", PercentEncoded(path, kUnreservedInPath)}});
  if (first_line == 0) return absl::StrCat(base, file);
  return absl::StrCat(base, file,
                      absl::StrReplaceAll(site->lines, {{"{F}", absl::StrCat(first_line)},
                                                        {"{L}", absl::StrCat(last_line)}}));
}

void WritePlace(const DatasetIndex& index, uint32_t number, RowWriter& row) {
  const KernelEntry& kernel = index.kernels[number];
  const SourceEntry& source = index.SourceOf(number);
  const std::string& path = index.FileOf(number).path;
  // The lines of a string of a JSON file are not the file's; those of a whole file are all of it.
  const bool all = kernel.in_json || kernel.form == v1::KERNEL_FORM_FILE;
  const int first_line = all ? 0 : kernel.first_line;
  row.Text("id", kernel.id());
  row.Text("repository", source.repository);
  row.TextOrNull("repository_url", source.url);
  row.Text("commit", source.commit);
  row.Integer("first_line", kernel.first_line);
  row.Integer("last_line", kernel.last_line);
  row.TextOrNull("url", WebLink(source.url, source.commit, path, first_line, kernel.last_line));
  row.ExactText("path", path);
  if (kernel.in_json) {
    row.ExactText("json_pointer", index.json_pointers.at(number));
  } else {
    row.Null("json_pointer");
  }
}

void WriteIdentity(const DatasetIndex& index, uint32_t number, RowWriter& row) {
  const KernelEntry& kernel = index.kernels[number];
  WritePlace(index, number, row);
  row.Text("sha256", kernel.sha256());
  row.TextOrNull("dsl", WordOrNothing(v1::Dsl_Name(static_cast<v1::Dsl>(kernel.dsl)), "DSL_"));
  row.TextOrNull(
      "role",
      WordOrNothing(v1::KernelRole_Name(static_cast<v1::KernelRole>(kernel.role)), "KERNEL_ROLE_"));
  row.Text("form",
           EnumWord(v1::KernelForm_Name(static_cast<v1::KernelForm>(kernel.form)), "KERNEL_FORM_"));
}

}  // namespace kernelmill::dataset
