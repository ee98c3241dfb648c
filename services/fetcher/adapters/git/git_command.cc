#include "services/fetcher/adapters/git/git_command.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/git/transfer_watch.h"
#include "services/fetcher/adapters/http/address.h"
#include "services/fetcher/adapters/http/curl_easy.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/adapters/smart_http/v2_messages.h"

namespace kernelmill::fetcher {
namespace {

// The operator's environment variables that git gets: which certificates and keys to use, and,
// where BehindProxy says so, the proxy. Without no_proxy: BehindProxy has read it.
constexpr const char* kPassedOn[] = {"PATH",           "SSL_CERT_FILE",  "SSL_CERT_DIR",
                                     "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSH_AUTH_SOCK"};
constexpr const char* kProxies[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                    "ALL_PROXY"};

void PassOn(const char* name, std::vector<std::string>& env) {
  const char* value = std::getenv(name);
  if (value != nullptr) env.push_back(absl::StrCat(name, "=", value));
}

// fetch.fsckObjects is left out on purpose: git 2.39 passes no fetch.fsck.* exceptions to
// index-pack for a promisor's pack, so one old commit with an odd time zone, or one tree with a
// '.git' entry, would lose the whole repository. Instead index-pack checks every hash, libgit2
// checks it again when it reads, and unsafe names are skipped one by one.
constexpr const char* kSettings[] = {
    "protocol.version=2",       "credential.helper=",  "core.hooksPath=/dev/null",
    "core.fsmonitor=false",     "gc.auto=0",           "maintenance.auto=false",
    "submodule.recurse=false",  "fetch.unpackLimit=1", "pack.threads=2",
    "core.bigFileThreshold=32m"};

// git passes this to a shell, followed by the repository's path in quotes. It contains nothing from
// the source.
constexpr char kLocalUploadPack[] =
    "--upload-pack=git -c safe.directory='*' -c uploadpack.allowFilter=true "
    "-c uploadpack.allowAnySHA1InWant=true upload-pack";

// An ssh that asks nothing and ends when the other side is silent.
constexpr char kSshCommand[] =
    "ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=15 "
    "-oClearAllForwardings=yes -oPermitLocalCommand=no";

constexpr int kSshPort = 22;

// Returns the ssh command for a host at an address. Its keys are still looked up by its name, as
// ssh writes names in known_hosts. A shell reads this, and HostPolicy has left no quote in the
// name.
std::string SshCommand(const GitUrl& url, const IpAddress& address) {
  const std::string name =
      url.port == kSshPort ? url.host : absl::StrCat("[", url.host, "]:", url.port);
  return absl::StrCat(kSshCommand, " -oHostName=", address.Text(),
                      " -oCheckHostIP=no '-oHostKeyAlias=", absl::AsciiStrToLower(name), "'");
}

// Returns an address as URLs have it.
std::string UrlText(const IpAddress& address) {
  return address.v4() ? address.Text() : absl::StrCat("[", address.Text(), "]");
}

constexpr int64_t kTraceTail = 256 << 10;

// For each process of git. A million refs take some 200 MiB of it, and so does a delta whose result
// has them; larger blobs are streamed (core.bigFileThreshold).
constexpr int64_t kMemoryBytes = 768 << 20;

// Returns the transports that git may use: the URL's own. http may be redirected to https.
std::string AllowedProtocols(const std::string& scheme) {
  return scheme == "http" ? "http:https" : scheme;
}

// Returns the whole environment of a git command: no configuration of the system or the user, no
// prompt, no lazy fetch of missing objects, and an ssh that asks nothing.
std::vector<std::string> Environment(const std::string& home, const std::string& protocols) {
  std::vector<std::string> env = {
      absl::StrCat("HOME=", home),
      absl::StrCat("GIT_CEILING_DIRECTORIES=", std::filesystem::path(home).parent_path().string()),
      absl::StrCat("GIT_ALLOW_PROTOCOL=", protocols),
      "LC_ALL=C",
      "GIT_CONFIG_NOSYSTEM=1",
      "GIT_CONFIG_GLOBAL=/dev/null",
      "GIT_ATTR_NOSYSTEM=1",
      "GIT_TERMINAL_PROMPT=0",
      "GIT_PROTOCOL_FROM_USER=0",
      "GIT_ASKPASS=/bin/false",
      "SSH_ASKPASS=/bin/false",
      "GIT_NO_LAZY_FETCH=1",
      "GIT_NO_REPLACE_OBJECTS=1",
  };
  for (const char* name : kPassedOn) PassOn(name, env);
  return env;
}

// Returns whether git stopped at a redirect, which it is told not to follow.
bool IsRedirect(const ChildResult& result) {
  for (const int code : {301, 302, 303, 307, 308}) {
    if (absl::StrContains(result.errors, absl::StrCat("returned error: ", code))) return true;
  }
  return false;
}

// Returns the end of a file; empty if it cannot be read.
std::string ReadTail(const std::string& path, int64_t bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  file.seekg(std::max<int64_t>(0, static_cast<int64_t>(file.tellg()) - bytes));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns the line of git's output that best says what went wrong.
std::string LastComplaint(absl::string_view errors) {
  absl::string_view last, complaint;
  for (const absl::string_view line : absl::StrSplit(errors, '\n', absl::SkipWhitespace())) {
    // The line before, of ssh or of the server, has the reason.
    if (!last.empty() && absl::StartsWith(line, "fatal: Could not read from remote")) break;
    last = line;
    if (absl::StartsWith(line, "fatal: ") || absl::StartsWith(line, "error: ")) complaint = line;
  }
  if (complaint.empty()) complaint = last;
  absl::ConsumePrefix(&complaint, "fatal: ");
  return ToUtf8(complaint.substr(0, 500));
}

// A promisor remote may leave out objects without git calling that damage. The URL is passed on
// each command line instead of being written here, so that nothing has to be quoted.
constexpr char kConfig[] =
    "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
    "[extensions]\n\tpartialClone = origin\n"
    "[remote \"origin\"]\n\tpromisor = true\n\tpartialCloneFilter = blob:none\n";

}  // namespace

// Returns the error of a failed git. Limits come first, because git's own words then describe only
// a consequence. UNAVAILABLE, which is retried, if nothing is recognized.
absl::Status ClassifyGitFailure(const ChildResult& result) {
  if (!result.stopped.ok()) return Annotate(result.stopped, "git");
  if (result.timed_out) return absl::DeadlineExceededError("git took too long");
  if (result.output_overflow)
    return absl::FailedPreconditionError("git wrote more output than allowed");
  if (result.signal == SIGXCPU || result.signal == SIGXFSZ) {
    return absl::FailedPreconditionError("git needed more CPU time or disk than allowed");
  }
  const std::string complaint = LastComplaint(result.errors);
  if (const std::optional<absl::StatusCode> code = GitErrorCode(result.errors)) {
    return absl::Status(*code, absl::StrCat("git: ", complaint));
  }
  return absl::UnavailableError(complaint.empty() ? "git failed without a message"
                                                  : absl::StrCat("git: ", complaint));
}

// Returns the Retry-After of the last answer in git's trace; git itself does not report headers.
std::optional<absl::Duration> RetryAfterInTrace(absl::string_view trace, absl::Time now) {
  constexpr absl::string_view kReceived = "<= Recv header: ";
  std::optional<absl::Duration> wait;
  for (const absl::string_view line : absl::StrSplit(trace, '\n')) {
    const size_t at = line.find(kReceived);
    if (at == absl::string_view::npos) continue;
    const absl::string_view header = line.substr(at + kReceived.size());
    if (absl::StartsWith(header, "HTTP/")) wait.reset();  // another answer begins
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(header, absl::MaxSplits(':', 1));
    if (absl::EqualsIgnoreCase(field.first, "Retry-After")) {
      wait = ParseRetryAfter(field.second, now);
    }
  }
  return wait;
}

SmartHttpOptions MakeSmartHttpOptions(const GitOptions& options) {
  return {options.hosts, options.timeout, options.pack_bytes, options.rate};
}

absl::StatusOr<GitCommand> GitCommand::Create(GitUrl url, const GitOptions& options,
                                              std::string folder) {
  // A path is made absolute, so that nothing in it can look like a host or an option.
  if (url.local() && !absl::StrContains(url.url, "://")) {
    std::error_code error;
    url.url = std::filesystem::absolute(url.url, error).string();
    if (error) return ErrnoStatus(error.value(), "current folder");
  }
  return GitCommand(std::move(url), options, std::move(folder));
}

// Looks the host up once, for PinHost.
absl::Status GitCommand::ApplyHostPolicy() {
  if (host_checked_) return absl::OkStatus();
  addresses_.clear();
  if (BehindProxy(url_.scheme, url_.host)) {
    RETURN_IF_ERROR(options_.hosts.CheckBehindProxy(url_.host));
  } else if (!url_.local()) {
    ASSIGN_OR_RETURN(addresses_, options_.hosts.Resolve(url_.host));
  }
  host_checked_ = true;
  return absl::OkStatus();
}

// Returns the URL for git. git:// has no other way to tell git an address.
std::string GitCommand::RemoteUrl() const {
  if (url_.scheme != "git" || addresses_.empty()) return url_.url;
  const size_t path = url_.url.find('/', url_.url.find("://") + 3);
  return absl::StrCat("git://", UrlText(addresses_[0]), ":", url_.port,
                      path == std::string::npos ? "" : url_.url.substr(path));
}

// Makes git connect to the addresses that were checked: over HTTP to any of them, else to the
// first, which is the one that getaddrinfo prefers. The '*' pins whatever git reads as the host.
void GitCommand::PinHost(ChildCommand& child) const {
  const bool http = url_.scheme == "http" || url_.scheme == "https";
  const bool ssh = url_.scheme == "ssh" && !addresses_.empty();
  child.env.push_back(
      absl::StrCat("GIT_SSH_COMMAND=", ssh ? SshCommand(url_, addresses_[0]) : kSshCommand));
  if (url_.scheme == "git") {
    const bool v6 = absl::StrContains(url_.host, ':');
    child.env.push_back(absl::StrCat("GIT_OVERRIDE_VIRTUAL_HOST=", v6 ? "[" : "", url_.host,
                                     v6 ? "]:" : ":", url_.port));
  } else if (http && addresses_.empty()) {
    for (const char* name : kProxies) PassOn(name, child.env);
  } else if (http) {
    const auto text = [](std::string* out, const IpAddress& ip) { out->append(UrlText(ip)); };
    child.argv.insert(child.argv.end(),
                      {"-c", absl::StrCat("http.curloptResolve=*:", url_.port, ":",
                                          absl::StrJoin(addresses_, ",", text))});
  }
}

// Settings are given with -c on the command line, where they win over every file.
ChildCommand GitCommand::MakeChild(const GitCall& call, Reach reach) const {
  const bool remote = reach == Reach::kRemote;
  ChildCommand child;
  child.argv = {"git"};
  const auto set = [&](std::string setting) {
    child.argv.insert(child.argv.end(), {"-c", std::move(setting)});
  };
  for (const char* setting : kSettings) set(setting);
  set(absl::StrCat("remote.origin.url=", RemoteUrl()));
  set("http.followRedirects=false");
  child.env = Environment(folder_, remote ? AllowedProtocols(url_.scheme) : "");
  if (remote) PinHost(child);
  set(absl::StrCat("fetch.negotiationAlgorithm=", call.negotiate ? "consecutive" : "noop"));
  child.argv.push_back(call.command);
  if (remote && url_.local()) child.argv.push_back(kLocalUploadPack);
  child.argv.insert(child.argv.end(), call.arguments.begin(), call.arguments.end());
  if (remote) {
    // The rate of all that its HTTP helper receives; TransferWatch has that of the pack.
    child.env.insert(
        child.env.end(),
        {absl::StrCat("GIT_HTTP_LOW_SPEED_LIMIT=", options_.rate.bytes_per_second),
         absl::StrCat("GIT_HTTP_LOW_SPEED_TIME=", absl::ToInt64Seconds(options_.rate.window))});
    // Only headers, with secrets redacted; for RetryAfterInTrace.
    child.env.insert(child.env.end(),
                     {absl::StrCat("GIT_TRACE_CURL=", CurlTrace()), "GIT_TRACE_CURL_NO_DATA=1"});
  }
  if (!call.packet_trace.empty()) {
    child.env.push_back(absl::StrCat("GIT_TRACE_PACKET=", call.packet_trace));
  }
  child.directory = folder_;
  child.input = call.input;
  child.max_output = call.max_output;
  child.timeout = options_.timeout;
  child.file_bytes = options_.pack_bytes;
  child.memory_bytes = kMemoryBytes;
  if (remote && !url_.local()) {
    const bool http = url_.scheme == "http" || url_.scheme == "https";
    const auto watch = std::make_shared<TransferWatch>(
        folder_ + "/objects/pack",
        http ? TransferWatch::Prelude::kUnseen : TransferWatch::Prelude::kSeen, options_.rate,
        absl::Now());
    child.watch = [watch](pid_t group) { return watch->Look(group, absl::Now()); };
  }
  return child;
}

absl::Status GitCommand::FollowRedirect() {
  ASSIGN_OR_RETURN(url_, AskForRedirect(url_, options_.hosts, options_.timeout));
  host_checked_ = false;
  return absl::OkStatus();
}

absl::StatusOr<std::string> GitCommand::RunHere(const GitCall& call) const {
  ASSIGN_OR_RETURN(ChildResult result, RunChild(MakeChild(call, Reach::kNothing)));
  if (!result.ok()) return ClassifyGitFailure(result);
  return std::move(result.output);
}

absl::StatusOr<std::unique_ptr<RunningChild>> GitCommand::StartHere(const GitCall& call) const {
  return RunningChild::Start(MakeChild(call, Reach::kNothing));
}

absl::Status GitCommand::Failure(const ChildResult& result) const {
  absl::Status failure = ClassifyGitFailure(result);
  if (!IsRetryable(failure)) return failure;
  const std::optional<absl::Duration> wait =
      RetryAfterInTrace(ReadTail(CurlTrace(), kTraceTail), absl::Now());
  if (wait.has_value()) SetRetryAfter(failure, *wait);
  return failure;
}

// Runs a command that talks to the server. Redirects are followed here, each after a check of its
// host.
absl::StatusOr<std::string> GitCommand::Run(const GitCall& call) {
  for (int redirects = 0;; ++redirects) {
    RETURN_IF_ERROR(ApplyHostPolicy());
    std::error_code ignored;
    std::filesystem::remove(CurlTrace(), ignored);
    ASSIGN_OR_RETURN(ChildResult result, RunChild(MakeChild(call, Reach::kRemote)));
    if (result.ok()) return std::move(result.output);
    if (!IsRedirect(result)) return Failure(result);
    if (redirects == kMaxRedirects) return absl::FailedPreconditionError("too many redirects");
    RETURN_IF_ERROR(FollowRedirect());
  }
}

absl::Status MakeFolders(const std::string& parent, std::initializer_list<const char*> folders) {
  std::error_code error;
  for (const char* folder : folders) {
    std::filesystem::create_directory(parent + folder, error);
    if (error) return ErrnoStatus(error.value(), parent + folder);
  }
  return absl::OkStatus();
}

// The HEAD names a branch that does not exist, as in an empty repository.
absl::Status MakeRepository(const std::string& folder) {
  RETURN_IF_ERROR(MakeFolders(folder, {"/objects", "/objects/pack", "/refs"}));
  RETURN_IF_ERROR(WriteFile(folder + "/HEAD", "ref: refs/heads/none\n"));
  return WriteFile(folder + "/config", kConfig);
}

}  // namespace kernelmill::fetcher
