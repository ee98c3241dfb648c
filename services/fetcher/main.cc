// kernelmill-fetcher: the worker that pins and fetches sources.
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/flags/parser.h"
#include "common/flags/server_flags.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/server/fetcher_stages.h"

int main(int argc, char** argv) {
  kernelmill::flags::ServerFlags server;
  server.version = kernelmill::Version();
  server.listen = "127.0.0.1:7072";
  server.metrics = "127.0.0.1:8072";
  kernelmill::flags::WorkerFlags worker;
  worker.slots = 2;  // one host never gets both
  kernelmill::fetcher::FetcherOptions options;
  kernelmill::flags::Parser parser(
      "Finds and fetches repositories, packages and local trees, as a worker of a coordinator.",
      "kernelmill-fetcher");
  kernelmill::flags::AddServerFlags(parser.app(), &server);
  kernelmill::flags::AddWorkerFlags(parser.app(), &worker);
  std::vector<std::string> local;
  parser
      .Add("--allow-local", &local,
           "folders of this machine that sources may be in (paths, file:// URLs and local "
           "git repositories); separated by ':'")
      .Variable("KERNELMILL_ALLOW_LOCAL")
      .Separator(':')
      .ExistingFolder();
  kernelmill::fetcher::HostPolicy::Rules hosts;
  parser
      .Add("--allow-hosts", &hosts.allow_hosts,
           "the only hosts that sources may have, separated by ',': names, *.DOMAIN, "
           "addresses and networks (10.0.0.0/8) (default: all with public addresses)")
      .Variable("KERNELMILL_ALLOW_HOSTS")
      .Separator(',')
      .OneArgument()
      .Check([](const std::string& entry) {
        return std::string(kernelmill::fetcher::HostPolicy::Create({{entry}}).status().message());
      });
  parser
      .Add("--allow-private", &hosts.allow_private,
           "allow hosts with loopback and private addresses")
      .Variable("KERNELMILL_ALLOW_PRIVATE");
  parser
      .Add("--package-index", &options.package_index,
           "URL of the simple package index (default: what pip would use)")
      .Variable("KERNELMILL_PACKAGE_INDEX");
  parser.Add("--github-api", &options.github_api, "URL of GitHub's REST API, for searches")
      .Variable("KERNELMILL_GITHUB_API")
      .ShowDefault();
  parser
      .Add("--github-token-file", &options.github_token_file,
           "file with a token for GitHub's REST API; code search needs one (default: none)")
      .Variable("KERNELMILL_GITHUB_TOKEN_FILE")
      .ExistingFile();
  parser
      .Add("--temp-dir", &options.temp_dir,
           "folder for temporary repositories and wheels (default: the system's temporary folder)")
      .Variable("KERNELMILL_TEMP_DIR")
      .ExistingFolder();
  double timeout = absl::ToDoubleSeconds(options.command_timeout);
  parser
      .Add("--command-timeout-seconds", &timeout,
           "time limit of one git command, download or search")
      .Variable("KERNELMILL_COMMAND_TIMEOUT_SECONDS")
      .Range(0.1, 1e6)
      .ShowDefault();
  parser
      .Add("--lowest-rate", &options.rate.bytes_per_second,
           "bytes a second that a host must send of a repository or package; a slower "
           "transfer is given up; 0 for no limit")
      .Variable("KERNELMILL_LOWEST_RATE")
      .NotNegative()
      .ShowDefault();
  double window = absl::ToDoubleSeconds(options.rate.window);
  parser.Add("--rate-window-seconds", &window, "time over which that rate is averaged")
      .Variable("KERNELMILL_RATE_WINDOW_SECONDS")
      .Range(1.0, 1e6)
      .ShowDefault();
  if (const auto exit_status = kernelmill::flags::ParseFlags(parser.app(), argc, argv))
    return *exit_status;
  options.local = kernelmill::fetcher::LocalFolders(std::move(local));
  options.hosts = *kernelmill::fetcher::HostPolicy::Create(hosts);  // each entry was checked
  options.command_timeout = absl::Seconds(timeout);
  options.rate.window = absl::Seconds(window);
  return kernelmill::worker::RunWorkerProcess(server, worker,
                                              kernelmill::fetcher::NewFetcherStages(options), {});
}
