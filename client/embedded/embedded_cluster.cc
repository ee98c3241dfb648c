// A whole cluster in one process, for `kernelmill crawl`: the same services and the same stages as
// the separate programs, connected over Unix sockets; only blobs go to the store without calls,
// which took a tenth of a crawl's processor time. Start makes the parts in the order of their
// dependencies: store, coordinator, stages, worker. Stop ends the worker first, then the servers.
//
// EmbeddedServices is the small form: single services on an in-process channel, without a queue.

#include "client/embedded/embedded_cluster.h"

#include <grpcpp/channel.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/rpc/server.h"
#include "common/worker/stage.h"
#include "common/worker/work_queue.h"
#include "common/worker/worker.h"
#include "services/compiler/server/compiler_service.h"
#include "services/compiler/server/compiler_stages.h"
#include "services/compiler/server/local_compiler.h"
#include "services/coordinator/server/coordinator_server.h"
#include "services/deduplicator/server/deduplicator_service.h"
#include "services/deduplicator/server/deduplicator_stages.h"
#include "services/extractor/server/extractor_service.h"
#include "services/extractor/server/extractor_stages.h"
#include "services/fetcher/server/fetcher_stages.h"
#include "services/runner/server/local_runner.h"
#include "services/runner/server/runner_stages.h"
#include "services/store/server/store_server.h"
#include "services/validator/server/validator_service.h"
#include "services/validator/server/validator_stages.h"

namespace kernelmill::client {
namespace {

using Stages = std::vector<std::unique_ptr<worker::Stage>>;

constexpr absl::Duration kServerGrace = absl::Seconds(2);
constexpr absl::Duration kFullPatience = absl::Minutes(1);

// A service and its server. The server is destroyed first.
template <typename T>
struct Served {
  std::unique_ptr<T> service;
  std::unique_ptr<rpc::Server> server;
};

template <typename T>
absl::Status Serve(std::unique_ptr<T> service, const std::string& address, Served<T>* served) {
  served->service = std::move(service);
  rpc::Server::Options options;
  // The service is in place before the server starts, and the server goes before the service.
  options.address = address;
  ASSIGN_OR_RETURN(served->server, rpc::Server::Start(options, served->service->services()));
  return absl::OkStatus();
}

void MoveTo(Stages from, Stages* to) {
  for (std::unique_ptr<worker::Stage>& stage : from) to->push_back(std::move(stage));
}

// Makes an empty folder. It may delete the files of a killed process, because the store's lock
// excludes other processes.
absl::StatusOr<std::string> EmptyDir(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) std::filesystem::create_directories(path, error);
  if (error) return ErrnoStatus(error.value(), path);
  return path;
}

// Makes the folder for the sockets: in the system's temporary folder, or in /tmp if a socket's name
// there would be too long.
absl::StatusOr<TempDir> NewSocketDir() {
  constexpr size_t kLongestName = sizeof(sockaddr_un::sun_path) - 1;
  ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  // The longest name of a socket in the folder decides.
  if (dir.path().size() + absl::string_view("/coordinator").size() <= kLongestName) return dir;
  return TempDir::Create("/tmp");
}

// Returns null without options.
absl::StatusOr<std::unique_ptr<compiler::Compiler>> OpenCompiler(
    const std::optional<EmbeddedCompilerOptions>& options) {
  if (!options.has_value()) return nullptr;
  return compiler::OpenLocalCompiler(options->folder, options->toolchains,
                                     options->unsafe_no_sandbox);
}

}  // namespace

// The parts of the cluster, in the order of their making: each refers to earlier ones.
struct EmbeddedCluster::Parts {
  explicit Parts(TempDir dir) : sockets(std::move(dir)) {}
  std::string StoreAddress() const { return absl::StrCat("unix:", sockets.path(), "/store"); }
  std::string CoordinatorAddress() const {
    return absl::StrCat("unix:", sockets.path(), "/coordinator");
  }

  // Only this user can read the folder. Sockets are used because gRPC's in-process transport
  // of 1.51 hangs if a server answers a stream before its end, as the store does for a blob that it
  // has.
  TempDir sockets;
  Served<store::StoreServer> store;
  Served<coordinator::CoordinatorServer> coordinator;
  std::unique_ptr<compiler::Compiler> toolchains, compiler;
  std::unique_ptr<runner::Runner> runner;
  Stages stages;
  std::unique_ptr<cas::BlobStore> blobs;
  std::unique_ptr<worker::WorkQueue> queue;
  std::unique_ptr<worker::Worker> worker;
  bool stopped = false;
};

