// The commands on a job file that fetch nothing: check, and crawl --dry-run. Both resolve sources
// with the stages of an embedded cluster. `check` has no use for a cache, so its cluster has a
// temporary folder; a dry run opens the crawl's folder, if it exists, to see what the cache has.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "client/embedded/embedded_cluster.h"
#include "client/embedded/source_resolver.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/job/job_file.h"
#include "common/job/source_spec.h"
#include "common/words/counted.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr absl::Duration kCheckGrace = absl::Seconds(5);
// Sources that are resolved at a time: the threads wait for hosts and use no processor.
constexpr int kResolveThreads = 8;

// Resolves the sources on a cluster with these options.
absl::StatusOr<std::vector<ResolvedSource>> Resolve(const EmbeddedCluster::Options& cluster,
                                                    const v1::JobSpec& spec, int attempts,
                                                    rpc::TerminationSignal& signal,
                                                    Console& console) {
  ASSIGN_OR_RETURN(std::unique_ptr<EmbeddedCluster> embedded, EmbeddedCluster::Start(cluster));
  ResolveOptions options = {.threads = kResolveThreads, .attempts = attempts};
  options.on_progress = [&](size_t done, size_t all) {
    console.Progress({{"what", "sources"}, {"done", done}, {"all", all}},
                     absl::StrCat("resolved ", done, " of ", Counted(all, "source")));
    return !signal.WaitFor(absl::ZeroDuration());
  };
  absl::StatusOr<std::vector<ResolvedSource>> sources = ResolveSources(*embedded, spec, options);
  console.EndProgress();
  // A call to a host may still run. Its memory is freed with the process.
  if (!embedded->Stop(kCheckGrace) || !sources.ok()) static_cast<void>(embedded.release());
  return sources;
}

EmbeddedCluster::Options ClusterOptions(const HostOptions& hosts) {
  return {.allow_hosts = hosts.allow_hosts,
          .package_index = hosts.package_index,
          .github_api = hosts.github_api,
          .github_token_file = hosts.github_token_file};
}

// Returns the kind of a source as a job file names it, and where it is.
std::pair<const char*, std::string> GetOrigin(const v1::Source& source) {
  if (source.has_git()) return {"git", source.git()};
  if (source.has_package()) return {"package", source.package()};
  if (source.has_path()) return {"path", source.path()};
  if (source.has_inductor()) return {"inductor", source.inductor()};
  return {"discover", ""};
}

// Returns the source's name for a person.
std::string ShownName(const v1::Source& source) {
  const std::string name = job::SourceName(source);
  return name.empty() ? GetOrigin(source).first : name;
}

std::string ErrorText(const absl::Status& status) {
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ", ErrorLine(status));
}

OrderedJson ErrorJson(const absl::Status& status) {
  if (status.ok()) return nullptr;
  return {{"code", absl::StatusCodeToString(status.code())}, {"message", ErrorLine(status)}};
}

const char* FromWord(FilesFrom from) {
  switch (from) {
    case FilesFrom::kCache:
      return "cache";
    case FilesFrom::kChanges:
      return "changes";
    case FilesFrom::kNetwork:
      return "network";
    case FilesFrom::kDisk:
      return "disk";
  }
  return "";
}

// Returns a commit, or the hash of a wheel or a folder.
std::string GetVersion(const v1::Source& source) {
  return source.has_git() ? source.ref() : absl::StrCat("sha256:", source.sha256());
}

OrderedJson SourceJson(const ResolvedSource& resolved) {
  const auto [kind, origin] = GetOrigin(resolved.source);
  OrderedJson json = {{"name", ShownName(resolved.source)},
                      {"kind", kind},
                      {"origin", origin},
                      {"version", nullptr},
                      {"from", nullptr},
                      {"files", nullptr},
                      {"bytes", nullptr},
                      {"error", ErrorJson(resolved.status)}};
  if (!resolved.status.ok()) return json;
  json["version"] = GetVersion(resolved.source);
  json["from"] = FromWord(resolved.from);
  if (resolved.files.has_value()) {
    json["files"] = resolved.files->files;
    json["bytes"] = resolved.files->bytes;
  }
  return json;
}

// The numbers of a dry run.
struct DryRunSums {
  size_t from[4] = {};  // sources by FilesFrom
  size_t failed = 0;
};

DryRunSums Sum(const std::vector<ResolvedSource>& sources) {
  DryRunSums sums;
  for (const ResolvedSource& one : sources) {
    ++(one.status.ok() ? sums.from[static_cast<int>(one.from)] : sums.failed);
  }
  return sums;
}

