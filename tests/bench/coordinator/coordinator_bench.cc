// coordinator_bench measures the cost of scheduling: durable completions a second, the memory and
// the restart time of a coordinator with a million queued tasks, and the time of a task that does
// nothing in a whole cluster. The coordinator and the store are the real programs, with sync on.

#include <fcntl.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/access/credentials.h"
#include "common/base/file.h"
#include "common/base/locks.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/cas/grpc_blob_store.h"
#include "common/rpc/retry.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/worker/worker.h"
#include "kernelmill/v1/crawl.grpc.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::bench {
namespace {

using coordinator::ScriptedStages;
using worker::StageId;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A program that runs until the destructor kills it. Its logs go to /dev/null.
class Process {
 public:
  static absl::StatusOr<std::unique_ptr<Process>> Start(const std::vector<std::string>& argv) {
    std::vector<char*> arguments;
    for (const std::string& argument : argv) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return ErrnoStatus(error, argv[0]);
    return std::unique_ptr<Process>(new Process(pid));
  }
  ~Process() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Returns the resident memory, or 0 after its end.
  int64_t ResidentBytes() const {
    std::ifstream statm(absl::StrCat("/proc/", pid_, "/statm"));
    int64_t pages = 0, resident = 0;
    statm >> pages >> resident;
    return resident * sysconf(_SC_PAGESIZE);
  }

 private:
  explicit Process(pid_t pid) : pid_(pid) {}
  const pid_t pid_;
};

// A job with `sources` sources of `shards` shards each.
struct Workload {
  int sources;
  int shards;

  v1::JobSpec Spec() const { return coordinator::GitJob(sources); }
  ScriptedStages Stages() const {
    ScriptedStages stages;
    for (int i = 0; i < sources; ++i) stages.shards[absl::StrCat("r", i)] = shards;
    return stages;
  }
};

// The folders of the programs and of their data, and the kind of connection to them.
struct Setting {
  std::string bin = "build/release/bin";
  std::string dir = "build/bench";
  std::string log_level = "error";  // the servers' level; their output goes to /dev/null
  std::string certificates;         // the folder made by certs.sh, for TLS over loopback; or empty
  bool tcp = false;                 // loopback without TLS, for comparison; otherwise Unix sockets

  access::Identity GetIdentity(const std::string& name) const {
    if (certificates.empty()) return {};
    return {.certificate = absl::StrCat(certificates, "/", name, ".crt"),
            .key = absl::StrCat(certificates, "/", name, ".key"),
            .authority = certificates + "/ca.crt"};
  }
};

// Returns a port that was free a moment ago.
int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

// A real coordinator with its own folder, and stubs to call it.
class Cluster {
 public:
  static absl::StatusOr<std::unique_ptr<Cluster>> Create(const Setting& setting) {
    auto cluster = std::make_unique<Cluster>();
    cluster->setting_ = setting;
    ASSIGN_OR_RETURN(TempDir dir, TempDir::Create(setting.dir));
    cluster->dir_ = std::make_unique<TempDir>(std::move(dir));
    RETURN_IF_ERROR(cluster->StartCoordinator().status());
    return cluster;
  }

  // Starts it, again if it runs; returns the seconds until it answered.
  absl::StatusOr<double> StartCoordinator() {
    coordinator_.reset();
    const auto start = Clock::now();
    ASSIGN_OR_RETURN(coordinator_,
                     Process::Start(Command("coordinator", Address("c"), {"--host-limit", "0"})));
    RETURN_IF_ERROR(rpc::Retry({.max_attempts = 0, .max_backoff = absl::Milliseconds(20)},
                               "coordinator", [&] { return ListJobs(); }));
    return SecondsSince(start);
  }
  absl::Status StartStore() {
    ASSIGN_OR_RETURN(store_, Process::Start(Command("store", Address("s"), {})));
    return absl::OkStatus();
  }

