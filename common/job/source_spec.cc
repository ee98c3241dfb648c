// Everything about one source: its checks, its defaults, its name and its identity. A source has
// three views. As written, it is what the job file says. Pinned, it says exactly which bytes it
// means (IsPinned). FetchPart is the part of a pinned source that decides its files, and is the key
// under which the result of fetching is cached, so that changing a label or a weight fetches
// nothing. Identity is the part that the dataset's manifest has.
#include "common/job/source_spec.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/glob.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/dsl/languages.h"
#include "common/job/field_check.h"
#include "common/spdx/expression.h"
#include "common/toolchains/toolchains.h"
#include "common/words/suggestion.h"

namespace kernelmill::job {
namespace {

// Returns the host of scheme://[user@]host[:port]/path or [user@]host:path; empty for a plain path.
std::string FindHost(absl::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme != absl::string_view::npos) {
    url.remove_prefix(scheme + 3);
    url = url.substr(0, url.find('/'));
  } else {
    const size_t colon = url.find(':');
    if (colon == absl::string_view::npos || url.find('/') < colon) return "";
    url = url.substr(0, colon);
  }
  if (const size_t at = url.rfind('@'); at != absl::string_view::npos) url.remove_prefix(at + 1);
  // A colon inside [...] belongs to an IPv6 address.
  const size_t port = url.rfind(':');
  if (port != absl::string_view::npos && url.find(']', port) == absl::string_view::npos) {
    url = url.substr(0, port);
  }
  return absl::AsciiStrToLower(url);
}

}  // namespace

// Returns the host that limits of calls apply to, or a word for a service of several hosts; empty
// for a source on this machine.
std::string SourceHost(const v1::Source& source) {
  if (source.has_package()) return "package index";
  if (source.has_discover()) return "repository search";
  return source.has_git() ? FindHost(source.git()) : "";
}

// Goes by the characters that GitHub allows.
bool IsGithubName(absl::string_view text) {
  const auto known = [](absl::string_view part, absl::string_view marks) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [&](char c) {
      return absl::ascii_isalnum(c) || absl::StrContains(marks, c);
    });
  };
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  return parts.size() == 2 && known(parts[0], "-_") && known(parts[1], "-._") && parts[1] != "." &&
         parts[1] != "..";
}

std::string GithubUrl(absl::string_view name) { return absl::StrCat("https://github.com/", name); }

namespace {

constexpr int kMaxFound = 20'000;     // repositories, by one search
constexpr int kMostCommits = 20'000;  // of a history
constexpr int kDefaultCommits = 1000;

// Checks name==version. Version ranges are refused, since they would mean something else every
// week.
absl::Status CheckPackage(absl::string_view where, absl::string_view package) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(package, absl::MaxSplits("==", 1));
  const auto known = [](absl::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '!';
    });
  };
  if (!known(parts.first) || !known(parts.second)) {
    return FieldError(where, "must be name==version");
  }
  return absl::OkStatus();
}

// Returns whether the URL may be in every record: http:// or https://, a host, and no credentials.
// A query or a fragment is refused, since a link appends the path of a file.
bool IsWebUrl(absl::string_view url) {
  if (!absl::ConsumePrefix(&url, "https://") && !absl::ConsumePrefix(&url, "http://")) return false;
  const absl::string_view authority = url.substr(0, url.find('/'));
  return !authority.empty() && !absl::StrContains(authority, '@') &&
         std::none_of(url.begin(), url.end(), [](unsigned char c) {
           return c <= ' ' || c >= 0x7f || absl::StrContains("?#\"<>\\^`{|}", c);
         });
}

// Checks that the URL has no credentials, which would end up in the dataset. The message does not
// repeat the URL.
absl::Status CheckNoCredentials(const std::string& where, absl::string_view url) {
  if (!HasCredentials(url)) return absl::OkStatus();
  return FieldError(where,
                    "must not contain a user name or password: it would end up in the dataset");
}

