#include "common/job/opt_out.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/field_check.h"
#include "common/job/source_spec.h"

namespace kernelmill::job {
namespace {

// What stands before the version of name==version, as pip compares names; empty of what is none.
std::string PackageName(absl::string_view package) {
  const size_t end = package.find("==");
  if (end == absl::string_view::npos) return "";
  return absl::AsciiStrToLower(package.substr(0, end));
}

// host and the parts of the path, in lower case; none where it names no host.
std::vector<std::string> PartsOf(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t scheme = text.find("://");
  bool has_host = scheme != absl::string_view::npos;
  std::string rest(has_host ? text.substr(scheme + 3) : text);
  if (has_host && text.substr(0, scheme) == "file") return {};
  const size_t slash = rest.find('/');
  if (const size_t at = rest.substr(0, slash).rfind('@'); at != std::string::npos) {
    rest.erase(0, at + 1);
  }
  // host:path of ssh, or host:port/path.
  const size_t colon = rest.find(':');
  if (colon != std::string::npos && colon < rest.find('/')) {
    size_t end = colon + 1;
    while (end < rest.size() && absl::ascii_isdigit(rest[end])) ++end;
    const bool port = end == rest.size() || rest[end] == '/';
    has_host = true;
    rest = port ? rest.substr(0, colon) + rest.substr(end)
                : absl::StrCat(rest.substr(0, colon), "/", rest.substr(colon + 1));
  }
  std::vector<std::string> parts =
      absl::StrSplit(absl::AsciiStrToLower(rest), '/', absl::SkipEmpty());
  if (parts.empty() || rest[0] == '/' || parts[0][0] == '.') return {};
  if (!has_host && !absl::StrContains(parts[0], '.')) return {};
  if (parts.size() > 1 && parts.back() != ".git") {
    parts.back() = std::string(absl::StripSuffix(parts.back(), ".git"));
  }
  return parts;
}

bool IsGithubName(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  return parts.size() == 2 && !parts[0].empty() && !parts[1].empty() && parts[0][0] != '.' &&
         !absl::StrContains(text, ':') && !absl::StrContains(parts[0], '.');
}

void AddAt(const absl::flat_hash_map<std::string, std::vector<int>>& places, const std::string& key,
           std::vector<int>* found) {
  const auto at = places.find(key);
  if (key.empty() || at == places.end()) return;
  found->insert(found->end(), at->second.begin(), at->second.end());
}

}  // namespace

absl::Status CheckOptOut(const std::string& where, const v1::OptOut& entry) {
  const bool of_source = !entry.repository().empty() || !entry.owner().empty();
  RETURN_IF_ERROR(CheckText(where + ".repository", entry.repository()));
  RETURN_IF_ERROR(CheckText(where + ".owner", entry.owner()));
  RETURN_IF_ERROR(CheckText(where + ".path", entry.path()));
  if (!of_source && entry.sha256().empty()) {
    return FieldError(where, "names nothing: a repository, an owner or a sha256 is needed");
  }
  if (!entry.repository().empty() && !entry.owner().empty()) {
    return FieldError(where + ".owner", "stands beside repository; only one can be given");
  }
  if (!entry.owner().empty() && PartsOf(entry.owner()).size() < 2) {
    return FieldError(where + ".owner", "is no host/owner");
  }
  if (!entry.sha256().empty() && !IsLowerHex(entry.sha256(), 64)) {
    return FieldError(where + ".sha256", "is not 64 lowercase hexadecimal digits");
  }
  if (entry.path().empty()) return absl::OkStatus();
  if (!of_source)
    return FieldError(where + ".path", "is of a repository or an owner, which is missing");
  return Annotate(Glob::Compile(entry.path()).status(), where + ".path");
}

absl::string_view GravestReason(const v1::Verdict& verdict) {
  for (const std::string& reason : verdict.reasons()) {
    if (absl::StartsWith(reason, kOptOutReason)) return reason;
  }
  return verdict.reasons().empty() ? "unspecified" : absl::string_view(verdict.reasons(0));
}

std::string CanonicalRepository(absl::string_view text) {
  const std::vector<std::string> parts = PartsOf(text);
  return parts.size() < 2 ? "" : absl::StrJoin(parts, "/");
}

OptOutIndex::OptOutIndex(const google::protobuf::RepeatedPtrField<v1::OptOut>& entries) {
  for (int i = 0; i < entries.size(); ++i) {
    const v1::OptOut& entry = entries[i];
    if (!entry.owner().empty()) {
      by_owner_[CanonicalRepository(entry.owner())].push_back(i);
    } else if (entry.repository().empty()) {
      of_all_.push_back(i);
    } else {
      by_name_[entry.repository()].push_back(i);
      const std::string canonical = IsGithubName(entry.repository())
                                        ? CanonicalRepository("github.com/" + entry.repository())
                                        : CanonicalRepository(entry.repository());
      if (!canonical.empty()) by_repository_[canonical].push_back(i);
      const std::string lower = absl::AsciiStrToLower(entry.repository());
      if (lower != entry.repository()) by_name_[lower].push_back(i);
    }
  }
}

std::vector<int> OptOutIndex::Naming(const v1::Source& source) const {
  std::vector<int> found = of_all_;
  const std::string name = SourceName(source);
  AddAt(by_name_, name, &found);
  AddAt(by_name_, PackageName(source.package()), &found);
  for (const std::string& url : {source.git(), source.url(), name}) {
    const std::string canonical = CanonicalRepository(url);
    AddAt(by_repository_, canonical, &found);
    for (size_t end = canonical.find('/'); end != std::string::npos;) {
      end = canonical.find('/', end + 1);
      AddAt(by_owner_, canonical.substr(0, end), &found);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

absl::StatusOr<SourceOptOut> SourceOptOut::Compile(
    const google::protobuf::RepeatedPtrField<v1::OptOut>& entries) {
  SourceOptOut compiled;
  for (int i = 0; i < entries.size(); ++i) {
    Entry entry;
    entry.place = i;
    entry.any_path = entries[i].path().empty();
    if (!entry.any_path) {
      ASSIGN_OR_RETURN(entry.path, Glob::Compile(entries[i].path()));
    }
    std::vector<Entry>& among =
        entries[i].sha256().empty() ? compiled.by_path_ : compiled.by_hash_[entries[i].sha256()];
    among.push_back(std::move(entry));
  }
  return compiled;
}

std::vector<int> SourceOptOut::Naming(absl::string_view path,
                                      absl::Span<const absl::string_view> sha256) const {
  std::vector<int> found;
  const auto add = [&](const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      if (entry.any_path || entry.path.Matches(path)) found.push_back(entry.place);
    }
  };
  add(by_path_);
  for (const absl::string_view hash : sha256) {
    const auto at = by_hash_.find(hash);
    if (at != by_hash_.end()) add(at->second);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace kernelmill::job