// Returns a table with a line for each source, and their sums. The columns are as wide as their
// longest entries.
std::string DryRunText(const std::vector<ResolvedSource>& sources) {
  size_t width = 6;
  for (const ResolvedSource& one : sources) {
    width = std::max(width, OneLine(ShownName(one.source)).size());
  }
  const int name_width = static_cast<int>(width);
  std::string text = absl::StrFormat("%-*s  %-14s  %7s  %10s  %s\n", name_width, "source",
                                     "version", "files", "size", "from");
  for (const ResolvedSource& one : sources) {
    const std::string name = OneLine(ShownName(one.source));
    if (!one.status.ok()) {
      absl::StrAppendFormat(&text, "%-*s  failed: %s\n", name_width, name, ErrorText(one.status));
      continue;
    }
    const std::string version(absl::StripPrefix(GetVersion(one.source), "sha256:"));
    absl::StrAppendFormat(
        &text, "%-*s  %-14s  %7s  %10s  %s\n", name_width, name, version.substr(0, 12),
        one.files.has_value() ? absl::StrCat(one.files->files) : "?",
        one.files.has_value() ? ShortBytes(one.files->bytes) : "?", FromWord(one.from));
  }
  const DryRunSums sums = Sum(sources);
  static constexpr std::pair<FilesFrom, const char*> kSums[] = {
      {FilesFrom::kCache, "in the cache"},
      {FilesFrom::kChanges, "to update from another version in the cache"},
      {FilesFrom::kNetwork, "to fetch"},
      {FilesFrom::kDisk, "to read from this machine"}};
  std::vector<std::string> parts;
  for (const auto& [from, words] : kSums) {
    const size_t count = sums.from[static_cast<int>(from)];
    if (count > 0) parts.push_back(absl::StrCat(count, " ", words));
  }
  if (sums.failed > 0) parts.push_back(absl::StrCat(sums.failed, " failed"));
  return absl::StrCat(text, Counted(sources.size(), "source"), ": ", absl::StrJoin(parts, ", "),
                      "\n");
}

// Returns the folder or file of a local source; empty for other sources.
std::string GetLocalPath(const v1::Source& source) {
  if (source.has_path()) return source.path();
  if (source.has_inductor()) return source.inductor();
  absl::string_view git = source.git();
  return absl::ConsumePrefix(&git, "file://") || absl::StartsWith(git, "/") ? std::string(git) : "";
}

// Checks that a local source is a folder. Opens nothing, since a pipe would make it wait.
absl::Status CheckLocal(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error) return ErrnoStatus(error.value(), path);
  if (std::filesystem::is_directory(status)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(path, ": must be a folder"));
}

// The checks of a job's sources.
struct SourceChecks {
  std::vector<std::pair<v1::Source, absl::Status>> failed;
  int64_t folders = 0;
  // The sources elsewhere.
  int64_t repositories = 0, packages = 0, searches = 0;
  int64_t pinned = 0;  // commits and hashes, which no host is asked for
};

// Checks that local sources are folders. Returns the sources that a stage can check: repositories
// of this machine, for their refs, and if `online` the remote sources. A pin of those would be
// taken as it is, so it is left out, and the host is asked for the repository or the version.
v1::JobSpec CheckLocalSources(const v1::JobSpec& spec, bool online, SourceChecks& checks) {
  v1::JobSpec asked;
  for (const v1::Source& source : spec.sources()) {
    if (const std::string path = GetLocalPath(source); !path.empty()) {
      ++checks.folders;
      const absl::Status status = CheckLocal(path);
      if (!status.ok()) checks.failed.emplace_back(source, status);
      if (status.ok() && source.has_git()) *asked.add_sources() = source;
      continue;
    }
    if (source.has_git()) ++checks.repositories;
    if (source.has_package()) ++checks.packages;
    if (source.has_discover()) ++checks.searches;
    if (!online) continue;
    v1::Source* remote = asked.add_sources();
    *remote = source;
    if (!job::IsPinned(source)) continue;
    ++checks.pinned;
    remote->clear_ref();
    remote->clear_sha256();
  }
  return asked;
}