  // Stubs for a client and for a worker.
  std::shared_ptr<grpc::Channel> Channel() const { return Connect("c", "client"); }
  std::shared_ptr<grpc::Channel> WorkChannel() const { return Connect("c", "extractor"); }
  std::shared_ptr<grpc::Channel> StoreChannel() const { return Connect("s", "extractor"); }
  const Process& coordinator() const { return *coordinator_; }

  absl::StatusOr<std::string> Submit(const v1::JobSpec& spec) const {
    v1::SubmitRequest request;
    *request.mutable_spec() = spec;
    v1::SubmitResponse response;
    grpc::ClientContext context;
    RETURN_IF_ERROR(
        rpc::FromGrpcStatus(v1::Crawl::NewStub(Channel())->Submit(&context, request, &response)));
    return response.job();
  }
  absl::StatusOr<v1::JobStatus> Watch(const std::string& job) const {
    v1::WatchRequest request;
    request.set_job(job);
    grpc::ClientContext context;
    auto reader = v1::Crawl::NewStub(Channel())->Watch(&context, request);
    v1::JobStatus status;
    while (reader->Read(&status)) {
    }
    RETURN_IF_ERROR(rpc::FromGrpcStatus(reader->Finish()));
    return status;
  }

 private:
  std::string path(const std::string& name) const { return dir_->path() + "/" + name; }
  std::string Address(const std::string& name) const {
    if (!setting_.tcp && setting_.certificates.empty()) return "unix:" + path(name + ".sock");
    return absl::StrCat("127.0.0.1:", ports_.at(name));
  }
  std::shared_ptr<grpc::Channel> Connect(const std::string& to, const std::string& as) const {
    return rpc::Connect(Address(to), *access::ChannelCredentials(setting_.GetIdentity(as)));
  }
  std::vector<std::string> Command(const std::string& role, const std::string& address,
                                   const std::vector<std::string>& more) const {
    std::vector<std::string> command = {absl::StrCat(setting_.bin, "/kernelmill-", role),
                                        "--data",
                                        path(role),
                                        "--listen",
                                        address,
                                        "--metrics",
                                        "",
                                        "--log-level",
                                        setting_.log_level};
    command.insert(command.end(), more.begin(), more.end());
    if (const access::Identity own = setting_.GetIdentity(role); own.uses_tls()) {
      for (const auto& [flag, file] : {std::pair{"--tls-ca", own.authority},
                                       {"--tls-cert", own.certificate},
                                       {"--tls-key", own.key}}) {
        command.insert(command.end(), {flag, file});
      }
    }
    return command;
  }
  absl::Status ListJobs() const {
    grpc::ClientContext context;
    v1::ListJobsResponse response;
    return rpc::FromGrpcStatus(
        v1::Crawl::NewStub(Channel())->ListJobs(&context, v1::ListJobsRequest(), &response));
  }

  Setting setting_;
  const std::map<std::string, int> ports_ = {{"c", FreePort()}, {"s", FreePort()}};
  std::unique_ptr<TempDir> dir_;
  std::unique_ptr<Process> coordinator_, store_;
};

// A worker that leases tasks of the stages and completes them with scripted results, in batches.
class BareWorker {
 public:
  BareWorker(const Cluster& cluster, const Workload& workload, int batch)
      : stub_(v1::Work::NewStub(cluster.WorkChannel())),
        stages_(workload.Stages()),
        batch_(batch) {}

  // Completes one batch. Returns its size.
  absl::StatusOr<int> Step(const std::vector<StageId>& of) {
    v1::LeaseRequest lease;
    lease.set_worker("bench");
    lease.set_max_tasks(batch_);
    for (const StageId stage : of) {
      v1::StageName* name = lease.add_stages();
      name->set_stage(std::string(worker::GetStageInfo(stage).name));
      name->set_version(worker::GetStageInfo(stage).version);
    }
    v1::LeaseResponse leased;
    grpc::ClientContext lease_context;
    RETURN_IF_ERROR(rpc::FromGrpcStatus(stub_->Lease(&lease_context, lease, &leased)));
    v1::CompleteRequest complete;
    for (const v1::LeasedTask& task : leased.tasks()) {
      v1::Completion& completion = *complete.add_completions();
      completion.mutable_lease()->set_task(task.task());
      completion.mutable_lease()->set_token(task.token());
      *completion.mutable_result() = stages_.Run(task.action());
    }
    if (complete.completions().empty()) return 0;
    v1::CompleteResponse completed;
    grpc::ClientContext complete_context;
    RETURN_IF_ERROR(rpc::FromGrpcStatus(stub_->Complete(&complete_context, complete, &completed)));
    for (const auto& status : completed.statuses()) RETURN_IF_ERROR(rpc::FromProtoStatus(status));
    return complete.completions_size();
  }