// Checks the page of a source. It is shown as a link in records, so it must be an ordinary web URL.
absl::Status CheckUrl(const std::string& where, const std::string& url) {
  if (url.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckText(where, url));
  if (IsWebUrl(url)) return absl::OkStatus();
  return FieldError(where,
                    "must be an http:// or https:// URL without credentials, query and fragment");
}

// Returns the web page of a git repository if its URL is one; else empty.
std::string DefaultUrl(const v1::Source& source) {
  const bool page = absl::StartsWith(source.git(), "https://") && IsWebUrl(source.git());
  return page ? source.git() : "";
}

// Checks the fields that a source of several repositories must not have.
absl::Status CheckSeveral(const std::string& where, const v1::Source& source) {
  if (!source.name().empty())
    return FieldError(where + ".name", "applies to a single repository only");
  if (!source.ref().empty())
    return FieldError(where + ".ref", "applies to a single repository only");
  if (!source.sha256().empty())
    return FieldError(where + ".sha256", "applies to a single repository only");
  if (!source.url().empty())
    return FieldError(where + ".url", "applies to a single repository only");
  return absl::OkStatus();
}

// A search without any condition except stars would return all of GitHub, so one condition is
// required.
absl::Status CheckDiscover(const std::string& where, const v1::Source& source) {
  const v1::Discover& discover = source.discover();
  const std::string prefix = where + ".discover.";
  RETURN_IF_ERROR(CheckSeveral(where, source));
  if (discover.min_stars() < 0) return FieldError(prefix + "min_stars", "must not be negative");
  if (discover.limit() < 0 || discover.limit() > kMaxFound) {
    return FieldError(prefix + "limit", absl::StrCat("must be 1 to ", kMaxFound));
  }
  if (discover.topics().empty() && discover.readme().empty() && discover.code().empty()) {
    return FieldError(where + ".discover", "must have at least one of topics, readme and code");
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

// Checks the origin and the fields that only some origins have.
absl::Status CheckOrigin(const std::string& where, const v1::Source& source) {
  switch (source.origin_case()) {
    case v1::Source::kGit:
      if (source.git().empty()) return FieldError(where + ".git", "must not be empty");
      if (!source.sha256().empty())
        return FieldError(where + ".sha256", "applies to packages and paths only");
      RETURN_IF_ERROR(CheckNoCredentials(where + ".git", source.git()));
      return CheckText(where + ".git", source.git());
    case v1::Source::kPackage:
      if (!source.ref().empty()) return FieldError(where + ".ref", "applies to git only");
      RETURN_IF_ERROR(CheckText(where + ".package", source.package()));
      return CheckPackage(where + ".package", source.package());
    case v1::Source::kPath:
      if (source.path().empty()) return FieldError(where + ".path", "must not be empty");
      if (!source.ref().empty()) return FieldError(where + ".ref", "applies to git only");
      return CheckText(where + ".path", source.path());
    case v1::Source::kInductor:
      if (source.inductor().empty()) return FieldError(where + ".inductor", "must not be empty");
      if (!source.ref().empty()) return FieldError(where + ".ref", "applies to git only");
      return CheckText(where + ".inductor", source.inductor());
    case v1::Source::kDiscover:
      return CheckDiscover(where, source);
    case v1::Source::kList:
      if (source.list().empty()) return FieldError(where + ".list", "must not be empty");
      RETURN_IF_ERROR(CheckSeveral(where, source));
      return CheckText(where + ".list", source.list());
    case v1::Source::ORIGIN_NOT_SET:
      return FieldError(where, "must have one of git, package, path, inductor, discover and list");
  }
  return FieldError(where, "has an unknown origin");
}

// The graphs beside Inductor's kernels are left out only if the job gives no globs at all.
void FillGlobs(v1::Source* source) {
  if (!source->include().empty()) return;
  if (KeepsGraphs(*source)) {
    source->add_include(kGraphsInclude);
    return;
  }
  source->add_include(source->role() == v1::SOURCE_ROLE_EVIDENCE ? kEvidenceInclude
                                                                 : kDefaultInclude);
  if (source->has_inductor() && source->exclude().empty()) source->add_exclude(kInductorExclude);
}

void FillDefaults(v1::Discover* discover) {
  constexpr int kMinStars = 100;
  constexpr int kLimit = 1000;
  if (discover->min_stars() == 0) discover->set_min_stars(kMinStars);
  if (discover->language().empty()) discover->set_language("Python");
  if (discover->limit() == 0) discover->set_limit(kLimit);
}

// The mark of a computed hash is meaningless without the hash.
absl::Status CheckHashComputed(const std::string& where, const v1::Source& source) {
  if (!source.hash_computed()) return absl::OkStatus();
  if (!source.has_package()) return FieldError(where, "applies to packages only");
  if (source.sha256().empty()) return FieldError(where, "requires sha256");
  return absl::OkStatus();
}

// A day that does not exist would be found out by the fetcher only.
absl::Status CheckHistory(const std::string& where, const v1::Source& source) {
  if (!source.has_history()) return absl::OkStatus();
  if (!source.has_git() && !source.has_discover() && !source.has_list()) {
    return FieldError(where, "applies to git repositories only");
  }
  if (source.role() == v1::SOURCE_ROLE_HOLDOUT || source.role() == v1::SOURCE_ROLE_EVIDENCE) {
    return FieldError(where, "applies to candidates only, not to holdouts and evidence");
  }
  const v1::History& history = source.history();
  if (history.depth() < 0 || history.depth() > kMostCommits) {
    return FieldError(where + ".depth", absl::StrCat("must be 1 to ", kMostCommits));
  }
  absl::Time day;
  std::string error;
  if (!history.since().empty() && (history.since().size() != 10 ||
                                   !absl::ParseTime("%Y-%m-%d", history.since(), &day, &error))) {
    return FieldError(where + ".since", "must be a day, YYYY-MM-DD");
  }
  for (const std::string& glob : history.paths()) {
    RETURN_IF_ERROR(CheckText(where + ".paths", glob));
    RETURN_IF_ERROR(Annotate(Glob::Compile(glob).status(), where + ".paths"));
  }
  return absl::OkStatus();
}

absl::Status CheckLanguages(const std::string& where, const v1::Source& source) {
  std::set<absl::string_view> seen;
  for (const std::string& name : source.languages()) {
    if (dsl::FindLanguage(name) == nullptr) {
      std::vector<std::string> known;
      for (const dsl::Language& language : dsl::Languages()) known.emplace_back(language.name);
      return FieldError(where,
                        absl::StrCat("unknown language ", JsonString(name), DidYouMean(name, known),
                                     "; use one of ", absl::StrJoin(known, ", ")));
    }
    if (!seen.insert(name).second) {
      return FieldError(where, absl::StrCat("must not name ", name, " twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPathLicenses(const std::string& where, const v1::Source& source) {
  for (int i = 0; i < source.path_licenses_size(); ++i) {
    const v1::PathLicense& entry = source.path_licenses(i);
    const std::string field = absl::StrCat(where, ".path_licenses[", i, "]");
    if (entry.paths().empty()) return FieldError(field + ".paths", "must have at least one glob");
    for (const std::string& glob : entry.paths()) {
      RETURN_IF_ERROR(CheckText(field + ".paths", glob));
      RETURN_IF_ERROR(Annotate(Glob::Compile(glob).status(), field + ".paths"));
    }
    RETURN_IF_ERROR(
        Annotate(spdx::ParseKnownLicenses(entry.license()).status(), field + ".license"));
  }
  return absl::OkStatus();
}

}  // namespace

// Texts that become arguments or paths go through CheckText; globs are compiled later, by the
// fetcher.
absl::Status CheckSource(const std::string& where, const v1::Source& source) {
  RETURN_IF_ERROR(CheckOrigin(where, source));
  RETURN_IF_ERROR(CheckText(where + ".ref", source.ref()));
  RETURN_IF_ERROR(CheckText(where + ".name", source.name()));
  RETURN_IF_ERROR(CheckNoCredentials(where + ".name", source.name()));
  RETURN_IF_ERROR(CheckText(where + ".category", source.category()));
  RETURN_IF_ERROR(CheckUrl(where + ".url", source.url()));
  if (!source.sha256().empty() && !IsLowerHex(source.sha256(), 64)) {
    return FieldError(where + ".sha256", "must be 64 lowercase hexadecimal digits");
  }
  RETURN_IF_ERROR(CheckHashComputed(where + ".hash_computed", source));
  for (const std::string& glob : source.include()) {
    RETURN_IF_ERROR(CheckText(where + ".include", glob));
    if (glob.empty()) return FieldError(where + ".include", "must not contain an empty glob");
  }
  for (const std::string& glob : source.exclude()) {
    RETURN_IF_ERROR(CheckText(where + ".exclude", glob));
    if (glob.empty()) return FieldError(where + ".exclude", "must not contain an empty glob");
  }
  if (source.tier() < 0) return FieldError(where + ".tier", "must not be negative");
  if (!(source.weight() >= 0 && source.weight() <= 1e6)) {
    return FieldError(where + ".weight", "must be between 0 and 1000000");
  }
  if (!source.license().empty()) {
    RETURN_IF_ERROR(
        Annotate(spdx::ParseKnownLicenses(source.license()).status(), where + ".license"));
  }
  RETURN_IF_ERROR(CheckPathLicenses(where, source));
  RETURN_IF_ERROR(CheckLanguages(where + ".languages", source));
  RETURN_IF_ERROR(CheckHistory(where + ".history", source));
  if (!v1::SourceRole_IsValid(source.role()))
    return FieldError(where + ".role", "must be candidate, holdout or evidence");
  if (!v1::SourceKeep_IsValid(source.keep()))
    return FieldError(where + ".keep", "must be kernels, files or graphs");
  if (source.keep() == v1::SOURCE_KEEP_FILES && source.role() == v1::SOURCE_ROLE_HOLDOUT) {
    return FieldError(where + ".keep", "must not be files for a holdout, which keeps nothing");
  }
  if (KeepsGraphs(source) && source.role() == v1::SOURCE_ROLE_HOLDOUT) {
    return FieldError(where + ".keep", "must not be graphs for a holdout, which keeps nothing");
  }
  if (source.role() != v1::SOURCE_ROLE_EVIDENCE) return absl::OkStatus();
  // Nothing is extracted from evidence, so what says how that is done would silently do nothing.
  if (source.keep() == v1::SOURCE_KEEP_FILES || KeepsGraphs(source) || !source.uses().empty() ||
      source.has_inductor()) {
    return FieldError(where, "must have neither keep, uses nor inductor if its role is evidence");
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
        return FieldError(where, absl::StrCat(JsonString(name), " is not a source of the job"));
      }
      if (used->second == &spec.sources(i))
        return FieldError(where, "must not name the source itself");
      if (used->second->role() == v1::SOURCE_ROLE_HOLDOUT) {
        return FieldError(where, absl::StrCat("must not name ", JsonString(name),
                                              ", a holdout, whose text must not be in a module"));
      }
      if (used->second->role() == v1::SOURCE_ROLE_EVIDENCE) {
        return FieldError(where, absl::StrCat("must not name ", JsonString(name),
                                              ", which has evidence and no code"));
      }
      if (!seen.insert(name).second) {
        return FieldError(where, absl::StrCat("must not name ", JsonString(name), " twice"));
      }
    }
  }
  return absl::OkStatus();
}

void FillSourceDefaults(v1::Source* source) {
  if (!source->git().empty() && source->ref().empty()) source->set_ref("HEAD");
  FillGlobs(source);
  if (source->has_discover()) FillDefaults(source->mutable_discover());
  if (source->category().empty()) source->set_category(SourceName(*source));
  if (source->url().empty()) source->set_url(DefaultUrl(*source));
  if (source->tier() == 0) source->set_tier(1);
  if (source->weight() == 0) source->set_weight(1);
  if (source->role() == v1::SOURCE_ROLE_UNSPECIFIED) source->set_role(v1::SOURCE_ROLE_CANDIDATE);
  if (source->has_history() && source->history().depth() == 0) {
    source->mutable_history()->set_depth(kDefaultCommits);
  }
  // The default has one form, so that writing it out does not change the dataset.
  if (source->keep() == v1::SOURCE_KEEP_KERNELS) source->clear_keep();
  auto& languages = *source->mutable_languages();
  std::sort(languages.begin(), languages.end());
  std::vector<std::string> usual;
  for (const dsl::Language& language : dsl::Languages()) {
    if (language.by_default) usual.emplace_back(language.name);
  }
  if (std::equal(languages.begin(), languages.end(), usual.begin(), usual.end())) languages.Clear();
}

// The name is what the job gives, or else the origin as written.
std::string SourceName(const v1::Source& source) {
  if (!source.name().empty()) return source.name();
  if (source.has_git()) return source.git();
  if (source.has_package()) return source.package();
  if (source.has_inductor()) return source.inductor();
  if (source.has_discover()) return "discover";
  return source.path();
}

std::string RunSourceName(absl::string_view device, absl::string_view sha256) {
  return absl::StrCat(kRunFolder, "/", absl::StrReplaceAll(device, {{":", "-"}}), "-",
                      sha256.substr(0, 12));
}

bool IsRunSource(const v1::Source& source) {
  if (!source.has_path() || !IsPinned(source)) return false;
  const absl::Span<const absl::string_view> devices = toolchains::RunDevices();
  return std::any_of(devices.begin(), devices.end(), [&](absl::string_view device) {
    return SourceName(source) == RunSourceName(device, source.sha256());
  });
}

// The category of a search without one of its own is its name, "discover", which says nothing; each
// found repository gets its URL instead.
v1::Source FoundSource(const v1::Source& discover, const std::string& git_url) {
  v1::Source source = discover;
  const bool labelled = source.category() != SourceName(discover);
  source.set_git(git_url);
  source.set_ref("HEAD");
  if (!labelled) source.set_category(git_url);
  source.set_url(DefaultUrl(source));
  return source;
}

// A commit pins a repository; the hash of the content pins a package or a folder.
bool IsPinned(const v1::Source& source) {
  return source.has_git() ? IsLowerHex(source.ref(), 40) : IsLowerHex(source.sha256(), 64);
}

bool ReadsWholeFiles(const v1::Source& source) {
  return source.keep() == v1::SOURCE_KEEP_FILES || source.role() == v1::SOURCE_ROLE_HOLDOUT;
}

bool KeepsGraphs(const v1::Source& source) { return source.keep() == v1::SOURCE_KEEP_GRAPHS; }

v1::Source AsRead(const v1::JobSpec& settings, v1::Source source) {
  if (settings.references() && source.role() != v1::SOURCE_ROLE_EVIDENCE) {
    source.set_keep(v1::SOURCE_KEEP_FILES);
  }
  return source;
}

// Fields are cleared one by one, not copied: a new field of Source counts as part of the fetch
// until it is listed here.
v1::Source FetchPart(const v1::Source& source) {
  v1::Source part = source;
  part.clear_category();
  part.clear_tier();
  part.clear_weight();
  part.clear_role();
  part.clear_license();
  part.clear_path_licenses();
  part.clear_url();
  part.clear_uses();
  part.clear_hash_computed();
  part.clear_keep();
  if (ReadsWholeFiles(source) || KeepsGraphs(source)) part.set_keep(v1::SOURCE_KEEP_FILES);
  // Evidence has no kernel marker, and so would be skipped.
  if (source.role() == v1::SOURCE_ROLE_EVIDENCE) part.set_role(source.role());
  return part;
}

// The dataset must not depend on where it was made: the origin is replaced by the source's name,
// which is the path as written, and a name of its own is then redundant.
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
