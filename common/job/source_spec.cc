#include "common/job/source_spec.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/job/field_check.h"
#include "common/spdx/expression.h"

namespace kernelmill::job {
namespace {

constexpr int kMaxFound = 20'000;  // by one search

absl::Status CheckPackage(absl::string_view where, absl::string_view package) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(package, absl::MaxSplits("==", 1));
  const auto known = [](absl::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '!';
    });
  };
  if (!known(parts.first) || !known(parts.second)) {
    return FieldError(where, "a package is written name==version");
  }
  return absl::OkStatus();
}

// A page on the web that may stand in every record: http:// or https://, a host, and no
// credentials. A query or a fragment would come before the path that a link appends.
bool IsWebUrl(absl::string_view url) {
  if (!absl::ConsumePrefix(&url, "https://") && !absl::ConsumePrefix(&url, "http://")) return false;
  const absl::string_view authority = url.substr(0, url.find('/'));
  return !authority.empty() && !absl::StrContains(authority, '@') &&
         std::none_of(url.begin(), url.end(), [](unsigned char c) {
           return c <= ' ' || c >= 0x7f || absl::StrContains("?#\"<>\\^`{|}", c);
         });
}

// They would end in the dataset. The text of the URL is in no message.
absl::Status CheckNoCredentials(const std::string& where, absl::string_view url) {
  if (!HasCredentials(url)) return absl::OkStatus();
  return FieldError(where,
                    "is a URL with a user name or password in it: it would end in the dataset");
}

absl::Status CheckUrl(const std::string& where, const std::string& url) {
  if (url.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckText(where, url));
  if (IsWebUrl(url)) return absl::OkStatus();
  return FieldError(where, "is no http:// or https:// URL without credentials, query and fragment");
}

// Where a git repository is on the web if its URL says so; else nothing.
std::string DefaultUrl(const v1::Source& source) {
  const bool page = absl::StartsWith(source.git(), "https://") && IsWebUrl(source.git());
  return page ? source.git() : "";
}

// What a source of many repositories cannot have.
absl::Status CheckOfMany(const std::string& where, const v1::Source& source) {
  if (!source.name().empty()) return FieldError(where + ".name", "is of one repository");
  if (!source.ref().empty()) return FieldError(where + ".ref", "is of one repository");
  if (!source.sha256().empty()) return FieldError(where + ".sha256", "is of one repository");
  if (!source.url().empty()) return FieldError(where + ".url", "is of one repository");
  return absl::OkStatus();
}

absl::Status CheckDiscover(const std::string& where, const v1::Source& source) {
  const v1::Discover& discover = source.discover();
  const std::string prefix = where + ".discover.";
  RETURN_IF_ERROR(CheckOfMany(where, source));
  if (discover.min_stars() < 0) return FieldError(prefix + "min_stars", "is negative");
  if (discover.limit() < 0 || discover.limit() > kMaxFound) {
    return FieldError(prefix + "limit", absl::StrCat("is not 1 to ", kMaxFound));
  }
  if (discover.topics().empty() && discover.readme().empty() && discover.code().empty()) {
    return FieldError(where + ".discover", "has none of topics, readme and code");
  }
  RETURN_IF_ERROR(CheckText(prefix + "language", discover.language()));
  RETURN_IF_ERROR(CheckText(prefix + "code", discover.code()));
  for (const std::string& topic : discover.topics()) {
    RETURN_IF_ERROR(CheckText(prefix + "topics", topic));
  }
  for (const std::string& word : discover.readme()) {
    RETURN_IF_ERROR(CheckText(prefix + "readme", word));
  }
  return absl::OkStatus();
}

absl::Status CheckOrigin(const std::string& where, const v1::Source& source) {
  switch (source.origin_case()) {
    case v1::Source::kGit:
      if (source.git().empty()) return FieldError(where + ".git", "is empty");
      if (!source.sha256().empty())
        return FieldError(where + ".sha256", "is for packages and paths");
      RETURN_IF_ERROR(CheckNoCredentials(where + ".git", source.git()));
      return CheckText(where + ".git", source.git());
    case v1::Source::kPackage:
      if (!source.ref().empty()) return FieldError(where + ".ref", "is for git");
      RETURN_IF_ERROR(CheckText(where + ".package", source.package()));
      return CheckPackage(where + ".package", source.package());
    case v1::Source::kPath:
      if (source.path().empty()) return FieldError(where + ".path", "is empty");
      if (!source.ref().empty()) return FieldError(where + ".ref", "is for git");
      return CheckText(where + ".path", source.path());
    case v1::Source::kInductor:
      if (source.inductor().empty()) return FieldError(where + ".inductor", "is empty");
      if (!source.ref().empty()) return FieldError(where + ".ref", "is for git");
      return CheckText(where + ".inductor", source.inductor());
    case v1::Source::kDiscover:
      return CheckDiscover(where, source);
    case v1::Source::kList:
      if (source.list().empty()) return FieldError(where + ".list", "is empty");
      RETURN_IF_ERROR(CheckOfMany(where, source));
      return CheckText(where + ".list", source.list());
    case v1::Source::ORIGIN_NOT_SET:
      return FieldError(where, "has none of git, package, path, inductor, discover and list");
  }
  return FieldError(where, "has an unknown origin");
}

// A torch_compile_debug folder has its models' graphs beside the kernels, in Python too.
void FillGlobs(v1::Source* source) {
  if (!source->include().empty()) return;
  source->add_include("**/*.py");
  if (source->has_inductor() && source->exclude().empty()) source->add_exclude("**/fx_graph_*.py");
}

