// `dev` starts the servers of a cluster as processes of this machine, at the ports that clients
// call by default, and serves the page of jobs. `page` serves the page for any cluster.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/dev/server_group.h"
#include "client/grpc/crawl_client.h"
#include "client/http/port_user.h"
#include "client/jobs_page/jobs_page.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/rpc/server.h"

namespace kernelmill::client {
namespace {

constexpr absl::Duration kStopWithin = absl::Seconds(15);
constexpr absl::Duration kLook = absl::Milliseconds(200);
constexpr int kMetricsOffset = 1000;  // from a server's port to its metrics

// In the order of their starts; those of a higher wave stop first. The ports are those of
// docs/cluster.md, counted from the first.
struct Role {
  absl::string_view name;
  int port;
  int wave;
};
constexpr int kStoreWave = 0, kCoordinatorWave = 1, kWorkerWave = 2;
constexpr Role kRoles[] = {{"store", 1, kStoreWave},      {"coordinator", 0, kCoordinatorWave},
                           {"fetcher", 2, kWorkerWave},   {"extractor", 3, kWorkerWave},
                           {"validator", 4, kWorkerWave}, {"deduplicator", 5, kWorkerWave}};
constexpr Role kCompiler = {"compiler", 6, kWorkerWave};
constexpr Role kRunner = {"runner", 7, kWorkerWave};

std::string Local(int port) { return absl::StrCat("127.0.0.1:", port); }

bool IsListening(int port) {
  const FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

// FAILED_PRECONDITION: the port is in use; the message names the process.
absl::Status CheckFree(int port, absl::string_view what, absl::string_view remedy) {
  if (!IsListening(port)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("port ", port, " of the ", what, " is in use by ",
                   FindPortUser(port).value_or("another process"), "; ", remedy));
}

// The mark of a running dev in its data folder: a locked file with its process and addresses.
class DataMark {
 public:
  // FAILED_PRECONDITION: another dev runs there; the message says which.
  static absl::StatusOr<DataMark> Take(const DevOptions& options) {
    const std::string path = absl::StrCat(options.data_dir, "/dev.lock");
    DataMark mark;
    mark.file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!mark.file_.is_open()) return ErrnoStatus(errno, path);
    if (::flock(mark.file_.get(), LOCK_EX | LOCK_NB) != 0) {
      const std::string other = ReadFile(path, 4096).value_or("");
      return absl::FailedPreconditionError(
          absl::StrCat("another `kernelmill dev` runs in ", options.data_dir, ": ",
                       absl::StripAsciiWhitespace(other), "; --data chooses another folder"));
    }
    if (::ftruncate(mark.file_.get(), 0) != 0) return ErrnoStatus(errno, path);
    RETURN_IF_ERROR(WriteAll(
        mark.file_.get(),
        absl::StrCat("process ", ::getpid(), ", coordinator ", Local(options.first_port), "\n"),
        path));
    return mark;
  }

 private:
  FileDescriptor file_;
};

// Returns the folder of this program, which the servers lie beside.
absl::StatusOr<std::filesystem::path> FindPrograms() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return ErrnoStatus(error.value(), "/proc/self/exe");
  std::filesystem::path folder = self.parent_path();
  if (::access((folder / "kernelmill-store").c_str(), X_OK) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("the servers must lie beside ", self.string(),
                                                      "; there is no kernelmill-store"));
  }
  return folder;
}

ServerGroup::Program MakeProgram(const Role& role, const DevOptions& options,
                                 const std::filesystem::path& programs) {
  const int port = options.first_port + role.port;
  ServerGroup::Program program;
  program.name = std::string(role.name);
  program.wave = role.wave;
  program.log = absl::StrCat(options.data_dir, "/logs/", role.name, ".log");
  program.argv = {(programs / absl::StrCat("kernelmill-", role.name)).string(), "--listen",
                  Local(port), "--metrics", Local(port + kMetricsOffset)};
  const auto add = [&program](std::initializer_list<std::string> flags) {
    program.argv.insert(program.argv.end(), flags);
  };
  if (role.wave == kWorkerWave) {
    add({"--coordinator", Local(options.first_port), "--slots", absl::StrCat(options.slots)});
  } else {
    add({"--data", absl::StrCat(options.data_dir, "/", role.name), "--backups",
         absl::StrCat(options.data_dir, "/backups/", role.name)});
  }
  if (role.wave != kStoreWave) add({"--store", Local(options.first_port + 1)});
  if (role.name == kRunner.name) add({"--device", options.runner});
  if (role.name == "fetcher") {
    for (const std::string& folder : options.allow_local) add({"--allow-local", folder});
    // Servers of this machine are as much the user's as its folders.
    if (!options.allow_local.empty()) add({"--allow-private"});
  }
  return program;
}

