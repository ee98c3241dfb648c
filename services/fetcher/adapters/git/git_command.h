#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_COMMAND_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_COMMAND_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/process/child_process.h"
#include "services/fetcher/adapters/http/address.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/core/rate_floor.h"
#include "services/fetcher/core/selection/tree_selection.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

// Makes an empty folder a bare repository that may lack objects which its remote "origin" has.
absl::Status MakeRepository(const std::string& folder);

// Makes folders below `parent`, each given as "/name", parents first.
absl::Status MakeFolders(const std::string& parent, std::initializer_list<const char*> folders);

// The limits and permissions of the git adapter.
struct GitOptions {
  LocalFolders local;                          // folders that file:// URLs and paths may name
  HostPolicy hosts;                            // also for redirects
  std::string temp_dir;                        // empty: the system's temporary folder
  absl::Duration timeout = absl::Minutes(15);  // for one git command
  LowestRate rate;                             // of what a remote repository sends
  int64_t pack_bytes = int64_t{4} << 30;       // for one transfer
  int64_t cached_bytes = 64 << 20;             // for a cached pack; a larger one is not kept
  int missing_objects = 256;  // that a server may refuse one by one before the rest are given up
  TreeLimits tree;
  // Fetches http and https URLs without the git program if their servers support that. Null: the
  // git program fetches everything.
  std::shared_ptr<SmartHttp> smart_http;
};

SmartHttpOptions MakeSmartHttpOptions(const GitOptions& options);

// One git command: its arguments, its input and its limits.
struct GitCall {
  std::string command;
  std::vector<std::string> arguments;
  std::string input = "";
  // tell the server which commits are here, so that it does not send their objects
  bool negotiate = false;
  // a file for git's trace of the protocol's packets; empty: no trace
  std::string packet_trace = "";
  int64_t max_output = 16 << 20;
};

// The git program on one remote repository, "origin", which is treated as hostile: no shell, no
// configuration except ours, no prompt, no credential helper, no hook, no transport except the
// URL's, no host that the policy refuses (also after a redirect), and bounds on time, CPU, memory
// and file size. git is told the addresses that were checked and looks up no host itself, unless a
// proxy does it. Not thread-safe.
class GitCommand {
 public:
  // `folder` is an empty folder for git's HOME. It must outlive this object.
  static absl::StatusOr<GitCommand> Create(GitUrl url, const GitOptions& options,
                                           std::string folder);

  // Runs git -c ... <command> <--upload-pack if need be> <arguments> in `folder`, and returns its
  // output. Follows the server's redirects. Fails as ClassifyGitFailure and HostPolicy say.
  absl::StatusOr<std::string> Run(const GitCall& call);

  // Runs a command that does not need the remote, and cannot reach it.
  absl::StatusOr<std::string> RunHere(const GitCall& call) const;

  // Starts such a command whose input is still being made.
  absl::StatusOr<std::unique_ptr<RunningChild>> StartHere(const GitCall& call) const;

 private:
  GitCommand(GitUrl url, const GitOptions& options, std::string folder)
      : url_(std::move(url)), options_(options), folder_(std::move(folder)) {}

  absl::Status ApplyHostPolicy();
  enum class Reach { kRemote, kNothing };
  std::string RemoteUrl() const;
  void PinHost(ChildCommand& child) const;
  std::string CurlTrace() const { return folder_ + "/curl-trace"; }
  ChildCommand MakeChild(const GitCall& call, Reach reach) const;
  // Returns ClassifyGitFailure's error, with GetRetryAfter if the server said when to try again.
  absl::Status Failure(const ChildResult& result) const;
  // Sets url_ to the URL that its server redirects to.
  absl::Status FollowRedirect();

  GitUrl url_;
  GitOptions options_;
  std::string folder_;
  bool host_checked_ = false;
  std::vector<IpAddress> addresses_;  // the host's, all allowed; empty: local, or behind a proxy
};

// Returns the error that a git command's failure means, with git's own words:
//   NOT_FOUND            the repository, ref or object does not exist
//   PERMISSION_DENIED    refused, by the server or by us
//   FAILED_PRECONDITION  over a limit, or the server cannot do what is needed
//   DATA_LOSS            the repository is damaged
//   DEADLINE_EXCEEDED    it took too long
//   RESOURCE_EXHAUSTED   our disk is full
//   UNAVAILABLE          anything else: the network
absl::Status ClassifyGitFailure(const ChildResult& result);

// Returns the Retry-After header of the last answer in a GIT_TRACE_CURL. git itself does not report
// the headers of a failed request.
std::optional<absl::Duration> RetryAfterInTrace(absl::string_view trace, absl::Time now);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_COMMAND_H_