// Returns "3 repositories, 1 package"; empty if there are only folders.
std::string RemoteText(const SourceChecks& checks) {
  std::vector<std::string> parts;
  if (checks.repositories > 0) {
    parts.push_back(absl::StrCat(checks.repositories,
                                 checks.repositories == 1 ? " repository" : " repositories"));
  }
  if (checks.packages > 0) parts.push_back(Counted(checks.packages, "package"));
  if (checks.searches > 0) {
    parts.push_back(absl::StrCat(checks.searches, checks.searches == 1 ? " search" : " searches"));
  }
  return absl::StrJoin(parts, ", ");
}

// Prints the failed sources, what was checked, and what was not; with --json as events.
void PrintChecks(const SourceChecks& checks, bool online, Console& console) {
  const auto event = [&](const char* type, const OrderedJson& json, const std::string& text) {
    console.json() ? console.Event(type, json) : console.Note(text);
  };
  for (const auto& [source, status] : checks.failed) {
    event("source_failed", {{"source", ShownName(source)}, {"error", ErrorJson(status)}},
          absl::StrCat("failed       ", OneLine(ShownName(source)), "  ", ErrorText(status)));
  }
  std::vector<std::string> checked = {"keys and values"};
  std::vector<std::string> unchecked;
  if (checks.folders > 0) checked.push_back(Counted(checks.folders, "local folder"));
  if (const std::string remote = RemoteText(checks); !remote.empty()) {
    (online ? checked : unchecked).push_back(remote);
  }
  if (online && checks.pinned > 0) {
    unchecked.push_back(absl::StrCat(checks.pinned, checks.pinned == 1
                                                        ? " pinned commit or hash"
                                                        : " pinned commits or hashes"));
  }
  unchecked.emplace_back("the files that globs match");
  event("checked", {{"checked", checked}, {"not_checked", unchecked}},
        absl::StrCat("checked      ", absl::StrJoin(checked, ", "), "\nnot checked  ",
                     absl::StrJoin(unchecked, ", "),
                     online || RemoteText(checks).empty() ? "" : "; --online asks the hosts"));
}

}  // namespace

absl::StatusOr<int> Check(const CheckOptions& options, rpc::TerminationSignal& signal,
                          Console& console) {
  ASSIGN_OR_RETURN(const v1::JobSpec spec, job::LoadJobFile(options.job_file));
  SourceChecks checks;
  const v1::JobSpec asked = CheckLocalSources(spec, options.online, checks);
  if (!asked.sources().empty()) {
    ASSIGN_OR_RETURN(const TempDir data, TempDir::Create());
    EmbeddedCluster::Options cluster = ClusterOptions(options);
    cluster.data_dir = data.path();
    cluster.command_timeout = options.timeout;
    ASSIGN_OR_RETURN(const std::vector<ResolvedSource> sources,
                     Resolve(cluster, asked, /*attempts=*/1, signal, console));
    for (const ResolvedSource& one : sources) {
      if (!one.status.ok()) checks.failed.emplace_back(one.source, one.status);
    }
  }
  console.Answer("job_file", spec, job::JobFileYaml(spec));
  PrintChecks(checks, options.online, console);
  return checks.failed.empty() ? kDone : kInputsFailed;
}

absl::StatusOr<int> DryRun(const CrawlOptions& options, const v1::JobSpec& spec,
                           rpc::TerminationSignal& signal, Console& console) {
  EmbeddedCluster::Options cluster = ClusterOptions(options);
  // A folder that does not exist has nothing in its cache, and a dry run does not create it.
  std::error_code error;
  const bool exists = !options.data_dir.empty() &&
                      std::filesystem::is_directory(options.data_dir + "/store", error);
  ASSIGN_OR_RETURN(const TempDir empty, TempDir::Create());
  cluster.data_dir = exists ? options.data_dir : empty.path();
  ASSIGN_OR_RETURN(const std::vector<ResolvedSource> sources,
                   Resolve(cluster, spec, /*attempts=*/3, signal, console));
  const DryRunSums sums = Sum(sources);
  const int exit_code = sums.failed == 0 ? kDone : kInputsFailed;
  if (!console.json()) {
    console.Result(DryRunText(sources));
    console.Note("nothing was fetched (--dry-run)");
    return exit_code;
  }
  OrderedJson json = {{"job", spec.name()}, {"sources", OrderedJson::array()}};
  for (const ResolvedSource& one : sources) json["sources"].push_back(SourceJson(one));
  json["failed"] = sums.failed;
  json["exit"] = exit_code;
  console.Result(JsonLine("dry_run", json));
  return exit_code;
}

}  // namespace kernelmill::client