  absl::Status RunAll(const std::vector<StageId>& of, int64_t* done) {
    while (true) {
      ASSIGN_OR_RETURN(const int completed, Step(of));
      if (completed == 0) return absl::OkStatus();
      *done += completed;
    }
  }

 private:
  const std::unique_ptr<v1::Work::Stub> stub_;
  const ScriptedStages stages_;
  const int batch_;
};

// Measures completions. A task counts when the coordinator has answered, which is after its sync.
absl::Status MeasureCompletions(const Setting& setting, int threads) {
  const Workload workload{20, 2000};
  ASSIGN_OR_RETURN(const auto cluster, Cluster::Create(setting));
  RETURN_IF_ERROR(cluster->Submit(workload.Spec()).status());
  BareWorker first(*cluster, workload, 1);
  int64_t prepared = 0;
  RETURN_IF_ERROR(first.RunAll({StageId::kPin, StageId::kFetch}, &prepared));
  std::vector<int64_t> done(threads);
  std::vector<absl::Status> statuses(threads);
  std::vector<std::thread> running;
  const auto start = Clock::now();
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      BareWorker worker(*cluster, workload, 64);
      statuses[i] = worker.RunAll({StageId::kExtract}, &done[i]);
    });
  }
  for (std::thread& thread : running) thread.join();
  const double seconds = SecondsSince(start);
  int64_t sum = 0;
  for (int i = 0; i < threads; ++i) {
    RETURN_IF_ERROR(statuses[i]);
    sum += done[i];
  }
  std::printf("durable completions, %2d clients in batches of 64   %8.0f /s   (goal 10,000)\n",
              threads, static_cast<double>(sum) / seconds);
  return absl::OkStatus();
}

// Measures the memory with 1,000,000 queued tasks, then kills the coordinator and measures the time
// until it answers again.
absl::Status MeasureQueue(const Setting& setting) {
  const Workload workload{100, 10'000};
  ASSIGN_OR_RETURN(const auto cluster, Cluster::Create(setting));
  const double empty_mib = static_cast<double>(cluster->coordinator().ResidentBytes()) / (1 << 20);
  RETURN_IF_ERROR(cluster->Submit(workload.Spec()).status());
  BareWorker worker(*cluster, workload, 1);
  int64_t done = 0;
  RETURN_IF_ERROR(worker.RunAll({StageId::kPin, StageId::kFetch}, &done));
  std::printf("memory of the coordinator: empty                   %8.0f MiB\n", empty_mib);
  std::printf("  with 1,000,000 queued tasks                      %8.0f MiB  (goal 200)\n",
              static_cast<double>(cluster->coordinator().ResidentBytes()) / (1 << 20));
  ASSIGN_OR_RETURN(const double seconds, cluster->StartCoordinator());
  std::printf("restart after kill -9 with 1,000,000 queued tasks  %8.2f s    (goal 5)\n", seconds);
  std::printf("  memory after it                                  %8.0f MiB\n",
              static_cast<double>(cluster->coordinator().ResidentBytes()) / (1 << 20));
  return absl::OkStatus();
}

// A stage that makes the outputs which the plan needs, and does no other work.
class TrivialStage : public worker::Stage {
 public:
  TrivialStage(StageId id, const Workload& workload) : id_(id), stages_(workload.Stages()) {}
  StageId id() const override { return id_; }
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    v1::StageResult result = stages_.Run(action);
    for (int i = 0; i < result.outputs_size(); ++i) {
      v1::Action output = action;  // each output is a separate blob, as in real stages
      output.set_stage_version(1000 + i);
      output.clear_inputs();
      if (action.inputs_size() > 0) *output.add_inputs() = action.inputs(0);
      ASSIGN_OR_RETURN(*result.mutable_outputs(i)->mutable_digest(),
                       cas::PutMessage(store, output));
    }
    return result;
  }

 private:
  const StageId id_;
  const ScriptedStages stages_;
};