absl::StatusOr<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::Start(const Options& options) {
  ASSIGN_OR_RETURN(TempDir sockets, NewSocketDir());
  auto parts = std::make_unique<Parts>(std::move(sockets));
  ASSIGN_OR_RETURN(parts->toolchains, OpenCompiler(options.compiler));
  if (options.runner.has_value()) {
    ASSIGN_OR_RETURN(parts->runner,
                     runner::OpenLocalRunner(options.runner->python, options.runner->device,
                                             options.workers, options.runner->unsafe_no_sandbox));
  }
  store::StoreServer::Options store_options;
  store_options.data_dir = absl::StrCat(options.data_dir, "/store");
  ASSIGN_OR_RETURN(auto store, store::StoreServer::Open(store_options));
  RETURN_IF_ERROR(Serve(std::move(store), parts->StoreAddress(), &parts->store));

  coordinator::CoordinatorServer::Options coordinator_options;
  coordinator_options.data_dir = absl::StrCat(options.data_dir, "/coordinator");
  // One process has one user: jobs that an earlier process left are not continued, and no limits
  // protect others.
  coordinator_options.abandon_unfinished = true;
  coordinator_options.limits = coordinator::CoordinatorLimits::None();
  coordinator_options.share_slots = false;
  ASSIGN_OR_RETURN(auto coordinator, coordinator::CoordinatorServer::Open(coordinator_options));
  RETURN_IF_ERROR(Serve(std::move(coordinator), parts->CoordinatorAddress(), &parts->coordinator));

  fetcher::FetcherOptions fetcher_options;
  // The user of this process may read any folder that a job file names, and reach any host.
  fetcher_options.local = fetcher::LocalFolders({"/"});
  ASSIGN_OR_RETURN(fetcher_options.hosts,
                   fetcher::HostPolicy::Create({options.allow_hosts, /*allow_private=*/true}));
  fetcher_options.package_index = options.package_index;
  if (!options.github_api.empty()) fetcher_options.github_api = options.github_api;
  fetcher_options.github_token_file = options.github_token_file;
  fetcher_options.command_timeout = options.command_timeout;
  ASSIGN_OR_RETURN(fetcher_options.temp_dir, EmptyDir(absl::StrCat(options.data_dir, "/tmp")));
  MoveTo(fetcher::NewFetcherStages(fetcher_options), &parts->stages);
  MoveTo(extractor::NewExtractorStages(), &parts->stages);
  MoveTo(validator::NewValidatorStages(), &parts->stages);
  MoveTo(deduplicator::NewDeduplicatorStages({.folder = fetcher_options.temp_dir}), &parts->stages);
  if (parts->toolchains != nullptr) {
    // Each compile task has `workers` threads; the limit bounds all tasks together.
    parts->compiler = compiler::NewLimitedCompiler(*parts->toolchains, options.workers);
    MoveTo(compiler::NewCompilerStages(*parts->compiler, options.workers), &parts->stages);
  }
  if (parts->runner != nullptr) MoveTo(runner::NewRunnerStages(*parts->runner), &parts->stages);
  std::vector<worker::Stage*> stages;
  for (const std::unique_ptr<worker::Stage>& stage : parts->stages) stages.push_back(stage.get());

  parts->blobs = parts->store.service->NewLocalClient();
  parts->queue = worker::NewGrpcWorkQueue(rpc::ConnectForLargeAnswers(parts->CoordinatorAddress()));
  worker::Worker::Options worker_options;
  worker_options.name = "embedded";
  worker_options.slots = options.workers;
  worker_options.full_patience = kFullPatience;
  worker_options.on_full = options.on_full;
  parts->worker =
      std::make_unique<worker::Worker>(worker_options, *parts->queue, *parts->blobs, stages);
  parts->worker->Start();
  return std::unique_ptr<EmbeddedCluster>(new EmbeddedCluster(std::move(parts)));
}

EmbeddedCluster::EmbeddedCluster(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

EmbeddedCluster::~EmbeddedCluster() {
  if (!parts_->stopped) static_cast<void>(Stop(absl::InfiniteDuration()));
}

bool EmbeddedCluster::Stop(absl::Duration grace) {
  parts_->stopped = true;
  parts_->coordinator.server->StopServing();
  parts_->store.server->StopServing();
  // Ends the waiting Lease calls, so that the worker does not wait for them.
  parts_->coordinator.service->Drain();
  const bool finished = parts_->worker->Drain(grace);
  parts_->coordinator.server->Shutdown(kServerGrace);
  parts_->store.server->Shutdown(kServerGrace);
  // Remove the sockets here: if a stage still runs, the destructor never runs.
  const TempDir unneeded = std::move(parts_->sockets);
  return finished;
}

std::shared_ptr<grpc::Channel> EmbeddedCluster::coordinator() {
  return rpc::Connect(parts_->CoordinatorAddress());
}

std::shared_ptr<grpc::Channel> EmbeddedCluster::store() {
  return rpc::Connect(parts_->StoreAddress());
}

worker::Stage& EmbeddedCluster::stage(worker::StageId id) {
  return **absl::c_find_if(parts_->stages, [&](const auto& stage) { return stage->id() == id; });
}

cas::BlobStore& EmbeddedCluster::blobs() { return *parts_->blobs; }

std::unique_ptr<cas::BlobStore> EmbeddedCluster::NewBlobStore() {
  return parts_->store.service->NewLocalClient();
}

EmbeddedServices::EmbeddedServices(cas::BlobStore* store,
                                   std::unique_ptr<compiler::Compiler> compiler)
    : compiler_(std::move(compiler)) {
  services_.push_back(extractor::NewExtractorService());
  services_.push_back(validator::NewValidatorService());
  if (store != nullptr) services_.push_back(deduplicator::NewDeduplicatorService(*store));
  if (compiler_ != nullptr) {
    const int workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    services_.push_back(compiler::NewCompilerService(*compiler_, /*limits=*/{}, workers));
  }
}

EmbeddedServices::~EmbeddedServices() = default;

absl::StatusOr<std::unique_ptr<EmbeddedServices>> EmbeddedServices::Start(
    cas::BlobStore* store, const std::optional<EmbeddedCompilerOptions>& compiler) {
  ASSIGN_OR_RETURN(std::unique_ptr<compiler::Compiler> opened, OpenCompiler(compiler));
  std::unique_ptr<EmbeddedServices> embedded(new EmbeddedServices(store, std::move(opened)));
  std::vector<grpc::Service*> services;
  for (const auto& service : embedded->services_) services.push_back(service.get());
  ASSIGN_OR_RETURN(embedded->server_, rpc::Server::Start({}, services));
  return embedded;
}

std::shared_ptr<grpc::Channel> EmbeddedServices::channel() { return server_->InProcessChannel(); }

}  // namespace kernelmill::client