void FillDefaults(v1::Discover* discover) {
  if (discover->min_stars() == 0) discover->set_min_stars(100);
  if (discover->language().empty()) discover->set_language("Python");
  if (discover->limit() == 0) discover->set_limit(1000);
}

}  // namespace

absl::Status CheckSource(const std::string& where, const v1::Source& source) {
  RETURN_IF_ERROR(CheckOrigin(where, source));
  RETURN_IF_ERROR(CheckText(where + ".ref", source.ref()));
  RETURN_IF_ERROR(CheckText(where + ".name", source.name()));
  RETURN_IF_ERROR(CheckNoCredentials(where + ".name", source.name()));
  RETURN_IF_ERROR(CheckText(where + ".category", source.category()));
  RETURN_IF_ERROR(CheckUrl(where + ".url", source.url()));
  if (!source.sha256().empty() && !IsLowerHex(source.sha256(), 64)) {
    return FieldError(where + ".sha256", "is not 64 lowercase hexadecimal digits");
  }
  for (const std::string& glob : source.include()) {
    RETURN_IF_ERROR(CheckText(where + ".include", glob));
    if (glob.empty()) return FieldError(where + ".include", "has an empty glob");
  }
  for (const std::string& glob : source.exclude()) {
    RETURN_IF_ERROR(CheckText(where + ".exclude", glob));
    if (glob.empty()) return FieldError(where + ".exclude", "has an empty glob");
  }
  if (source.tier() < 0) return FieldError(where + ".tier", "is negative");
  if (!(source.weight() >= 0 && source.weight() <= 1e6)) {
    return FieldError(where + ".weight", "is not between 0 and 1000000");
  }
  if (!source.license().empty()) {
    RETURN_IF_ERROR(
        Annotate(spdx::SpdxExpression::Parse(source.license()).status(), where + ".license"));
  }
  if (!v1::SourceRole_IsValid(source.role())) return FieldError(where + ".role", "is unknown");
  if (!v1::SourceKeep_IsValid(source.keep())) return FieldError(where + ".keep", "is unknown");
  if (source.keep() == v1::SOURCE_KEEP_FILES && source.role() == v1::SOURCE_ROLE_HOLDOUT) {
    return FieldError(where + ".keep", "is files, but nothing of a holdout is kept");
  }
  return absl::OkStatus();
}

absl::Status CheckUses(const v1::JobSpec& spec) {
  std::map<std::string, const v1::Source*> by_name;
  for (const v1::Source& source : spec.sources()) {
    if (!source.has_discover() && !source.has_list()) by_name.emplace(SourceName(source), &source);
  }
  for (int i = 0; i < spec.sources_size(); ++i) {
    std::set<std::string> seen;
    for (const std::string& name : spec.sources(i).uses()) {
      const std::string where = absl::StrCat("sources[", i, "].uses");
      const auto used = by_name.find(name);
      if (used == by_name.end()) {
        return FieldError(
            where, absl::StrCat("has ", JsonString(name), ", which is no source of the job"));
      }
      if (used->second == &spec.sources(i)) return FieldError(where, "has the source itself");
      if (used->second->role() == v1::SOURCE_ROLE_HOLDOUT) {
        return FieldError(where, absl::StrCat("has ", JsonString(name),
                                              ", a holdout: no module may have its text"));
      }
      if (!seen.insert(name).second) {
        return FieldError(where, absl::StrCat("has ", JsonString(name), " twice"));
      }
    }
  }
  return absl::OkStatus();
}

void FillSourceDefaults(v1::Source* source) {
  if (source->git().size() && source->ref().empty()) source->set_ref("HEAD");
  FillGlobs(source);
  if (source->has_discover()) FillDefaults(source->mutable_discover());
  if (source->category().empty()) source->set_category(SourceName(*source));
  if (source->url().empty()) source->set_url(DefaultUrl(*source));
  if (source->tier() == 0) source->set_tier(1);
  if (source->weight() == 0) source->set_weight(1);
  if (source->role() == v1::SOURCE_ROLE_UNSPECIFIED) source->set_role(v1::SOURCE_ROLE_CANDIDATE);
  // One way to say the default, so that saying it makes no other dataset.
  if (source->keep() == v1::SOURCE_KEEP_KERNELS) source->clear_keep();
}

std::string SourceName(const v1::Source& source) {
  if (!source.name().empty()) return source.name();
  if (source.has_git()) return source.git();
  if (source.has_package()) return source.package();
  if (source.has_inductor()) return source.inductor();
  if (source.has_discover()) return "discover";
  return source.path();
}

v1::Source FoundSource(const v1::Source& discover, const std::string& git_url) {
  v1::Source source = discover;
  const bool labelled = source.category() != SourceName(discover);
  source.set_git(git_url);
  source.set_ref("HEAD");
  if (!labelled) source.set_category(git_url);
  source.set_url(DefaultUrl(source));
  return source;
}

bool IsPinned(const v1::Source& source) {
  return source.has_git() ? IsLowerHex(source.ref(), 40) : IsLowerHex(source.sha256(), 64);
}

v1::Source FetchPart(const v1::Source& source) {
  v1::Source part = source;
  part.clear_category();
  part.clear_tier();
  part.clear_weight();
  part.clear_role();
  part.clear_license();
  part.clear_url();
  part.clear_uses();
  if (source.keep() != v1::SOURCE_KEEP_FILES) part.clear_keep();
  return part;
}

v1::Source Identity(const v1::Source& source) {
  v1::Source identity = source;
  const std::string name = SourceName(source);
  if (identity.has_git()) identity.set_git(name);
  if (identity.has_package()) identity.set_package(name);
  if (identity.has_path()) identity.set_path(name);
  if (identity.has_inductor()) identity.set_inductor(name);
  identity.clear_name();
  return identity;
}

}  // namespace kernelmill::job