// Measures the time of a task through coordinator, worker and store: first with new results, then
// with those of the action cache.
absl::Status MeasureTasks(const Setting& setting, int slots) {
  const Workload workload{10, 330};  // 3,300 each of extract, validate and sign, and a few
  ASSIGN_OR_RETURN(const auto cluster, Cluster::Create(setting));
  RETURN_IF_ERROR(cluster->StartStore());
  const auto blobs = cas::NewGrpcBlobStore(cluster->StoreChannel(), {});
  const auto queue = worker::NewGrpcWorkQueue(cluster->WorkChannel());
  std::vector<std::unique_ptr<TrivialStage>> stages;
  std::vector<worker::Stage*> borrowed;
  for (int i = 0; i < worker::kStageCount; ++i) {
    stages.push_back(std::make_unique<TrivialStage>(static_cast<StageId>(i), workload));
    borrowed.push_back(stages.back().get());
  }
  worker::Worker worker({.name = "bench", .slots = slots}, *queue, *blobs, borrowed);
  worker.Start();
  for (const char* run : {"cold", "cached"}) {
    const auto start = Clock::now();
    ASSIGN_OR_RETURN(const std::string job, cluster->Submit(workload.Spec()));
    ASSIGN_OR_RETURN(const v1::JobStatus status, cluster->Watch(job));
    const double seconds = SecondsSince(start);
    int64_t tasks = 0;
    for (const v1::StageProgress& stage : status.stages()) tasks += stage.done();
    std::printf("a job of %lld trivial tasks, %2d slots, %-6s         %8.3f ms a task  (goal 1)\n",
                static_cast<long long>(tasks), slots, run,
                1e3 * seconds / static_cast<double>(tasks));
  }
  worker.Drain(absl::Seconds(10));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  EndDeadlockSearch();
  ConfigureLog("coordinator_bench",
               LogLevel::kError);  // the worker in this process would log every step
  CLI::App app("Measures the coordinator.");
  Setting setting;
  app.add_option("--bin", setting.bin, "folder of the programs")->capture_default_str();
  app.add_option("--log-level", setting.log_level, "log level of the servers")
      ->capture_default_str();
  app.add_option("--dir", setting.dir, "folder for data")->capture_default_str();
  app.add_option("--certs", setting.certificates,
                 "TLS over loopback, with the certificates in this folder (deploy/certs.sh)");
  app.add_flag("--tcp", setting.tcp, "loopback in Unix sockets' place, to compare with TLS");
  std::string part = "all";
  app.add_option("--part", part, "the part to measure: all, completions, queue or tasks")
      ->check(CLI::IsMember({"all", "completions", "queue", "tasks"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const std::multimap<std::string, std::function<absl::Status()>> parts = {
      {"completions", [&] { return MeasureCompletions(setting, 1); }},
      {"completions", [&] { return MeasureCompletions(setting, 4); }},
      {"completions", [&] { return MeasureCompletions(setting, 16); }},
      {"queue", [&] { return MeasureQueue(setting); }},
      {"tasks", [&] { return MeasureTasks(setting, 2); }},
      {"tasks", [&] { return MeasureTasks(setting, 8); }}};
  for (const auto& [name, measure] : parts) {
    if (part != "all" && part != name) continue;
    if (const absl::Status status = measure(); !status.ok()) {
      std::fprintf(stderr, "coordinator_bench: %s\n", status.ToString().c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace kernelmill::bench

int main(int argc, char** argv) { return kernelmill::bench::Main(argc, argv); }