absl::Status StartServers(const DevOptions& options, ServerGroup& group, Console& console) {
  if (options.page_port != 0) {
    RETURN_IF_ERROR(CheckFree(options.page_port, "page", "--page-port chooses another"));
  }
  ASSIGN_OR_RETURN(const std::filesystem::path programs, FindPrograms());
  std::vector<Role> roles(std::begin(kRoles), std::end(kRoles));
  if (options.compiler) roles.push_back(kCompiler);
  if (!options.runner.empty()) roles.push_back(kRunner);
  for (const Role& role : roles) {
    const int port = options.first_port + role.port;
    RETURN_IF_ERROR(CheckFree(port, role.name, "--first-port chooses others"));
    RETURN_IF_ERROR(CheckFree(port + kMetricsOffset, absl::StrCat(role.name, "'s metrics"),
                              "--first-port chooses others"));
    ServerGroup::Program program = MakeProgram(role, options, programs);
    const std::string log = program.log;
    RETURN_IF_ERROR(group.Start(std::move(program), [port] { return IsListening(port); }));
    console.Note(absl::StrFormat("%-13s %s  metrics %s  %s", role.name, Local(port),
                                 Local(port + kMetricsOffset), log));
  }
  return absl::OkStatus();
}

std::unique_ptr<CrawlClient> NewPageClient(const ClusterAddress& cluster) {
  return NewCrawlClient(rpc::Connect(cluster.coordinator, cluster.credentials),
                        {.timeout = absl::Seconds(1)});
}

// Returns the flags for the page, which everybody may read: no paths of keys.
std::string AddressFlags(const ClusterAddress& cluster) {
  return ClusterFlags({.coordinator = cluster.coordinator, .store = cluster.store});
}

}  // namespace

absl::StatusOr<int> Page(const ClusterAddress& cluster, const std::string& listen,
                         rpc::TerminationSignal& signal, Console& console) {
  const std::unique_ptr<CrawlClient> jobs = NewPageClient(cluster);
  ASSIGN_OR_RETURN(const std::unique_ptr<JobsPage> page,
                   JobsPage::Start(listen, *jobs, AddressFlags(cluster)));
  console.Note(absl::StrCat("the jobs of ", cluster.coordinator, " are shown at ", page->url()));
  signal.Wait();
  jobs->Interrupt();
  return kDone;
}

absl::StatusOr<int> Dev(const DevOptions& options, rpc::TerminationSignal& signal,
                        Console& console) {
  std::error_code error;
  std::filesystem::create_directories(options.data_dir + "/logs", error);
  if (error) return ErrnoStatus(error.value(), options.data_dir);
  ASSIGN_OR_RETURN(const DataMark mark, DataMark::Take(options));
  ServerGroup group([&console](const std::string& line) { console.Note(line); });
  RETURN_IF_ERROR(StartServers(options, group, console));
  const ClusterAddress cluster = {.coordinator = Local(options.first_port),
                                  .store = Local(options.first_port + 1)};
  const std::unique_ptr<CrawlClient> jobs = NewPageClient(cluster);
  ASSIGN_OR_RETURN(const std::unique_ptr<JobsPage> page,
                   JobsPage::Start(Local(options.page_port), *jobs, AddressFlags(cluster)));
  console.Note(absl::StrCat("\nThe cluster runs. Its jobs: ", page->url(),
                            "\nIn another terminal: kernelmill submit my-kernels.yaml --wait ",
                            "--out my-dataset", ClusterFlags(cluster),
                            "\nCtrl-C stops it; what it made stays in ", options.data_dir));
  while (!signal.WaitFor(kLook)) group.StartEnded();
  console.Note("stopping");
  jobs->Interrupt();
  group.Stop(kStopWithin);
  return kDone;
}

}  // namespace kernelmill::client
