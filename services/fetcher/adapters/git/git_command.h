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
#include "services/fetcher/adapters/process/child_process.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/core/selection/tree_selection.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

// Makes an empty folder a bare repository that may lack objects which its remote "origin" has.
absl::Status MakeRepository(const std::string& folder);

// Makes folders below one, given as "/name", parents first.
absl::Status MakeFolders(const std::string& parent, std::initializer_list<const char*> folders);

struct GitOptions {
  LocalFolders local;          // where file:// URLs and paths may lead
  bool allow_private = false;  // hosts with loopback, link-local and private addresses
  std::string temp_dir;        // the system's if empty
  absl::Duration timeout = absl::Minutes(15);  // of one git command
  int64_t pack_bytes = int64_t{4} << 30;       // of one transfer
  int64_t cached_bytes = 64 << 20;             // of a cached pack; one over it is not kept
  int missing_objects = 256;  // that a server may refuse one by one before the rest are given up
  TreeLimits tree;
  // Reaches http and https URLs as far as their servers speak its protocol; null: git reaches all.
  std::shared_ptr<SmartHttp> smart_http;
};

SmartHttpOptions SmartHttpOptionsOf(const GitOptions& options);

// One git command.
struct GitCall {
  std::string command;
  std::vector<std::string> arguments;
  std::string input = "";
  bool negotiate = false;         // tell the server what is here, so that it is not sent again
  std::string packet_trace = "";  // a file to which git tells the protocol's packets; none if empty
  int64_t max_output = 16 << 20;
};

// Runs git on one remote repository, its remote "origin", as if it were hostile: no shell, no
// configuration but ours, no prompt, no credential helper, no hook, no other transport than the
// URL's, no host at an address that is not public, also by redirect, and bounds on time, CPU,
// memory and file size. Not thread-safe.
class GitCommand {
 public:
  // `folder` is an empty folder for git's HOME; it must outlive this object.
  static absl::StatusOr<GitCommand> Create(GitUrl url, const GitOptions& options,
                                           std::string folder);

  // git -c ... <command> <--upload-pack if need be> <arguments>, in `folder`. Follows the server's
  // redirects. Fails as ClassifyGitFailure and ResolvePublicHost say.
  absl::StatusOr<std::string> Run(const GitCall& call);

  // The same, of a command that has no business with the remote and cannot reach it.
  absl::StatusOr<std::string> RunHere(const GitCall& call) const;

  // The same, of one whose input is still being made.
  absl::StatusOr<std::unique_ptr<RunningChild>> StartHere(const GitCall& call) const;

 private:
  GitCommand(GitUrl url, const GitOptions& options, std::string folder)
      : url_(std::move(url)), options_(options), folder_(std::move(folder)) {}

  absl::Status ApplyAddressPolicy();
  enum class Reach { kRemote, kNothing };
  std::string CurlTrace() const { return folder_ + "/curl-trace"; }
  ChildCommand MakeChild(const GitCall& call, Reach reach) const;
  // ClassifyGitFailure, with GetRetryAfter if the server said when to come again.
  absl::Status Failure(const ChildResult& result) const;
  // Moves url_ to where its server redirects to.
  absl::Status FollowRedirect();

  GitUrl url_;
  GitOptions options_;
  std::string folder_;
  bool addresses_checked_ = false;
  std::string resolve_;  // host:port:addresses that were checked, so that git looks up no others
};

// What a git command's failure means, with git's own words:
//   NOT_FOUND            no such repository, ref or object
//   PERMISSION_DENIED    refused, by the server or by us
//   FAILED_PRECONDITION  over a limit, or a server that cannot do what is needed
//   DATA_LOSS            the repository is damaged
//   DEADLINE_EXCEEDED    it took too long
//   RESOURCE_EXHAUSTED   no room on our disk
//   UNAVAILABLE          anything else: the network
absl::Status ClassifyGitFailure(const ChildResult& result);

// What the last answer in a GIT_TRACE_CURL says in its Retry-After header. git itself reports no
// header of a failure.
std::optional<absl::Duration> RetryAfterInTrace(absl::string_view trace, absl::Time now);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_COMMAND_H_
